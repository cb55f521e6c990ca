#pragma once

#include "devices/telemetry/small_file.h"

#include <array>

namespace heteroscope::telemetry {

/// Share of time that the processors were busy between two looks at /proc/stat. Busy is what is neither idle nor
/// iowait; guest time is in user time already and not counted again. One thread.
class CpuUsage {
public:
    /// Nothing at the first look. When no tick has passed since the last one, its value again.
    std::optional<Reading> sample(const std::string& root, TimePoint now);

private:
    using Ticks = std::array<std::int64_t, 8>;  // user nice system idle iowait irq softirq steal

    static std::optional<Ticks> parse(const std::string& text);

    std::optional<Ticks> previous_;
    std::optional<Reading> last_;
};

}  // namespace heteroscope::telemetry
