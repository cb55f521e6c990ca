#include "scheduler/kernel/references/reference_entry.h"

namespace heteroscope::references {

Reference transposeReference() {
    return {"transpose",
            {"rows", "cols"},
            {},
            [](const Inputs& in) -> std::vector<Need> {
                const std::uint64_t count = in.size("rows") * in.size("cols");
                return {{"in", Scalar::Float, count, Access::Read}, {"out", Scalar::Float, count, Access::Write}};
            },
            [](const Inputs& in) -> std::vector<ExpectedBuffer> {
                const std::uint64_t rows = in.size("rows");
                const std::uint64_t cols = in.size("cols");
                const auto matrix = in.before<float>("in");
                return {elementWise("out", 0, rows * cols, [rows, cols, matrix](std::uint64_t i) {
                    return Expected{static_cast<double>(matrix[i % rows * cols + i / rows]), 0.0};
                })};
            }};
}

}  // namespace heteroscope::references
