#include "scheduler/kernel/references/reference_entry.h"

#include <array>

namespace heteroscope::references {
namespace {

constexpr std::size_t binCount = 256;

std::vector<Need> needs(const Inputs& in) {
    return {{"data", Scalar::UChar, in.size("n"), Access::Read}, {"counts", Scalar::UInt, binCount, Access::ReadWrite}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    std::array<std::uint32_t, binCount> totals{};  // wraps at 2^32, as the kernel's counts do
    const auto start = in.before<std::uint32_t>("counts");
    for (std::size_t bin = 0; bin < binCount; ++bin) totals[bin] = start[bin];
    for (std::uint8_t value : in.before<std::uint8_t>("data").first(in.size("n"))) ++totals[value];
    return {elementWise("counts", 0, binCount, [totals](std::uint64_t bin) {
        return Expected{static_cast<double>(totals[bin]), 0.0};
    })};
}

}  // namespace

Reference histogramReference() { return {"histogram", {"n"}, {}, needs, expected}; }

}  // namespace heteroscope::references
