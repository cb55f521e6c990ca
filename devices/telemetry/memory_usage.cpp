#include "devices/telemetry/memory_usage.h"

#include <algorithm>
#include <cstdlib>

namespace heteroscope::telemetry {
namespace {

/// "MemTotal:       24590372 kB" → bytes.
std::optional<double> field(const std::string& text, const std::string& name) {
    std::size_t at = text.starts_with(name + ":") ? 0 : text.find("\n" + name + ":");
    if (at == std::string::npos) return std::nullopt;
    at = text.find(':', at) + 1;
    const char* start = text.c_str() + at;
    char* end = nullptr;
    const unsigned long long kibibytes = std::strtoull(start, &end, 10);
    if (end == start) return std::nullopt;
    return static_cast<double>(kibibytes) * 1024.0;
}

}  // namespace

MemoryUsage MemoryUsage::sample(const std::string& root, TimePoint now) {
    const SmallFile file = SmallFile::read(root + "/proc/meminfo");
    const ReadingState state = file.state == ReadingState::Known ? ReadingState::NotSupported : file.state;
    MemoryUsage usage{absent(state, "B", "/proc/meminfo", now), absent(state, "B", "/proc/meminfo", now)};
    const std::optional<double> total = field(file.text, "MemTotal"), available = field(file.text, "MemAvailable");
    if (total) usage.total = known(*total, "B", "/proc/meminfo", now);
    if (total && available) usage.used = known(std::max(*total - *available, 0.0), "B", "/proc/meminfo", now);
    return usage;
}

}  // namespace heteroscope::telemetry
