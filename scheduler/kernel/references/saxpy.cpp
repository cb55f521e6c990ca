#include "scheduler/kernel/references/reference_entry.h"

#include <cmath>

namespace heteroscope::references {

Reference saxpyReference() {
    return {"saxpy",
            {"n"},
            {"a"},
            [](const Inputs& in) -> std::vector<Need> {
                const std::uint64_t n = in.size("n");
                return {{"x", Scalar::Float, n, Access::Read}, {"y", Scalar::Float, n, Access::ReadWrite}};
            },
            [](const Inputs& in) -> std::vector<ExpectedBuffer> {
                const double a = in.asFloat("a");
                const auto x = in.before<float>("x");
                const auto y = in.before<float>("y");
                return {elementWise("y", 0, in.size("n"), [a, x, y](std::uint64_t i) {
                    const double scaled = a * static_cast<double>(x[i]);
                    const double added = y[i];
                    return Expected{scaled + added, std::abs(scaled) + std::abs(added)};
                })};
            }};
}

}  // namespace heteroscope::references
