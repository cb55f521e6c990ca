#include "scheduler/kernel/references/reference_entry.h"

#include <cmath>

namespace heteroscope::references {
namespace {

/// Which rows of the plate are computed, and which of them `in` holds.
struct Plate {
    std::uint64_t rows, cols, first, count;

    explicit Plate(const Inputs& in)
        : rows(in.size("rows")), cols(in.size("cols")), first(in.size("first_row")), count(in.size("row_count")) {
        if (count == 0) count = rows > first ? rows - first : 0;
    }
    bool rowAbove() const { return first > 0; }
    bool rowBelow() const { return first + count < rows; }
    bool onRim(std::uint64_t row, std::uint64_t col) const {
        return row == 0 || row >= rows - 1 || col == 0 || col == cols - 1;
    }
};

std::vector<Need> needs(const Inputs& in) {
    const Plate plate(in);
    const std::uint64_t held = plate.count + (plate.rowAbove() ? 1 : 0) + (plate.rowBelow() ? 1 : 0);
    return {{"in", Scalar::Float, plate.cols * held, Access::Read},
            {"out", Scalar::Float, plate.cols * plate.count, Access::Write}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    const Plate plate(in);
    const double alpha = in.asFloat("alpha");
    const auto cells = in.before<float>("in");
    return {elementWise("out", 0, plate.cols * plate.count, [plate, alpha, cells](std::uint64_t i) {
        const std::uint64_t row = plate.first + i / plate.cols;
        const std::uint64_t col = i % plate.cols;
        const std::uint64_t here = i + (plate.rowAbove() ? plate.cols : 0);
        const double self = cells[here];
        if (plate.onRim(row, col)) return Expected{self, 0.0};
        // Weighted mean form: what stays here and what flows in from the four sides.
        const double kept = (1.0 - 4.0 * alpha) * self;
        double inflow = 0.0;
        double magnitude = std::abs(kept) + 8.0 * alpha * std::abs(self);
        for (std::uint64_t side : {here - plate.cols, here - 1, here + 1, here + plate.cols}) {
            inflow += alpha * static_cast<double>(cells[side]);
            magnitude += alpha * std::abs(static_cast<double>(cells[side]));
        }
        return Expected{kept + inflow, magnitude};
    })};
}

}  // namespace

Reference stencilReference() {
    return {"stencil", {"rows", "cols", "first_row", "row_count"}, {"alpha"}, needs, expected};
}

}  // namespace heteroscope::references
