#pragma once

#include "devices/device.h"
#include "scheduler/kernel/kernel.h"

#include <map>
#include <optional>
#include <vector>

namespace heteroscope {

/// One argument with every expression evaluated.
struct PlannedArgument {
    const KernelArgument* argument = nullptr;
    std::uint64_t count = 0;        ///< elements (buffer, local)
    std::uint64_t bytes = 0;        ///< buffer, local
    std::vector<std::byte> scalar;  ///< in the argument's own width
};

/// A kernel with parameters put in: what is allocated, passed and launched. Says nothing of a device.
struct LaunchPlan {
    KernelPtr kernel;
    Parameters parameters;
    std::vector<PlannedArgument> arguments;
    NDRange range;
    std::uint64_t bufferBytes = 0;         ///< sum over buffers
    std::uint64_t largestBufferBytes = 0;
    std::uint64_t localBytes = 0;
    std::optional<double> flops;
    std::optional<double> bytes;
};

/// Evaluates everything. Errors: unknown names, zero, negative or absurd sizes, a scalar out of its type's
/// range, a global size that is no multiple of the local size where the kernel is not `guarded`
/// (both numbers and the nearest fitting ones are named). A guarded range is rounded up here.
Result<LaunchPlan> planLaunch(const KernelPtr& kernel, const Parameters& given);

/// Why this plan cannot run on this device, in words with both numbers; nothing when it can.
std::optional<std::string> whyNotOn(const LaunchPlan& plan, const DeviceInfo& device);

/// Settles the range against the built entry: a work-group size that the source requires is used; sizes above
/// the kernel's own limit, a wrong argument count or width are refused with both numbers.
Result<NDRange> settleRange(const LaunchPlan& plan, const EntryInfo& entry);

}  // namespace heteroscope
