#include "devices/telemetry/telemetry.h"

namespace heteroscope {

std::string_view toString(ReadingState state) {
    switch (state) {
        case ReadingState::Known: return "known";
        case ReadingState::NotSupported: return "not supported";
        case ReadingState::NoPermission: return "no permission";
        case ReadingState::Stale: return "stale";
        case ReadingState::Asleep: return "asleep";
        case ReadingState::Lost: return "lost";
    }
    return {};
}

const Reading* TelemetryFrame::find(std::string_view name) const {
    for (const NamedReading& named : readings)
        if (named.name == name) return &named.reading;
    return nullptr;
}

}  // namespace heteroscope
