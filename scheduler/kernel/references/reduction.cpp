#include "scheduler/kernel/references/reference_entry.h"

#include <algorithm>
#include <cmath>

namespace heteroscope::references {
namespace {

constexpr std::uint64_t elementsPerSum = 256;

std::uint64_t sums(const Inputs& in) { return (in.size("n") + elementsPerSum - 1) / elementsPerSum; }

std::vector<Need> needs(const Inputs& in) {
    return {{"x", Scalar::Float, in.size("n"), Access::Read}, {"partial", Scalar::Float, sums(in), Access::Write}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    const auto x = in.before<float>("x").first(in.size("n"));
    return {elementWise("partial", 0, sums(in), [x](std::uint64_t sum) {
        const std::uint64_t first = sum * elementsPerSum;
        Expected total;
        for (float value : x.subspan(first, std::min<std::uint64_t>(elementsPerSum, x.size() - first))) {
            total.value += static_cast<double>(value);
            total.magnitude += std::abs(static_cast<double>(value));
        }
        return total;
    })};
}

}  // namespace

Reference reductionReference() { return {"reduction", {"n"}, {}, needs, expected}; }

}  // namespace heteroscope::references
