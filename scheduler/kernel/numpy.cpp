// NumPy's .npy: six bytes "\x93NUMPY", a version, the header's length (16 bits in 1.0, 32 from 2.0 on), a Python
// dictionary literal with descr, fortran_order and shape, then the values.

#include "scheduler/kernel/data.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace heteroscope {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t longestHeader = 1U << 20U;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Error problem(const std::filesystem::path& file, const std::string& what, ErrorKind kind = ErrorKind::InvalidInput) {
    return Error{kind, fmt::format("{}: {}", file.string(), what), file.string()};
}

/// "f4", "u1", …: the part of a dtype behind the byte order.
std::string dtypeOf(Scalar scalar) {
    const char kind = [&] {
        switch (scalar) {
            case Scalar::Bool: return 'b';
            case Scalar::Char:
            case Scalar::Short:
            case Scalar::Int:
            case Scalar::Long: return 'i';
            case Scalar::Half:
            case Scalar::Float:
            case Scalar::Double: return 'f';
            default: return 'u';
        }
    }();
    return kind + std::to_string(ElementType{scalar, 1}.bytes());
}

struct NpyHeader {
    std::string descr;
    bool fortranOrder = false;
    std::vector<std::uint64_t> shape;

    std::optional<std::uint64_t> values() const {
        std::uint64_t product = 1;
        for (const std::uint64_t length : shape)
            if (__builtin_mul_overflow(product, length, &product)) return {};
        return product;
    }
};

/// What stands behind 'key': up to the next comma outside parentheses or the end of the dictionary.
std::optional<std::string_view> dictionaryValue(std::string_view header, std::string_view key) {
    for (const char quote : {'\'', '"'}) {
        const std::size_t at = header.find(quote + std::string(key) + quote);
        if (at == std::string_view::npos) continue;
        std::size_t start = header.find(':', at + key.size() + 2);
        if (start == std::string_view::npos) return {};
        int depth = 0;
        bool quoted = false;
        std::size_t end = ++start;
        for (; end < header.size(); ++end) {
            const char c = header[end];
            if (c == '\'' || c == '"') quoted = !quoted;
            if (quoted) continue;
            if (c == '(' || c == '[') ++depth;
            if (c == ')' || c == ']') --depth;
            if (depth == 0 && (c == ',' || c == '}')) break;
        }
        return trimmed(header.substr(start, end - start));
    }
    return {};
}

std::optional<std::vector<std::uint64_t>> parseShape(std::string_view text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return {};
    std::vector<std::uint64_t> shape;
    for (const std::string& part : splitAtCommas(text.substr(1, text.size() - 2))) {
        if (part.empty()) continue;  // "(3,)" and "()"
        std::uint64_t length = 0;
        const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), length);
        if (code != std::errc{} || end != part.data() + part.size()) return {};
        shape.push_back(length);
    }
    return shape;
}

std::optional<NpyHeader> parseHeader(std::string_view text) {
    const auto descr = dictionaryValue(text, "descr");
    const auto order = dictionaryValue(text, "fortran_order");
    const auto shapeText = dictionaryValue(text, "shape");
    if (!descr || !order || !shapeText || (*order != "True" && *order != "False")) return {};
    const auto shape = parseShape(*shapeText);
    if (!shape) return {};
    return NpyHeader{std::string(*descr), *order == "True", *shape};
}

Result<NpyHeader> readHeader(std::FILE* file, const std::filesystem::path& path) {
    std::array<unsigned char, 2> version{};
    std::array<unsigned char, 4> length{};
    if (std::fread(version.data(), 1, 2, file) != 2) return problem(path, "ends within its header");
    const std::size_t lengthBytes = version[0] == 1 ? 2 : 4;
    if (version[0] < 1 || version[0] > 3)
        return problem(path, fmt::format("NumPy format {}.{}; 1.0, 2.0 or 3.0 is expected", version[0], version[1]));
    if (std::fread(length.data(), 1, lengthBytes, file) != lengthBytes) return problem(path, "ends within its header");
    const std::size_t headerBytes = length[0] | length[1] << 8U | length[2] << 16U | static_cast<std::size_t>(length[3]) << 24U;
    if (headerBytes > longestHeader) return problem(path, fmt::format("states a header of {} bytes", headerBytes));
    std::string text(headerBytes, '\0');
    if (std::fread(text.data(), 1, headerBytes, file) != headerBytes) return problem(path, "ends within its header");
    const auto header = parseHeader(text);
    if (!header) return problem(path, fmt::format("header cannot be read: {}", shortened(trimmed(text))));
    return *header;
}

Status checkDtype(const NpyHeader& header, ElementType type, const std::filesystem::path& path) {
    std::string_view found = header.descr;
    if (found.size() >= 2 && (found.front() == '\'' || found.front() == '"')) found = found.substr(1, found.size() - 2);
    const std::string expected = dtypeOf(type.scalar);
    const char order = found.empty() ? ' ' : found.front();
    const std::string_view rest = found.empty() ? found : found.substr(1);
    if (order == '>' && rest == expected && type.scalarBytes() > 1)
        return problem(path, fmt::format("dtype {} is big-endian; little-endian (<{}) is expected", found, expected));
    const bool sameBytes = type.scalar == Scalar::Bytes && rest.size() == 2 && rest[1] == '1';
    if ((rest != expected && !sameBytes) || std::string_view("<|=>").find(order) == std::string_view::npos)
        return problem(path, fmt::format("dtype {}; {} ({}{}) is expected", shortened(found), type.name(),
                                         type.scalarBytes() == 1 ? '|' : '<', expected));
    if (header.fortranOrder && header.shape.size() > 1)
        return problem(path, "stored in Fortran order; C order is expected (numpy.ascontiguousarray)");
    return {};
}

Error shortRead(std::FILE* file, const std::filesystem::path& path, std::uint64_t found, std::uint64_t expected) {
    if (std::ferror(file) != 0) return problem(path, std::strerror(errno), ErrorKind::Io);
    return problem(path, fmt::format("holds {} bytes of values, {} are expected", found, expected));
}

/// Values of vectors of 3 lie side by side in a file and four apart in memory.
Status readTriples(std::FILE* file, const std::filesystem::path& path, ElementType type, std::span<std::byte> bytes) {
    const std::size_t packed = 3 * type.scalarBytes();
    const std::size_t elements = bytes.size() / type.bytes();
    for (std::size_t i = 0; i < elements; ++i) {
        std::byte* out = bytes.data() + i * type.bytes();
        std::memset(out, 0, type.bytes());
        const std::size_t got = std::fread(out, 1, packed, file);
        if (got != packed) return shortRead(file, path, i * packed + got, elements * packed);
    }
    return {};
}

Status readExactly(std::FILE* file, const std::filesystem::path& path, std::span<std::byte> bytes) {
    const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file);
    if (got != bytes.size()) return shortRead(file, path, got, bytes.size());
    return {};
}

Status readNpy(std::FILE* file, const std::filesystem::path& path, ElementType type, std::span<std::byte> bytes) {
    const auto header = readHeader(file, path);
    if (!header) return header.error();
    if (const Status fits = checkDtype(*header, type, path); !fits) return fits;
    const std::uint64_t elements = bytes.size() / type.bytes();
    const auto found = header->values();
    const bool padded = type.width == 3 && found == elements * 4 && !header->shape.empty() && header->shape.back() == 4;
    if (!padded && found != elements * type.width)
        return problem(path, fmt::format("holds {} values (shape {}), {} are expected", found ? std::to_string(*found) : "too many",
                                         fmt::join(header->shape, "×"), elements * type.width));
    const Status done = type.width == 3 && !padded ? readTriples(file, path, type, bytes) : readExactly(file, path, bytes);
    if (done && std::fgetc(file) != EOF) return problem(path, "goes on behind the values its header states");
    return done;
}

Status readRaw(std::FILE* file, const std::filesystem::path& path, std::span<std::byte> bytes) {
    std::error_code code;
    const std::uint64_t size = std::filesystem::file_size(path, code);
    if (!code && size != bytes.size())
        return problem(path, fmt::format("raw file of {} bytes, {} are expected", size, bytes.size()));
    return readExactly(file, path, bytes);
}

std::string npyHeader(ElementType type, std::uint64_t elements) {
    const std::string shape = type.width == 1 ? fmt::format("({},)", elements) : fmt::format("({}, {})", elements, type.width);
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   type.scalarBytes() == 1 ? '|' : '<', dtypeOf(type.scalar), shape);
    // NumPy wants the values to begin at a multiple of 64, the header to end with a line break.
    const std::size_t before = magic.size() + 4;
    const std::size_t whole = (before + text.size() + 1 + 63) / 64 * 64;
    text.resize(whole - before - 1, ' ');
    text += '\n';
    std::string out(magic);
    out += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU), static_cast<char>(text.size() >> 8U)};
    return out + text;
}

bool writeValues(std::FILE* file, ElementType type, std::span<const std::byte> bytes) {
    if (type.width != 3) return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const std::size_t packed = 3 * type.scalarBytes();
    for (std::size_t at = 0; at + type.bytes() <= bytes.size(); at += type.bytes())
        if (std::fwrite(bytes.data() + at, 1, packed, file) != packed) return false;
    return true;
}

}  // namespace

Status writeNpy(const std::filesystem::path& path, ElementType type, std::span<const std::byte> bytes) {
    // Beside it first: what stood there stays whole until the new one is.
    std::filesystem::path partial = path;
    partial += ".part";
    const auto failed = [&](int number) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        return problem(path, fmt::format("cannot be written: {}", std::strerror(number)), ErrorKind::Io);
    };
    File file(std::fopen(partial.c_str(), "wb"), std::fclose);
    if (!file) return problem(path, fmt::format("cannot be written: {}", std::strerror(errno)), ErrorKind::Io);
    const std::string header = npyHeader(type, bytes.size() / type.bytes());
    if (std::fwrite(header.data(), 1, header.size(), file.get()) != header.size() || !writeValues(file.get(), type, bytes))
        return failed(errno);
    if (std::fclose(file.release()) != 0) return failed(errno);
    std::error_code code;
    std::filesystem::rename(partial, path, code);
    if (code) return failed(code.value());
    return {};
}

Status readArrayFile(const std::filesystem::path& path, ElementType type, std::span<std::byte> bytes) {
    std::error_code code;
    if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code))
        return problem(path, "is not a file", ErrorKind::Io);
    File file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) return problem(path, std::strerror(errno), ErrorKind::Io);
    std::array<char, magic.size()> start{};
    const std::size_t got = std::fread(start.data(), 1, start.size(), file.get());
    if (got == magic.size() && std::string_view(start.data(), got) == magic) return readNpy(file.get(), path, type, bytes);
    if (path.extension() == ".npy") return problem(path, "is not a NumPy file");
    std::rewind(file.get());
    return readRaw(file.get(), path, bytes);
}

}  // namespace heteroscope
