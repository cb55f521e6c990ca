#include "devices/opencl/include_scan.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace heteroscope::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxFiles = 4096;
constexpr std::size_t maxBytes = 64u << 20;

struct Include {
    std::string name;
    bool quoted = false;
};

/// Joins continued lines and blanks out comments, so that a directive is one line. Strings are kept whole: a
/// "//" in one starts no comment.
std::string withoutComments(const std::string& text) {
    std::string joined;
    joined.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
            ++i;
        } else if (text[i] == '\\' && text.compare(i + 1, 2, "\r\n") == 0) {
            i += 2;
        } else {
            joined += text[i];
        }
    }
    std::string out;
    out.reserve(joined.size());
    for (std::size_t i = 0; i < joined.size(); ++i) {
        const char c = joined[i];
        const char next = i + 1 < joined.size() ? joined[i + 1] : '\0';
        if (c == '/' && next == '/') {
            while (i + 1 < joined.size() && joined[i + 1] != '\n') ++i;
        } else if (c == '/' && next == '*') {
            const std::size_t end = joined.find("*/", i + 2);
            out += ' ';
            if (end == std::string::npos) break;
            i = end + 1;
        } else if (c == '"' || c == '\'') {
            out += c;
            while (i + 1 < joined.size() && joined[i + 1] != c && joined[i + 1] != '\n') {
                if (joined[i + 1] == '\\' && i + 2 < joined.size()) out += joined[++i];
                out += joined[++i];
            }
            if (i + 1 < joined.size() && joined[i + 1] == c) out += joined[++i];
        } else {
            out += c;
        }
    }
    return out;
}

std::size_t skipBlanks(const std::string& text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at;
}

/// The includes of one file. False when one is computed and cannot be known here.
bool listIncludes(const std::string& text, std::vector<Include>& includes) {
    // The directive itself may be spelt with a digraph, and its name in a raw string would be no directive at
    // all: that only adds a file to the key.
    const std::string plain = withoutComments(text);
    std::size_t line = 0;
    while (line < plain.size()) {
        const std::size_t end = std::min(plain.find('\n', line), plain.size());
        std::size_t at = skipBlanks(plain, line);
        const bool hash = at < end && plain[at] == '#';
        const bool digraph = plain.compare(at, 2, "%:") == 0;
        line = end + 1;
        if (!hash && !digraph) continue;
        at = skipBlanks(plain, at + (hash ? 1 : 2));
        std::size_t word = 0;
        for (const char* directive : {"include_next", "include", "import"}) {
            const std::string name = directive;
            if (plain.compare(at, name.size(), name) == 0) {
                word = name.size();
                break;
            }
        }
        if (word == 0) {
            if (plain.substr(at, end - at).find("__has_include") != std::string::npos) return false;
            continue;
        }
        at = skipBlanks(plain, at + word);
        if (at >= end || (plain[at] != '"' && plain[at] != '<')) return false;
        const bool quoted = plain[at] == '"';
        const std::size_t close = plain.find(quoted ? '"' : '>', at + 1);
        if (close == std::string::npos || close > end) return false;
        includes.push_back({plain.substr(at + 1, close - at - 1), quoted});
    }
    return true;
}

std::optional<std::string> readFile(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

class Closure {
public:
    explicit Closure(const std::vector<std::string>& folders) : folders_(folders) {}

    bool add(const std::string& text, const fs::path& folder) {
        std::vector<Include> includes;
        if (!listIncludes(text, includes)) return false;
        for (const Include& include : includes) {
            if (include.quoted && !folder.empty() && !addCandidate(folder / include.name)) return false;
            // Every candidate counts, not only the first: #include_next and a file that appears earlier in the
            // search order are covered without knowing the order.
            for (const std::string& searched : folders_)
                if (!addCandidate(fs::path(searched) / include.name)) return false;
        }
        return true;
    }

    std::string key;

private:
    bool addCandidate(const fs::path& path) {
        if (!seen_.insert(path.string()).second) return true;
        if (seen_.size() > maxFiles || key.size() > maxBytes) return false;
        const std::optional<std::string> content = readFile(path);
        key += path.string();
        key += '\0';
        key += content ? std::to_string(content->size()) : "-";
        key += '\0';
        if (!content) return true;
        key += *content;
        return add(*content, path.parent_path());
    }

    const std::vector<std::string>& folders_;
    std::set<std::string> seen_;
};

}  // namespace

std::optional<std::string> includeClosure(const std::string& text, const std::vector<std::string>& folders) {
    Closure closure(folders);
    if (!closure.add(text, {})) return std::nullopt;
    return std::move(closure.key);
}

}  // namespace heteroscope::opencl
