#pragma once

#include "devices/telemetry/small_file.h"

namespace heteroscope::telemetry {

/// The host's memory from /proc/meminfo. Used is what a program could not get: MemTotal − MemAvailable.
struct MemoryUsage {
    Reading used;
    Reading total;

    static MemoryUsage sample(const std::string& root, TimePoint now);
};

}  // namespace heteroscope::telemetry
