#pragma once

#include "scheduler/kernel/element_type.h"
#include "scheduler/kernel/expression.h"
#include "scheduler/kernel/reference.h"

#include <cassert>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the CPU references of references/ share: how one is declared, what it is given and what it answers with.
namespace heteroscope::references {

/// A buffer that a reference reads or predicts.
struct Need {
    std::string name;
    Scalar type = Scalar::Float;
    std::uint64_t count = 0;       ///< least number of elements
    Access access = Access::Read;  ///< read: its bytes from before the run; write: those after it; or both
};

/// The right value of one element.
struct Expected {
    double value = 0.0;
    /// Sum of the magnitudes of the terms that make up the value: the relative tolerance is taken of this or of
    /// |value|, whichever is more, since a sum whose terms cancel cannot be more exact than they are.
    double magnitude = 0.0;
};

/// The right elements first … first + count − 1 of one buffer.
struct ExpectedBuffer {
    std::string name;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    /// Writes the elements from `from` on (counted from the buffer's start). Called from several threads at once.
    std::function<void(std::uint64_t from, std::span<Expected> elements)> elements;
    std::uint64_t piece = 4096;  ///< elements asked for at once, from `first` on; the last piece may be shorter
};

/// Parameters and buffers as the reference declared them; all are there and large enough.
class Inputs {
public:
    Inputs(const Parameters& parameters, std::span<const CheckedBuffer> buffers)
        : parameters_(parameters), buffers_(buffers) {}

    double number(std::string_view name) const;
    /// As the kernel gets it: rounded to float.
    double asFloat(std::string_view name) const { return static_cast<float>(number(name)); }
    /// A whole number from 0 to 2^31.
    std::uint64_t size(std::string_view name) const { return static_cast<std::uint64_t>(number(name)); }

    /// The buffer's elements from before the run.
    template <class T>
    std::span<const T> before(std::string_view name) const {
        const std::span<const std::byte> bytes = bytesBefore(name);
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

private:
    std::span<const std::byte> bytesBefore(std::string_view name) const;

    const Parameters& parameters_;
    std::span<const CheckedBuffer> buffers_;
};

/// One CPU reference. Shares nothing with the kernels but the formula, which both take from the literature.
struct Reference {
    std::string_view name;
    std::vector<std::string_view> sizes;               ///< parameters that are whole numbers from 0 to 2^31
    std::vector<std::string_view> numbers;             ///< parameters that are finite
    std::vector<Need> (*needs)(const Inputs& inputs);  ///< `inputs` has no buffers yet
    std::vector<ExpectedBuffer> (*expected)(const Inputs& inputs);
};

/// An element-wise buffer whose element i is formula(i).
template <class Formula>
ExpectedBuffer elementWise(std::string name, std::uint64_t first, std::uint64_t count, Formula formula) {
    auto fill = [formula = std::move(formula)](std::uint64_t from, std::span<Expected> elements) {
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = formula(from + i);
    };
    return ExpectedBuffer{.name = std::move(name), .first = first, .count = count, .elements = std::move(fill)};
}

Reference squareReference();
Reference vectorAddReference();
Reference saxpyReference();
Reference matmulReference();
Reference reductionReference();
Reference transposeReference();
Reference stencilReference();
Reference mandelbrotReference();
Reference blackScholesReference();
Reference histogramReference();

}  // namespace heteroscope::references
