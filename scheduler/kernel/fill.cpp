// uniform(): element i of stream s under seed k is a hash of (k, s, i) alone (SplitMix64's finaliser over a counter),
// so any part can be made on any thread in any order and is the same on every machine. Built without contraction to
// fused multiply-add (see CMakeLists.txt), which would round otherwise on some processors.

#include "scheduler/kernel/data.h"
#include "scheduler/kernel/scalar.h"
#include "scheduler/kernel/text_file.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace heteroscope {

namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint64_t bytesPerThread = std::uint64_t{16} << 20;

/// "uniform(0,1)" taken apart.
struct Fill {
    std::string_view name;
    std::string_view inside;  ///< between the outer parentheses
    bool hasParentheses = false;
};

Error problem(std::string_view fill, const std::string& what) {
    return Error{ErrorKind::InvalidInput, fmt::format("fill \"{}\": {}", shortened(fill), what)};
}

constexpr const char* knownFills =
    "zeros, iota, uniform(a,b), value(v), values(1,2,3) or file(path) is expected";

/// The buffer as a sequence of scalars; the fourth component of a vector of 3 is padding and stays zero.
struct Layout {
    std::byte* data;
    std::uint64_t elements;
    unsigned width;
    unsigned stride;  ///< scalars an element
    std::uint64_t scalars() const { return elements * width; }
};

/// Calls part(first, last) over elements, on several threads where the buffer is large.
template <class Part>
void inParts(const Layout& layout, std::uint64_t bytes, const Part& part) {
    const std::uint64_t wanted = bytes / bytesPerThread;
    const std::uint64_t threads = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, 16);
    const std::uint64_t parts = std::clamp<std::uint64_t>(wanted, 1, threads);
    const auto bound = [&](std::uint64_t i) {
        return static_cast<std::uint64_t>(static_cast<Uint128>(layout.elements) * i / parts);
    };
    std::vector<std::thread> workers;
    for (std::uint64_t i = 1; i < parts; ++i) workers.emplace_back([&, i] { part(bound(i), bound(i + 1)); });
    part(bound(0), bound(1));
    for (std::thread& worker : workers) worker.join();
}

/// Sets component c of element e to make(e * width + c).
template <class T, class Make>
void setAll(const Layout& layout, const Make& make) {
    T* out = reinterpret_cast<T*>(layout.data);
    inParts(layout, layout.elements * layout.stride * sizeof(T), [&](std::uint64_t first, std::uint64_t last) {
        if (layout.width == layout.stride) {
            const std::uint64_t end = last * layout.width;
            for (std::uint64_t i = first * layout.width; i < end; ++i) out[i] = make(i);
            return;
        }
        for (std::uint64_t e = first; e < last; ++e) {
            for (unsigned c = 0; c < layout.width; ++c) out[e * layout.stride + c] = make(e * layout.width + c);
            for (unsigned c = layout.width; c < layout.stride; ++c) out[e * layout.stride + c] = T{};
        }
    });
}

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

constexpr std::uint64_t goldenGamma = 0x9e3779b97f4a7c15U;

std::uint64_t hashAt(std::uint64_t key, std::uint64_t index) { return mixed(key + (index + 1) * goldenGamma); }

/// 0 ≤ u < 1 with 53 bits, exact.
double unitInterval(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }

struct Bounds {
    std::string low, high;
};

template <class T>
Result<std::pair<T, T>> boundsAs(Scalar scalar, const Bounds& text, const Parameters& parameters) {
    std::pair<T, T> bounds;
    for (const auto& [value, out] : {std::pair{&text.low, &bounds.first}, std::pair{&text.high, &bounds.second}}) {
        std::byte bytes[sizeof(T)];
        const Status status = encodeComponent(scalar, *value, parameters, bytes);
        if (!status) return status.error();
        std::memcpy(out, bytes, sizeof(T));
    }
    return bounds;
}

template <class T>
Status uniformIntegers(const Layout& layout, Scalar scalar, const Bounds& text, std::uint64_t key,
                       const Parameters& parameters) {
    const auto bounds = boundsAs<T>(scalar, text, parameters);
    if (!bounds) return bounds.error();
    const auto [low, high] = *bounds;
    if (low > high) return Error{ErrorKind::InvalidInput, fmt::format("lower bound {} above upper bound {}", +low, +high)};
    using Unsigned = std::make_unsigned_t<T>;
    const std::uint64_t span = static_cast<std::uint64_t>(static_cast<Unsigned>(static_cast<Unsigned>(high) - static_cast<Unsigned>(low)));
    setAll<T>(layout, [=, base = low](std::uint64_t i) {
        const std::uint64_t bits = hashAt(key, i);
        // The high half of bits × (span + 1); with span + 1 = 2^64 that is `bits` itself.
        const std::uint64_t offset = span == ~std::uint64_t{0}
                                         ? bits
                                         : static_cast<std::uint64_t>((static_cast<Uint128>(bits) * (span + 1)) >> 64U);
        return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(base) + static_cast<Unsigned>(offset)));
    });
    return {};
}

Status uniformFloats(const Layout& layout, Scalar scalar, const Bounds& text, std::uint64_t key,
                     const Parameters& parameters) {
    const auto bounds = boundsAs<double>(Scalar::Double, text, parameters);
    if (!bounds) return bounds.error();
    const auto [low, high] = *bounds;
    for (const std::string& bound : {text.low, text.high}) {
        std::byte scratch[sizeof(double)];
        const Status fits = encodeComponent(scalar, bound, parameters, scratch);
        if (!fits) return fits.error();
    }
    if (!(low <= high) || !std::isfinite(high - low))
        return Error{ErrorKind::InvalidInput, fmt::format("finite bounds in ascending order are expected, found {} and {}", low, high)};
    const auto at = [=, base = low, span = high - low](std::uint64_t i) { return base + unitInterval(hashAt(key, i)) * span; };
    if (scalar == Scalar::Double) setAll<double>(layout, at);
    if (scalar == Scalar::Float) setAll<float>(layout, [=](std::uint64_t i) { return static_cast<float>(at(i)); });
    if (scalar == Scalar::Half)
        setAll<std::uint16_t>(layout, [=](std::uint64_t i) { return halfFromFloat(static_cast<float>(at(i))); });
    return {};
}

Status fillUniform(const Layout& layout, Scalar scalar, std::string_view inside, std::uint64_t key,
                   const Parameters& parameters) {
    const auto parts = splitAtCommas(inside);
    if (parts.size() != 2) return Error{ErrorKind::InvalidInput, "uniform(a,b) takes two bounds"};
    const Bounds bounds{parts[0], parts[1]};
    switch (scalar) {
        case Scalar::Char: return uniformIntegers<std::int8_t>(layout, scalar, bounds, key, parameters);
        case Scalar::Bool:
        case Scalar::Bytes:
        case Scalar::UChar: return uniformIntegers<std::uint8_t>(layout, scalar, bounds, key, parameters);
        case Scalar::Short: return uniformIntegers<std::int16_t>(layout, scalar, bounds, key, parameters);
        case Scalar::UShort: return uniformIntegers<std::uint16_t>(layout, scalar, bounds, key, parameters);
        case Scalar::Int: return uniformIntegers<std::int32_t>(layout, scalar, bounds, key, parameters);
        case Scalar::UInt: return uniformIntegers<std::uint32_t>(layout, scalar, bounds, key, parameters);
        case Scalar::Long: return uniformIntegers<std::int64_t>(layout, scalar, bounds, key, parameters);
        case Scalar::ULong: return uniformIntegers<std::uint64_t>(layout, scalar, bounds, key, parameters);
        case Scalar::Half:
        case Scalar::Float:
        case Scalar::Double: return uniformFloats(layout, scalar, bounds, key, parameters);
    }
    return {};
}

/// 0, 1, 2, …: integers wrap as the type does; floats hold the nearest value.
void fillIota(const Layout& layout, Scalar scalar) {
    const auto as = [&]<class T>(T) { setAll<T>(layout, [](std::uint64_t i) { return static_cast<T>(i); }); };
    switch (scalar) {
        case Scalar::Bool: setAll<std::uint8_t>(layout, [](std::uint64_t i) { return static_cast<std::uint8_t>(i & 1U); }); break;
        case Scalar::Char:
        case Scalar::UChar:
        case Scalar::Bytes: as(std::uint8_t{}); break;
        case Scalar::Short:
        case Scalar::UShort: as(std::uint16_t{}); break;
        case Scalar::Int:
        case Scalar::UInt: as(std::uint32_t{}); break;
        case Scalar::Long:
        case Scalar::ULong: as(std::uint64_t{}); break;
        case Scalar::Half:
            // Above 65504 a half would be infinite: the sequence begins again.
            setAll<std::uint16_t>(layout, [](std::uint64_t i) { return halfFromFloat(static_cast<float>(i % 65505)); });
            break;
        case Scalar::Float: as(float{}); break;
        case Scalar::Double: as(double{}); break;
    }
}

Status fillValue(const Layout& layout, Scalar scalar, std::string_view inside, const Parameters& parameters) {
    std::byte one[sizeof(std::uint64_t)]{};
    const Status status = encodeComponent(scalar, std::string(trimmed(inside)), parameters, one);
    if (!status) return status;
    const auto as = [&]<class T>(T value) {
        std::memcpy(&value, one, sizeof value);
        setAll<T>(layout, [value](std::uint64_t) { return value; });
    };
    switch (ElementType{scalar, 1}.bytes()) {
        case 1: as(std::uint8_t{}); break;
        case 2: as(std::uint16_t{}); break;
        case 4: as(std::uint32_t{}); break;
        default: as(std::uint64_t{}); break;
    }
    return {};
}

Status fillValues(const Layout& layout, Scalar scalar, std::string_view inside, const Parameters& parameters) {
    const auto values = splitAtCommas(inside);
    if (values.size() != layout.scalars())
        return Error{ErrorKind::InvalidInput, fmt::format("gives {} values, the buffer takes {}", values.size(), layout.scalars())};
    const std::size_t size = ElementType{scalar, 1}.bytes();
    std::memset(layout.data, 0, layout.elements * layout.stride * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t position = i / layout.width * layout.stride + i % layout.width;
        const Status status = encodeComponent(scalar, values[i], parameters, layout.data + position * size);
        if (!status) return status;
    }
    return {};
}

Result<Fill> takeApart(std::string_view text) {
    text = trimmed(text);
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos) return Fill{text, {}, false};
    if (text.back() != ')') return problem(text, fmt::format("a closing parenthesis is missing; {}", knownFills));
    return Fill{trimmed(text.substr(0, open)), text.substr(open + 1, text.size() - open - 2), true};
}

bool isFile(const Fill& fill) { return fill.name == "file" && fill.hasParentheses; }

}  // namespace

Status checkFill(const std::string& fill, ElementType type, std::uint64_t count, const Parameters& parameters) {
    const auto taken = takeApart(fill);
    if (!taken) return taken.error();
    if (isFile(*taken))
        return trimmed(taken->inside).empty() ? Status(problem(fill, "the file's name is missing")) : Status();
    if (taken->name != "values") return fillBuffer({}, type, fill, 0, 0, parameters, {});
    const std::uint64_t given = splitAtCommas(taken->inside).size();
    if (given != count * type.width)
        return problem(fill, fmt::format("gives {} values, the buffer takes {}", given, count * type.width));
    std::vector<std::byte> scratch(count * type.bytes());
    return fillBuffer(scratch, type, fill, 0, 0, parameters, {});
}

std::string fillWithAbsolutePath(const std::string& fill, const std::filesystem::path& base) {
    const auto taken = takeApart(fill);
    if (!taken || !isFile(*taken)) return fill;
    return fmt::format("file({})", absolutePath(std::string(trimmed(taken->inside)), base).string());
}

Result<std::string> fillWithNumbers(const std::string& fill, const Parameters& parameters) {
    const auto taken = takeApart(fill);
    if (!taken) return taken.error();
    if (!taken->hasParentheses || isFile(*taken)) return fill;
    std::vector<std::string> numbers;
    for (const std::string& part : splitAtCommas(taken->inside)) {
        // What needs no parameter stays as it is: a 64-bit integer would lose digits.
        if (evaluate(part, {})) {
            numbers.push_back(part);
            continue;
        }
        const auto value = evaluate(part, parameters);
        numbers.push_back(value ? formatNumber(*value) : part);
    }
    return fmt::format("{}({})", taken->name, fmt::join(numbers, ","));
}

Status fillBuffer(std::span<std::byte> bytes, ElementType type, const std::string& fill, std::uint64_t seed,
                  std::uint64_t stream, const Parameters& parameters, const std::filesystem::path& base) {
    const auto taken = takeApart(fill);
    if (!taken) return taken.error();
    const Layout layout{bytes.data(), bytes.size() / type.bytes(), type.width, type.width == 3 ? 4 : type.width};
    const std::uint64_t key = mixed(mixed(seed + goldenGamma) ^ (stream * goldenGamma));
    Status done;
    if (taken->name == "zeros" && !taken->hasParentheses) {
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
    } else if (taken->name == "iota" && !taken->hasParentheses) {
        fillIota(layout, type.scalar);
    } else if (taken->name == "uniform" && taken->hasParentheses) {
        done = fillUniform(layout, type.scalar, taken->inside, key, parameters);
    } else if (taken->name == "value" && taken->hasParentheses) {
        done = fillValue(layout, type.scalar, taken->inside, parameters);
    } else if (taken->name == "values" && taken->hasParentheses) {
        done = fillValues(layout, type.scalar, taken->inside, parameters);
    } else if (isFile(*taken)) {
        return readArrayFile(base / std::filesystem::path(std::string(trimmed(taken->inside))), type, bytes);
    } else {
        return problem(fill, knownFills);
    }
    if (!done) return problem(fill, done.error().message);
    return {};
}

}  // namespace heteroscope
