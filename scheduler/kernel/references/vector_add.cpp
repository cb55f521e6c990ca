#include "scheduler/kernel/references/reference_entry.h"

namespace heteroscope::references {

Reference vectorAddReference() {
    return {"vector-add",
            {"n"},
            {},
            [](const Inputs& in) -> std::vector<Need> {
                const std::uint64_t n = in.size("n");
                return {{"a", Scalar::Float, n, Access::Read},
                        {"b", Scalar::Float, n, Access::Read},
                        {"c", Scalar::Float, n, Access::Write}};
            },
            [](const Inputs& in) -> std::vector<ExpectedBuffer> {
                const auto a = in.before<float>("a");
                const auto b = in.before<float>("b");
                // No magnitude: one rounded addition is exact to half a unit however much the terms cancel.
                return {elementWise("c", 0, in.size("n"), [a, b](std::uint64_t i) {
                    return Expected{static_cast<double>(a[i]) + static_cast<double>(b[i]), 0.0};
                })};
            }};
}

}  // namespace heteroscope::references
