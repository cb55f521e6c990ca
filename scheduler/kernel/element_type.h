#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heteroscope {

enum class Scalar { Bool, Char, UChar, Short, UShort, Int, UInt, Long, ULong, Half, Float, Double, Bytes };

/// An OpenCL scalar or vector type by its OpenCL name ("uint", "float4"), or "bytes" (width 1) for structs.
/// A vector of 3 takes the room of 4, as OpenCL's does (specification, section 6.1.5).
struct ElementType {
    Scalar scalar = Scalar::Float;
    unsigned width = 1;  ///< 1, 2, 3, 4, 8, 16

    std::size_t scalarBytes() const;
    std::size_t bytes() const;  ///< of one element
    std::string name() const;
    bool operator==(const ElementType&) const = default;

    static std::optional<ElementType> fromName(std::string_view name);
};

}  // namespace heteroscope
