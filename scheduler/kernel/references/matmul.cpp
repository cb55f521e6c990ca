// The product of two matrices in double. Rows of c are taken four at a time and columns in stretches that stay in
// the first-level cache, so that a 1024 × 1024 product takes a few tenths of a second.
#include "scheduler/kernel/references/reference_entry.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heteroscope::references {
namespace {

constexpr std::uint64_t rowsAtOnce = 4;
constexpr std::uint64_t columnsAtOnce = 512;

using Accumulators = std::array<std::array<double, columnsAtOnce>, rowsAtOnce>;

/// Adds the products for up to rowsAtOnce rows of c from `row` on and the columns [column, column + columns).
void accumulate(Accumulators& sums, std::span<const float> a, std::span<const float> b, std::uint64_t n,
                std::uint64_t row, std::uint64_t rows, std::uint64_t column, std::uint64_t columns) {
    for (std::uint64_t k = 0; k < n; ++k) {
        std::array<double, rowsAtOnce> factors{};
        for (std::uint64_t r = 0; r < rows; ++r) factors[r] = a[(row + r) * n + k];
        const float* line = b.data() + k * n + column;
        for (std::uint64_t j = 0; j < columns; ++j) {
            const double value = line[j];
            sums[0][j] += factors[0] * value;
            sums[1][j] += factors[1] * value;
            sums[2][j] += factors[2] * value;
            sums[3][j] += factors[3] * value;
        }
    }
}

/// c's rows from `row` on, as many as `rows`.
void product(std::span<const float> a, std::span<const float> b, std::uint64_t n, std::uint64_t row, std::uint64_t rows,
             std::span<Expected> c) {
    Accumulators sums;  // 16 KiB of the stack
    for (std::uint64_t done = 0; done < rows; done += rowsAtOnce) {
        const std::uint64_t height = std::min(rowsAtOnce, rows - done);
        for (std::uint64_t column = 0; column < n; column += columnsAtOnce) {
            const std::uint64_t width = std::min(columnsAtOnce, n - column);
            for (auto& line : sums) line.fill(0.0);
            accumulate(sums, a, b, n, row + done, height, column, width);
            for (std::uint64_t i = 0; i < height * width; ++i) {
                c[(done + i / width) * n + column + i % width].value = sums[i / width][i % width];
            }
        }
    }
}

std::vector<double> rowNorms(std::span<const float> matrix, std::uint64_t rows, std::uint64_t columns) {
    std::vector<double> norms(rows);
    for (std::uint64_t r = 0; r < rows; ++r) {
        double squares = 0.0;
        for (float value : matrix.subspan(r * columns, columns)) {
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        norms[r] = std::sqrt(squares);
    }
    return norms;
}

std::vector<double> columnNorms(std::span<const float> matrix, std::uint64_t rows, std::uint64_t columns) {
    std::vector<double> norms(columns);
    for (std::uint64_t i = 0; i < rows * columns; ++i) {
        norms[i % columns] += static_cast<double>(matrix[i]) * static_cast<double>(matrix[i]);
    }
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

std::uint64_t rowsOf(const Inputs& in) { return in.size("row_count") > 0 ? in.size("row_count") : in.size("n"); }

std::vector<Need> needs(const Inputs& in) {
    const std::uint64_t n = in.size("n");
    const std::uint64_t rows = rowsOf(in);
    return {{"a", Scalar::Float, rows * n, Access::Read},
            {"b", Scalar::Float, n * n, Access::Read},
            {"c", Scalar::Float, rows * n, Access::Write}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    const std::uint64_t n = in.size("n");
    const std::uint64_t rows = rowsOf(in);
    const auto a = in.before<float>("a");
    const auto b = in.before<float>("b");
    // Cauchy-Schwarz: |a_i| |b_j| is no less than the sum of the terms' magnitudes, and costs next to nothing.
    auto fill = [=, aNorms = rowNorms(a, rows, n), bNorms = columnNorms(b, n, n)](std::uint64_t from,
                                                                                  std::span<Expected> elements) {
        product(a, b, n, from / n, elements.size() / n, elements);
        for (std::uint64_t i = 0; i < elements.size(); ++i) {
            elements[i].magnitude = aNorms[(from + i) / n] * bNorms[i % n];
        }
    };
    return {ExpectedBuffer{.name = "c", .count = rows * n, .elements = std::move(fill), .piece = rowsAtOnce * n}};
}

}  // namespace

Reference matmulReference() { return {"matmul", {"n", "row_count"}, {}, needs, expected}; }

}  // namespace heteroscope::references
