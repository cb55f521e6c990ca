#include "devices/telemetry/own_profile.h"

#include <algorithm>
#include <utility>

namespace heteroscope::telemetry {

std::optional<Reading> OwnProfile::sample(std::chrono::nanoseconds busy, TimePoint now) {
    if (previous_ && now - previousTime_ < std::chrono::milliseconds(1)) return last_;
    const std::optional<std::chrono::nanoseconds> before = std::exchange(previous_, busy);
    const TimePoint then = std::exchange(previousTime_, now);
    if (!before) return std::nullopt;
    const double share = std::chrono::duration<double>(busy - *before) / std::chrono::duration<double>(now - then);
    last_ = known(std::clamp(share, 0.0, 1.0), "ratio", source, now);
    return last_;
}

}  // namespace heteroscope::telemetry
