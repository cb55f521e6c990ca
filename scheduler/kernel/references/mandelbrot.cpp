// Iteration counts near the border of the set change with the last bit of every operation. So this reference is in
// float, and compiled without fused operations: counts must agree exactly.
#include "scheduler/kernel/references/reference_entry.h"

namespace heteroscope::references {
namespace {

unsigned escapeTime(float re, float im, unsigned limit) {
    float zr = 0.0f;
    float zi = 0.0f;
    for (unsigned steps = 0; steps < limit; ++steps) {
        const float rr = zr * zr;
        const float ii = zi * zi;
        if (rr + ii > 4.0f) return steps;
        const float cross = zr * zi;
        zr = (rr - ii) + re;
        zi = (cross + cross) + im;
    }
    return limit;
}

std::vector<Need> needs(const Inputs& in) {
    return {{"counts", Scalar::UInt, in.size("width") * in.size("height"), Access::Write}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    const std::uint64_t width = in.size("width");
    const std::uint64_t firstRow = in.size("first_row");
    const auto limit = static_cast<unsigned>(in.size("iterations"));
    const auto left = static_cast<float>(in.number("left"));
    const auto top = static_cast<float>(in.number("top"));
    const auto pixel = static_cast<float>(in.number("span") / in.number("width"));
    return {elementWise("counts", 0, width * in.size("height"), [=](std::uint64_t i) {
        const float across = static_cast<float>(i % width) * pixel;
        const float down = static_cast<float>(firstRow + i / width) * pixel;
        return Expected{static_cast<double>(escapeTime(left + across, top + down, limit)), 0.0};
    })};
}

}  // namespace

Reference mandelbrotReference() {
    return {"mandelbrot", {"width", "height", "iterations", "first_row"}, {"left", "top", "span"}, needs, expected};
}

}  // namespace heteroscope::references
