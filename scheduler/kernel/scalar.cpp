#include "scheduler/kernel/scalar.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace heteroscope {

namespace {

template <class T>
void store(T value, std::byte* out) {
    std::memcpy(out, &value, sizeof value);
}

template <class T>
T load(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

Error outOfRange(const std::string& value, Scalar scalar, const std::string& range) {
    return Error{ErrorKind::InvalidInput,
                 fmt::format("{} does not fit {} ({})", shortened(value), ElementType{scalar, 1}.name(), range)};
}

/// Sign and magnitude of "-12", "+7", "0x1F"; nothing when `text` is no integer literal or is beyond 64 bits.
struct IntegerLiteral {
    bool negative = false;
    std::uint64_t magnitude = 0;
    bool overflow = false;
};
std::optional<IntegerLiteral> integerLiteral(std::string_view text) {
    IntegerLiteral literal;
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        literal.negative = text.front() == '-';
        text.remove_prefix(1);
    }
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    }
    if (text.empty()) return {};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), literal.magnitude, base);
    if (end != text.data() + text.size()) return {};
    literal.overflow = code == std::errc::result_out_of_range;
    return literal;
}

template <class T>
Status encodeInteger(Scalar scalar, const std::string& value, const Parameters& parameters, std::byte* out) {
    const auto lowest = std::numeric_limits<T>::min();
    const auto highest = std::numeric_limits<T>::max();
    const std::string range = fmt::format("{} to {}", lowest, highest);
    if (const auto literal = integerLiteral(trimmed(value))) {
        const std::uint64_t limit = literal->negative ? std::uint64_t{0} - static_cast<std::uint64_t>(lowest)
                                                      : static_cast<std::uint64_t>(highest);
        if (literal->overflow || literal->magnitude > limit) return outOfRange(value, scalar, range);
        const std::uint64_t bits = literal->negative ? std::uint64_t{0} - literal->magnitude : literal->magnitude;
        store(static_cast<T>(bits), out);
        return {};
    }
    const auto number = evaluate(value, parameters);
    if (!number) return number.error();
    if (*number != std::floor(*number))
        return Error{ErrorKind::InvalidInput,
                     fmt::format("{} = {} is no whole number, as {} needs", shortened(value), formatNumber(*number),
                                 ElementType{scalar, 1}.name())};
    // The upper limit of a 64-bit type is no double: compare with the power of two above it.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (*number < static_cast<double>(lowest) || *number >= above)
        return outOfRange(formatNumber(*number), scalar, range);
    store(static_cast<T>(*number), out);
    return {};
}

/// "nan", "inf", "-inf", "2.5", "2.5f", "1e-45": nothing when it is an expression.
std::optional<double> floatLiteral(std::string_view text) {
    bool negative = false;
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        negative = text.front() == '-';
        text.remove_prefix(1);
    }
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    if (text.empty() || (std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.')) return {};
    if (text.size() > 1 && text.back() == 'f') text.remove_suffix(1);
    double value = 0.0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size()) return {};
    return negative ? -value : value;
}

Status encodeFloat(Scalar scalar, const std::string& value, const Parameters& parameters, std::byte* out) {
    double number = 0.0;
    if (const auto literal = floatLiteral(trimmed(value))) {
        number = *literal;
    } else {
        const auto evaluated = evaluate(value, parameters);
        if (!evaluated) return evaluated.error();
        number = *evaluated;
    }
    if (scalar == Scalar::Double) {
        store(number, out);
        return {};
    }
    // Halfway to the next power of two is where rounding would give infinity: FLT_MAX written with eight digits fits.
    const bool half = scalar == Scalar::Half;
    if (std::isfinite(number) && std::abs(number) >= (half ? 65520.0 : 0x1.ffffffp127))
        return outOfRange(formatNumber(number), scalar, half ? "up to ±65504" : "up to ±3.4028235e+38");
    if (half)
        store(halfFromFloat(static_cast<float>(number)), out);
    else
        store(static_cast<float>(number), out);
    return {};
}

Status encodeBool(const std::string& value, const Parameters& parameters, std::byte* out) {
    const std::string_view word = trimmed(value);
    if (word == "true" || word == "false") {
        *out = std::byte{word == "true"};
        return {};
    }
    const auto number = evaluate(value, parameters);
    if (!number) return number.error();
    if (*number != 0.0 && *number != 1.0) return outOfRange(formatNumber(*number), Scalar::Bool, "0 or 1");
    *out = std::byte{*number == 1.0};
    return {};
}

}  // namespace

std::uint16_t halfFromFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);  // NaN
    if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // rounds to 65536 or more
    if (magnitude < 0x33000001U) return sign;  // 2^-25 and below round to zero
    std::uint32_t mantissa = (magnitude & 0x007FFFFFU) | 0x00800000U;
    const std::uint32_t exponent = magnitude >> 23U;
    std::uint32_t shift = 13;
    std::uint32_t base = 0;
    if (exponent < 113) {  // subnormal in half
        shift = 126 - exponent;
    } else {
        base = (exponent - 112) << 10U;
        mantissa &= 0x007FFFFFU;
    }
    const std::uint32_t half = 1U << (shift - 1);
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t rest = mantissa & ((1U << shift) - 1);
    const bool up = rest > half || (rest == half && (kept & 1U) != 0);
    return static_cast<std::uint16_t>(sign | (base + kept + (up ? 1U : 0U)));
}

float floatFromHalf(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
    const std::uint32_t mantissa = bits & 0x3FFU;
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
    if (exponent == 0) {
        const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
        return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23U) | (mantissa << 13U));
}

bool isFloatingPoint(Scalar scalar) {
    return scalar == Scalar::Half || scalar == Scalar::Float || scalar == Scalar::Double;
}

Status encodeComponent(Scalar scalar, const std::string& value, const Parameters& parameters, std::byte* out) {
    switch (scalar) {
        case Scalar::Bool: return encodeBool(value, parameters, out);
        case Scalar::Char: return encodeInteger<std::int8_t>(scalar, value, parameters, out);
        case Scalar::Bytes:
        case Scalar::UChar: return encodeInteger<std::uint8_t>(scalar, value, parameters, out);
        case Scalar::Short: return encodeInteger<std::int16_t>(scalar, value, parameters, out);
        case Scalar::UShort: return encodeInteger<std::uint16_t>(scalar, value, parameters, out);
        case Scalar::Int: return encodeInteger<std::int32_t>(scalar, value, parameters, out);
        case Scalar::UInt: return encodeInteger<std::uint32_t>(scalar, value, parameters, out);
        case Scalar::Long: return encodeInteger<std::int64_t>(scalar, value, parameters, out);
        case Scalar::ULong: return encodeInteger<std::uint64_t>(scalar, value, parameters, out);
        case Scalar::Half:
        case Scalar::Float:
        case Scalar::Double: return encodeFloat(scalar, value, parameters, out);
    }
    return {};
}

Result<std::vector<std::byte>> encodeScalar(ElementType type, const std::vector<std::string>& values,
                                            const Parameters& parameters) {
    if (values.size() != type.width)
        return Error{ErrorKind::InvalidInput, fmt::format("{} takes {} value{}, {} given", type.name(), type.width,
                                                          type.width == 1 ? "" : "s", values.size())};
    std::vector<std::byte> bytes(type.bytes());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Status status = encodeComponent(type.scalar, values[i], parameters, bytes.data() + i * type.scalarBytes());
        if (!status) return status.error();
    }
    return bytes;
}

double decodeComponent(Scalar scalar, const std::byte* bytes) {
    switch (scalar) {
        case Scalar::Char: return load<std::int8_t>(bytes);
        case Scalar::Bool:
        case Scalar::Bytes:
        case Scalar::UChar: return load<std::uint8_t>(bytes);
        case Scalar::Short: return load<std::int16_t>(bytes);
        case Scalar::UShort: return load<std::uint16_t>(bytes);
        case Scalar::Int: return load<std::int32_t>(bytes);
        case Scalar::UInt: return load<std::uint32_t>(bytes);
        case Scalar::Long: return static_cast<double>(load<std::int64_t>(bytes));
        case Scalar::ULong: return static_cast<double>(load<std::uint64_t>(bytes));
        case Scalar::Half: return static_cast<double>(floatFromHalf(load<std::uint16_t>(bytes)));
        case Scalar::Float: return static_cast<double>(load<float>(bytes));
        case Scalar::Double: return load<double>(bytes);
    }
    return 0.0;
}

Result<std::vector<std::byte>> bytesFromHex(const std::string& hex) {
    std::string digits;
    for (const char c : hex) {
        if (c == ' ') continue;
        if (std::isxdigit(static_cast<unsigned char>(c)) == 0)
            return Error{ErrorKind::InvalidInput, fmt::format("\"{}\" is not hexadecimal: digits 0-9, a-f are expected", shortened(hex))};
        digits += c;
    }
    if (digits.empty()) return Error{ErrorKind::InvalidInput, "no bytes given: two hexadecimal digits a byte are expected"};
    if (digits.size() % 2 != 0)
        return Error{ErrorKind::InvalidInput,
                     fmt::format("{} hexadecimal digits: two a byte are expected", digits.size())};
    std::vector<std::byte> bytes(digits.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        unsigned value = 0;
        std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, value, 16);
        bytes[i] = static_cast<std::byte>(value);
    }
    return bytes;
}

std::string hexFromBytes(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return text;
}

}  // namespace heteroscope
