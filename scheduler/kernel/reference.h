#pragma once

#include "devices/error.h"
#include "scheduler/kernel/kernel.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace heteroscope {

/// One buffer of a finished job as the check sees it.
struct CheckedBuffer {
    const KernelArgument* argument = nullptr;
    std::span<const std::byte> before;  ///< its bytes when the job started; empty for access write
    std::span<const std::byte> after;   ///< what the device left
};

/// What a comparison with the reference found.
struct CheckResult {
    enum class State { None, Passed, Failed };
    State state = State::None;
    std::string argument;             ///< first that differs
    std::uint64_t firstDifference = 0;  ///< element
    double expected = 0.0, found = 0.0;
    double largestError = 0.0;        ///< relative
    std::string message;              ///< one sentence; empty when none
};

/// Compares a finished job with the CPU reference its kernel names, within the kernel's tolerances
/// (|found − expected| ≤ absolute + relative·|expected|; NaN equals NaN only). Where the result is a sum, the relative
/// part is taken of the sum of its terms' magnitudes: cancelled digits cannot come back. Integers agree exactly.
/// State none without a reference. Errors (invalid-input): an unknown reference, a parameter or buffer that it needs
/// and does not get, or gets too small. Blocks as long as the reference runs, on up to four threads.
Result<CheckResult> checkAgainstReference(const Kernel& kernel, const Parameters& parameters,
                                          std::span<const CheckedBuffer> buffers);

/// Names of the references there are.
std::vector<std::string> referenceNames();

}  // namespace heteroscope
