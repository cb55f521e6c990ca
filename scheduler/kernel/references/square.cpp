#include "scheduler/kernel/references/reference_entry.h"

namespace heteroscope::references {

Reference squareReference() {
    return {"square",
            {"n", "offset"},
            {},
            [](const Inputs& in) -> std::vector<Need> {
                const std::uint64_t end = in.size("offset") + in.size("n");
                return {{"x", Scalar::Float, end, Access::Read}, {"y", Scalar::Float, end, Access::Write}};
            },
            [](const Inputs& in) -> std::vector<ExpectedBuffer> {
                const auto x = in.before<float>("x");
                return {elementWise("y", in.size("offset"), in.size("n"), [x](std::uint64_t i) {
                    const double root = x[i];
                    return Expected{root * root, 0.0};
                })};
            }};
}

}  // namespace heteroscope::references
