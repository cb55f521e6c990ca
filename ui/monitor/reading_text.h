#pragma once

#include "devices/telemetry/telemetry.h"

#include <QString>

#include <chrono>
#include <optional>
#include <vector>

namespace heteroscope {

/// One value of a card as it is written: figure, small unit, label, and the state in words when it is not there.
struct ReadingText {
    QString value;  ///< "61.2", or "—"
    QString unit;   ///< "/ 140 GiB"
    QString label;  ///< "memory"
    QString state;  ///< "not reported", "no permission", "4 s old", "own event profile"; may be empty
    QString source; ///< for the tooltip and for how to allow it
    bool forbidden = false;
    std::optional<double> number;  ///< in the reading's unit, when it is known
};

/// The five values of a processor, in their order on the card: utilisation, memory, power, temperature, clock.
/// `frames` are the latest of the devices that share the processor (none yet: every value is absent).
/// `now` is for the age of stale values.
std::vector<ReadingText> readingTexts(const std::vector<TelemetryFrame>& frames, std::chrono::steady_clock::time_point now);

/// The first frame that knows the metric; else the first that mentions it.
const Reading* bestReading(const std::vector<TelemetryFrame>& frames, std::string_view name);
/// Utilisation of the processor, or our own event profile where there is no counter.
const Reading* utilisationReading(const std::vector<TelemetryFrame>& frames);
bool hasValue(const Reading* reading);

}  // namespace heteroscope
