#include "devices/opencl/build_log.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heteroscope::opencl {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Length of the valid UTF-8 sequence at `at`, 0 when there is none.
std::size_t sequenceLength(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(at + i) & 0xC0) != 0x80) return 0;
    const unsigned char second = byte(at + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
        return 0;
    return length;
}

std::string validUtf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = text[at] == '\0' ? 0 : sequenceLength(text, at);
        if (length == 0) {
            out += "\xEF\xBF\xBD";  // U+FFFD
            ++at;
        } else {
            out += text.substr(at, length);
            at += length;
        }
    }
    return out;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(trimmed(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

struct Place {
    std::string_view file;
    int line = 0;
};

std::optional<int> numberOf(std::string_view digits) {
    int value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    return value;
}

/// Cuts ":123" from the end.
std::optional<int> cutNumber(std::string_view& text) {
    std::size_t digits = text.size();
    while (digits > 0 && isDigit(text[digits - 1])) --digits;
    if (digits == 0 || text[digits - 1] != ':') return std::nullopt;
    const std::optional<int> number = numberOf(text.substr(digits));
    if (number) text = text.substr(0, digits - 1);
    return number;
}

/// "FILE:LINE:COLUMN", "FILE:LINE", "FILE(LINE)", "\"FILE\", line LINE".
std::optional<Place> parsePlace(std::string_view text) {
    text = trimmed(text);
    if (const std::optional<int> last = cutNumber(text)) {
        std::string_view shorter = text;
        if (const std::optional<int> line = cutNumber(shorter)) return Place{shorter, *line};
        if (!shorter.empty() && isDigit(shorter.back()) && shorter.find(':') != std::string_view::npos) return std::nullopt;
        // "1:3": Mesa and Intel number the sources; a bare number before is such a name, and a line follows.
        return Place{text, *last};
    }
    if (text.ends_with(')')) {
        const std::size_t open = text.rfind('(');
        if (open == std::string_view::npos) return std::nullopt;
        std::string_view inside = text.substr(open + 1, text.size() - open - 2);
        inside = inside.substr(0, inside.find(','));
        if (const std::optional<int> line = numberOf(inside)) return Place{text.substr(0, open), *line};
    }
    constexpr std::string_view edg = "\", line ";
    const std::size_t mark = text.rfind(edg);
    if (text.starts_with('"') && mark != std::string_view::npos)
        if (const std::optional<int> line = numberOf(text.substr(mark + edg.size())))
            return Place{text.substr(1, mark - 1), *line};
    return std::nullopt;
}

/// "FILE:3:5: …" after the user's own name, whatever that name holds.
std::optional<LogPlace> parseOwnFile(std::string_view text, const std::string& file) {
    if (file.empty() || !text.starts_with(file) || text.substr(file.size(), 1) != ":") return std::nullopt;
    std::string_view rest = text.substr(file.size());
    const std::size_t end = rest.find(": ");
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view numbers = rest.substr(0, end);
    std::optional<int> line = cutNumber(numbers);
    if (line && !numbers.empty()) line = cutNumber(numbers);
    if (!line || !numbers.empty()) return std::nullopt;
    return LogPlace{file, *line, std::string(rest.substr(end + 2))};
}

/// PoCL's "error: FILE:LINE:COLUMN: MESSAGE"; the first ":n:n: " ends the file's name.
std::optional<LogPlace> parseLeadingError(std::string_view line, const std::string& file) {
    for (const std::string_view prefix : {"fatal error: ", "error: "}) {
        if (!line.starts_with(prefix)) continue;
        const std::string_view rest = line.substr(prefix.size());
        if (std::optional<LogPlace> own = parseOwnFile(rest, file)) return own;
        for (std::size_t end = rest.find(": "); end != std::string_view::npos; end = rest.find(": ", end + 1)) {
            std::string_view head = rest.substr(0, end);
            if (!cutNumber(head)) continue;
            const std::optional<int> number = cutNumber(head);
            if (number) return LogPlace{std::string(head), *number, std::string(rest.substr(end + 2))};
        }
        return LogPlace{{}, 0, std::string(rest)};
    }
    return std::nullopt;
}

std::optional<LogPlace> parseClangError(std::string_view line, const std::string& file) {
    if (std::optional<LogPlace> own = parseOwnFile(line, file)) {
        for (const std::string_view mark : {"error: ", "fatal error: ", "catastrophic error: "})
            if (own->message.starts_with(mark)) return LogPlace{file, own->line, own->message.substr(mark.size())};
        return std::nullopt;  // a warning, a note
    }
    for (const std::string_view mark : {": error: ", ": fatal error: ", ": catastrophic error: "}) {
        const std::size_t at = line.find(mark);
        if (at == std::string_view::npos) continue;
        const std::optional<Place> place = parsePlace(line.substr(0, at));
        if (!place) continue;
        return LogPlace{std::string(place->file), place->line, std::string(line.substr(at + mark.size()))};
    }
    return std::nullopt;
}

bool isCompilersOwnName(std::string_view file) {
    return file.empty() || (file.front() == '<' && file.back() == '>') || std::ranges::all_of(file, isDigit) ||
           file.find("/tempfile_") != std::string_view::npos || file.starts_with("/tmp/OCL");
}

/// "<kernel>:4:10: error: …" → "mine.cl:3:10: error: …".
std::string withOwnName(std::string_view line, const LogNames& names) {
    std::string_view kind;
    for (const std::string_view prefix : {"error: ", "fatal error: ", "warning: ", "note: "})
        if (line.starts_with(prefix)) kind = line.substr(0, prefix.size());
    const std::string_view rest = line.substr(kind.size());
    const std::size_t nameEnd = rest.find(':');
    if (nameEnd == std::string_view::npos) return std::string(line);
    const std::string_view name = rest.substr(0, nameEnd);
    const std::size_t numberEnd = std::min(rest.find(':', nameEnd + 1), rest.size());
    const std::optional<int> number = numberOf(rest.substr(nameEnd + 1, numberEnd - nameEnd - 1));
    const bool columnFollows = numberEnd + 1 < rest.size() && isDigit(rest[numberEnd + 1]);
    // A bare number is a name only where line and column follow: "1:12:3: error".
    if (!number || !isCompilersOwnName(name) || (!name.empty() && isDigit(name.front()) && !columnFollows)) return std::string(line);
    const int own = *number - names.linesBefore;
    return std::string(kind) + (own > 0 ? names.file + ':' + std::to_string(own) : std::string(optionsName)) + std::string(rest.substr(numberEnd));
}

bool isDriversOwnRemark(std::string_view line) {
    return line.starts_with("(): Warning: Function ") && line.ends_with("The function may be inlined when called.");
}

/// What a log without a place says: its first two lines of substance.
std::string firstWords(const std::vector<std::string_view>& lines) {
    std::string words;
    int taken = 0;
    for (const std::string_view line : lines) {
        if (line.empty() || (line.starts_with("Device ") && line.ends_with("failed to build the program"))) continue;
        if (taken > 0) words += ' ';
        words += line.substr(0, 300);
        if (++taken == 2) break;
    }
    return words;
}

}  // namespace

std::string readableLog(std::string log, const LogNames& names) {
    for (const FolderAlias& alias : names.folders)
        if (alias.given != alias.folder) replaceAll(log, alias.given, alias.folder);
    std::string out;
    for (std::string_view rest = log; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!isDriversOwnRemark(line)) out += withOwnName(line, names) + '\n';
    }
    while (!out.empty() && (out.back() == '\n' || out.back() == ' ' || out.back() == '\0' || out.back() == '\r')) out.pop_back();
    out.erase(0, std::min(out.find_first_not_of("\n\r "), out.size()));
    return validUtf8(out);
}

LogPlace firstError(const std::string& log, const std::string& sourceFile) {
    const std::vector<std::string_view> lines = linesOf(log);
    std::optional<LogPlace> placeless;
    for (const std::string_view line : lines) {
        std::optional<LogPlace> found = parseLeadingError(line, sourceFile);
        if (!found) found = parseClangError(line, sourceFile);
        if (!found) continue;
        if (found->line == 0) {
            if (!placeless) placeless = std::move(found);
            continue;
        }
        if (isCompilersOwnName(found->file)) found->file = sourceFile;
        return *found;
    }
    if (placeless) return *placeless;
    return {{}, 0, firstWords(lines)};
}

}  // namespace heteroscope::opencl
