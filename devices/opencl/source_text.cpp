#include "devices/opencl/source_text.h"

#include "devices/opencl/folder_alias.h"
#include "devices/opencl/include_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <functional>

namespace heteroscope::opencl {
namespace {

namespace fs = std::filesystem;

/// "mine.cl", or what stands in for a source that came from no file.
std::string nameOf(const ProgramSource& source) { return source.file.empty() ? "(source)" : source.file; }

Result<std::string> plainText(const ProgramSource& source) {
    const std::string& raw = source.text;
    if (raw.starts_with("\xFF\xFE") || raw.starts_with("\xFE\xFF"))
        return Error{ErrorKind::InvalidInput, nameOf(source) + " is UTF-16 text: save it as UTF-8", source.file};
    std::string text;
    text.reserve(raw.size() + 1);
    for (std::size_t at = raw.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < raw.size(); ++at) {
        if (raw[at] == '\0') {
            const int line = 1 + static_cast<int>(std::ranges::count(text, '\n'));
            return Error{ErrorKind::InvalidInput,
                         fmt::format("{} is no text: line {} has a zero byte", nameOf(source), line), source.file, line};
        }
        if (raw[at] == '\r') {
            if (at + 1 < raw.size() && raw[at + 1] == '\n') continue;
            text += '\n';
        } else {
            text += raw[at];
        }
    }
    if (text.find_first_not_of(" \t\n") == std::string::npos)
        return Error{ErrorKind::InvalidInput, nameOf(source) + " is empty", source.file};
    if (text.back() != '\n') text += '\n';
    return text;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// What the options say, sorted by what becomes of them.
struct SortedOptions {
    std::vector<std::string> line;     // go into the option line
    std::vector<std::string> defines;  // become #define lines
    std::vector<std::string> folders;
};

bool fitsOptionLine(const std::string& definition) {
    return std::ranges::all_of(definition, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '=' || c == '.';
    });
}

/// NAME, NAME=…, NAME(a,b)=…
bool definesMacro(const std::string& definition) {
    const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); };
    std::size_t end = 0;
    while (end < definition.size() && isWord(definition[end])) ++end;
    if (end == 0 || std::isdigit(static_cast<unsigned char>(definition[0]))) return false;
    if (end < definition.size() && definition[end] == '(') end = std::min(definition.find(')', end), definition.size() - 1) + 1;
    return end == definition.size() || definition[end] == '=';
}

std::string asDirective(const std::string& definition) {
    const std::size_t equals = definition.find('=');
    if (equals == std::string::npos) return "#define " + definition + " 1\n";
    return "#define " + definition.substr(0, equals) + " " + definition.substr(equals + 1) + "\n";
}

void addWords(const std::string& option, std::vector<std::string>& line) {
    for (std::size_t at = option.find_first_not_of(" \t"); at != std::string::npos;) {
        const std::size_t end = std::min(option.find_first_of(" \t", at), option.size());
        const std::string word = option.substr(at, end - at);
        // "-cl-nv-maxrregcount 32": a word that is no option is the value of the one before.
        if (!line.empty() && !word.starts_with('-')) {
            line.back() += ' ' + word;
        } else {
            line.push_back(word);
        }
        at = option.find_first_not_of(" \t", end);
    }
}

Result<SortedOptions> sortOptions(const ProgramSource& source) {
    SortedOptions sorted;
    for (std::size_t i = 0; i < source.options.size(); ++i) {
        const std::string option = trimmed(source.options[i]);
        if (option.empty()) continue;
        if (option.find_first_of(std::string("\n\r\0", 3)) != std::string::npos)
            return Error{ErrorKind::InvalidInput, fmt::format("build option '{}' holds a line break", option)};
        const std::string head = option.substr(0, 2);
        if (head != "-D" && head != "-I") {
            addWords(option, sorted.line);
            continue;
        }
        std::string value = trimmed(option.substr(2));
        if (value.empty() && i + 1 < source.options.size()) value = trimmed(source.options[++i]);
        if (value.empty())
            return Error{ErrorKind::InvalidInput, fmt::format("build option {} has no value", head)};
        if (head == "-D" && !definesMacro(value))
            return Error{ErrorKind::InvalidInput, fmt::format("build option -D {}: a macro's name was expected", value)};
        if (head == "-I") {
            sorted.folders.push_back(value);
        } else if (fitsOptionLine(value)) {
            sorted.line.push_back("-D " + value);
        } else {
            sorted.defines.push_back(asDirective(value));
        }
    }
    return sorted;
}

std::string absolute(const std::string& folder) {
    std::error_code failure;
    const fs::path path = fs::absolute(folder, failure);
    return failure ? folder : path.string();
}

/// In the order of the search: where the file lies, then what was given.
std::vector<std::string> includeFolders(const ProgramSource& source, const std::vector<std::string>& fromOptions) {
    std::vector<std::string> folders;
    const auto add = [&](const std::string& folder) {
        const std::string path = absolute(folder);
        if (!folder.empty() && std::ranges::find(folders, path) == folders.end()) folders.push_back(path);
    };
    if (!source.file.empty()) {
        const fs::path parent = fs::path(absolute(source.file)).parent_path();
        std::error_code failure;
        if (fs::is_directory(parent, failure)) add(parent.string());
    }
    for (const std::string& folder : source.includeDirs) add(folder);
    for (const std::string& folder : fromOptions) add(folder);
    return folders;
}

std::uint64_t uniqueNumber() {
    static std::atomic<std::uint64_t> counter{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return static_cast<std::uint64_t>(now) + ++counter;
}

}  // namespace

std::string CompilerInput::optionLine() const {
    std::string line;
    for (const std::string& option : options) line += option + ' ';
    for (const FolderAlias& folder : folders) line += "-I " + folder.given + ' ';
    if (!line.empty()) line.pop_back();
    return line;
}

CompilerInput CompilerInput::pastCaches() const {
    CompilerInput fresh = *this;
    // Not a comment: PoCL's cache goes by the text as preprocessed.
    fresh.text = fmt::format("typedef int heteroscope_{:x};\n", uniqueNumber()) + text;
    ++fresh.linesBefore;
    return fresh;
}

Result<CompilerInput> prepareSource(const ProgramSource& source) {
    Result<std::string> text = plainText(source);
    if (!text) return text.error();
    Result<SortedOptions> sorted = sortOptions(source);
    if (!sorted) return sorted.error();

    CompilerInput input;
    const std::vector<std::string> folders = includeFolders(source, sorted->folders);
    const std::optional<std::string> closure = includeClosure(*text, folders);

    // Drivers keep caches of their own, and NVIDIA's does not look into included files: what they hold goes
    // into the text, so that a changed header is a changed source.
    std::string mark;
    if (!closure) {
        mark = fmt::format("/* {:x} */\n", uniqueNumber());
    } else if (!closure->empty()) {
        mark = fmt::format("/* {:x} */\n", std::hash<std::string>{}(*closure));
    }
    input.text = mark;
    for (const std::string& define : sorted->defines) input.text += define;
    input.text += "#line 1 " + quoted(nameOf(source)) + '\n';
    input.linesBefore = static_cast<int>(std::ranges::count(input.text, '\n'));
    input.text += *text;
    input.options = std::move(sorted->line);
    // Without an include the folders would only make one program look like many to a driver's cache.
    const bool includesNothing = closure && closure->empty();
    for (const std::string& folder : includesNothing ? std::vector<std::string>{} : folders) input.folders.push_back({plainName(folder), folder});
    if (closure) input.key = input.optionLine() + '\0' + input.text + '\0' + *closure;
    return input;
}

}  // namespace heteroscope::opencl
