#pragma once

#include "devices/telemetry/small_file.h"

namespace heteroscope::telemetry {

/// Share of time that our own kernels ran on one device, from the runtime's event profile. Other programs' work is
/// not in it: shown with its source. One thread.
class OwnProfile {
public:
    static constexpr const char* source = "own event profile";

    /// Nothing at the first look; the last value again when next to no time has passed.
    std::optional<Reading> sample(std::chrono::nanoseconds busy, TimePoint now);

private:
    std::optional<std::chrono::nanoseconds> previous_;
    TimePoint previousTime_{};
    std::optional<Reading> last_;
};

}  // namespace heteroscope::telemetry
