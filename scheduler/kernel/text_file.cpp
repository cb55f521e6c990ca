#include "scheduler/kernel/text_file.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace heteroscope {

namespace {

Error problem(const std::string& name, const std::string& what, ErrorKind kind = ErrorKind::InvalidInput) {
    return Error{kind, fmt::format("{}: {}", name, what), name};
}

/// Bytes of the character that begins at `at`; 0 when it is no valid one (overlong forms and surrogates included).
std::size_t utf8Length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(at);
    const unsigned second = byte(at + 1);
    if (first < 0x80U) return 1;
    if (first >= 0xC2U && first <= 0xDFU) return continues(at + 1) ? 2 : 0;
    if (first >= 0xE0U && first <= 0xEFU) {
        if (!continues(at + 1) || !continues(at + 2)) return 0;
        if ((first == 0xE0U && second < 0xA0U) || (first == 0xEDU && second > 0x9FU)) return 0;
        return 3;
    }
    if (first >= 0xF0U && first <= 0xF4U) {
        if (!continues(at + 1) || !continues(at + 2) || !continues(at + 3)) return 0;
        if ((first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU)) return 0;
        return 4;
    }
    return 0;
}

std::string utf8FromLatin1(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        const auto value = static_cast<unsigned char>(c);
        if (value < 0x80U) {
            out += c;
        } else {
            out += static_cast<char>(0xC0U | (value >> 6U));
            out += static_cast<char>(0x80U | (value & 0x3FU));
        }
    }
    return out;
}

/// \r\n becomes \n; a lone \r stays.
void withoutCarriageReturns(std::string& text) {
    std::size_t from = text.find("\r\n");
    if (from == std::string::npos) return;
    std::size_t kept = from;
    while (from < text.size()) {
        const std::size_t next = std::min(text.find("\r\n", from + 1), text.size());
        std::memmove(text.data() + kept, text.data() + from + 1, next - from - 1);
        kept += next - from - 1;
        from = next;
    }
    text.resize(kept);
}

}  // namespace

bool isUtf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        // Most text is ASCII: eight characters at a time.
        std::uint64_t eight = 0;
        if (text.size() - at >= sizeof eight) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            if ((eight & 0x8080808080808080U) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        const std::size_t length = utf8Length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::filesystem::path absolutePath(const std::filesystem::path& path, const std::filesystem::path& base) {
    const std::filesystem::path joined = base / path;
    std::error_code code;
    const std::filesystem::path whole = std::filesystem::absolute(joined, code);
    if (code) return joined;
    const bool climbs = std::find(whole.begin(), whole.end(), std::filesystem::path("..")) != whole.end();
    return climbs ? whole : whole.lexically_normal();
}

Result<TextFile> normalisedText(std::string bytes, const std::string& name) {
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
        return problem(name, "is UTF-16 text; UTF-8 is expected");
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
    if (bytes.find('\0') != std::string::npos) return problem(name, "is a binary file, text is expected");
    TextFile file;
    file.latin1 = !isUtf8(bytes);
    file.text = file.latin1 ? utf8FromLatin1(bytes) : std::move(bytes);
    withoutCarriageReturns(file.text);
    return file;
}

Result<TextFile> readTextFile(const std::filesystem::path& path, std::uint64_t limitBytes) {
    const std::string name = path.string();
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status))
        return problem(name, code && code != std::errc::no_such_file_or_directory ? code.message() : "no such file", ErrorKind::Io);
    if (std::filesystem::is_directory(status)) return problem(name, "is a folder, a file is expected", ErrorKind::Io);
    if (!std::filesystem::is_regular_file(status)) return problem(name, "is not a regular file", ErrorKind::Io);
    const std::uint64_t size = std::filesystem::file_size(path, code);
    if (code) return problem(name, code.message(), ErrorKind::Io);
    if (size > limitBytes)
        return problem(name, fmt::format("has {}, {} is the most that is read", formatBytes(size), formatBytes(limitBytes)));
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return problem(name, errno != 0 ? std::strerror(errno) : "cannot be opened", ErrorKind::Io);
    std::string bytes(size, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    if (file.gcount() != static_cast<std::streamsize>(size)) return problem(name, "changed while it was read", ErrorKind::Io);
    return normalisedText(std::move(bytes), name);
}

}  // namespace heteroscope
