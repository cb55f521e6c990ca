#include "devices/telemetry/cpu_usage.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace heteroscope::telemetry {
namespace {

constexpr std::size_t idle = 3, iowait = 4;

}  // namespace

std::optional<CpuUsage::Ticks> CpuUsage::parse(const std::string& text) {
    std::istringstream line(text.substr(0, text.find('\n')));
    std::string name;
    Ticks ticks{};
    if (!(line >> name) || name != "cpu") return std::nullopt;
    // Old kernels end after iowait; what they do not count stays 0.
    std::size_t read = 0;
    while (read < ticks.size() && line >> ticks[read]) ++read;
    if (read <= idle) return std::nullopt;
    return ticks;
}

std::optional<Reading> CpuUsage::sample(const std::string& root, TimePoint now) {
    const SmallFile file = SmallFile::read(root + "/proc/stat");
    const std::optional<Ticks> ticks = file.state == ReadingState::Known ? parse(file.text) : std::nullopt;
    if (!ticks) {
        if (!last_) return absent(file.state == ReadingState::Known ? ReadingState::NotSupported : file.state, "ratio", "/proc/stat", now);
        last_->state = ReadingState::Stale;
        return last_;
    }
    const std::optional<Ticks> before = std::exchange(previous_, ticks);
    if (!before) return std::nullopt;
    // iowait may go back, and all of them do when a processor is taken out: such a step counts as none.
    double total = 0, unused = 0;
    for (std::size_t i = 0; i < ticks->size(); ++i) {
        const double step = static_cast<double>(std::max<std::int64_t>((*ticks)[i] - (*before)[i], 0));
        total += step;
        if (i == idle || i == iowait) unused += step;
    }
    if (total > 0) last_ = known((total - unused) / total, "ratio", "/proc/stat", now);
    return last_;
}

}  // namespace heteroscope::telemetry
