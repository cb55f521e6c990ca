#pragma once

#include "devices/telemetry/small_file.h"

#include <map>

namespace heteroscope::telemetry {

/// Mean of all processors' scaling_cur_freq, in Hz.
Reading sampleCpuClock(const std::string& root, TimePoint now);

/// The hottest package as hwmon's k10temp, zenpower or coretemp has it, in degrees Celsius.
Reading sampleCpuTemperature(const std::string& root, TimePoint now);

/// Power of all packages from RAPL's energy counters (also on AMD), in watts. The counters are readable by root
/// alone since Linux 5.10: that is "no permission", never 0 W. One thread.
class CpuPower {
public:
    /// Nothing at the first look: power is a difference.
    std::optional<Reading> sample(const std::string& root, TimePoint now);

private:
    struct Counter {
        std::int64_t microjoule = 0;
        std::int64_t range = 0;  // where it wraps
    };
    using Counters = std::map<std::string, Counter>;  // by domain

    static std::optional<double> stepJoule(const Counters& before, const Counters& now);

    Counters previous_;
    TimePoint previousTime_{};
    std::optional<Reading> last_;
};

}  // namespace heteroscope::telemetry
