#include "scheduler/kernel/element_type.h"

#include <array>

namespace heteroscope {

namespace {

struct ScalarName {
    std::string_view name;
    Scalar scalar;
};

// size_t and ptrdiff_t have the width of the device's addresses: 64 bits on all that are supported.
constexpr std::array<ScalarName, 15> scalarNames{{{"bool", Scalar::Bool},
                                                  {"char", Scalar::Char},
                                                  {"uchar", Scalar::UChar},
                                                  {"short", Scalar::Short},
                                                  {"ushort", Scalar::UShort},
                                                  {"int", Scalar::Int},
                                                  {"uint", Scalar::UInt},
                                                  {"long", Scalar::Long},
                                                  {"ulong", Scalar::ULong},
                                                  {"half", Scalar::Half},
                                                  {"float", Scalar::Float},
                                                  {"double", Scalar::Double},
                                                  {"bytes", Scalar::Bytes},
                                                  {"size_t", Scalar::ULong},
                                                  {"ptrdiff_t", Scalar::Long}}};

std::optional<unsigned> vectorWidth(std::string_view digits) {
    for (const unsigned width : {2U, 3U, 4U, 8U, 16U})
        if (digits == std::to_string(width)) return width;
    return {};
}

}  // namespace

std::size_t ElementType::scalarBytes() const {
    switch (scalar) {
        case Scalar::Bool:
        case Scalar::Char:
        case Scalar::UChar:
        case Scalar::Bytes: return 1;
        case Scalar::Short:
        case Scalar::UShort:
        case Scalar::Half: return 2;
        case Scalar::Int:
        case Scalar::UInt:
        case Scalar::Float: return 4;
        case Scalar::Long:
        case Scalar::ULong:
        case Scalar::Double: return 8;
    }
    return 0;
}

std::size_t ElementType::bytes() const { return scalarBytes() * (width == 3 ? 4 : width); }

std::string ElementType::name() const {
    std::string text;
    for (const ScalarName& entry : scalarNames) {
        if (entry.scalar != scalar) continue;
        text = entry.name;
        break;
    }
    return width == 1 ? text : text + std::to_string(width);
}

std::optional<ElementType> ElementType::fromName(std::string_view name) {
    for (const ScalarName& entry : scalarNames)
        if (entry.name == name) return ElementType{entry.scalar, 1};
    const std::size_t digits = name.find_first_of("0123456789");
    if (digits == std::string_view::npos) return {};
    const std::optional<unsigned> width = vectorWidth(name.substr(digits));
    const auto scalar = fromName(name.substr(0, digits));
    const bool hasVectors = scalar && scalar->scalar != Scalar::Bytes && scalar->scalar != Scalar::Bool &&
                            name.substr(0, digits).find('_') == std::string_view::npos;
    if (!width || !hasVectors) return {};
    return ElementType{scalar->scalar, *width};
}

}  // namespace heteroscope
