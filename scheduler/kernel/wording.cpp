#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace heteroscope {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        beforeLast = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], beforeLast[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string formatBytes(std::uint64_t bytes) {
    static constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{}\u2009B", bytes);
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024.0;
        ++unit;
    }
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}\u2009{}", value, decimals, units[unit]);
}

std::string formatNumber(double value) { return fmt::format("{}", value); }

std::string nearestName(std::string_view name, const std::vector<std::string>& known) {
    // A third of the letters may be wrong; names far longer than any real one are not worth comparing.
    if (name.empty() || name.size() > 64) return {};
    std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
    const std::string* nearest = nullptr;
    for (const std::string& candidate : known) {
        if (candidate.size() > name.size() + best || name.size() > candidate.size() + best) continue;
        const std::size_t distance = editDistance(name, candidate);
        if (distance < best && distance < candidate.size()) {
            best = distance;
            nearest = &candidate;
        }
    }
    return nearest ? *nearest : std::string{};
}

std::string hintFor(std::string_view name, const std::vector<std::string>& known) {
    if (const std::string nearest = nearestName(name, known); !nearest.empty())
        return fmt::format("; did you mean \"{}\"?", nearest);
    if (known.empty() || known.size() > 20) return {};
    return fmt::format("; known: {}", fmt::join(known, ", "));
}

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string shortened(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return std::string(text);
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
    return std::string(text.substr(0, end)) + "…";
}

bool isIdentifier(std::string_view text) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
}

std::vector<std::string> splitAtCommas(std::string_view text) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')') --depth;
        if (text[i] == ',' && depth == 0) {
            parts.emplace_back(trimmed(text.substr(start, i - start)));
            start = i + 1;
        }
    }
    parts.emplace_back(trimmed(text.substr(start)));
    return parts;
}

}  // namespace heteroscope
