#include "devices/telemetry/cpu_sensors.h"

#include <algorithm>
#include <cctype>

namespace heteroscope::telemetry {
namespace {

constexpr const char* cpufreqSource = "cpufreq scaling_cur_freq";
constexpr const char* hwmonSource = "hwmon";
constexpr const char* raplSource = "RAPL energy_uj";

bool isNumbered(const std::string& name, std::size_t prefix) {
    return name.size() > prefix && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix), name.end(),
                                               [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Which of a chip's sensors stand for the package: k10temp's Tdie or Tctl, coretemp's "Package id 0".
bool isPackageLabel(const std::string& label) { return label == "Tdie" || label == "Tctl" || label.starts_with("Package id"); }

struct Temperature {
    std::optional<double> celsius;
    ReadingState state = ReadingState::NotSupported;
};

Temperature chipTemperature(const std::string& chip) {
    Temperature result;
    for (const std::string& name : entriesOf(chip, "temp")) {
        if (!name.ends_with("_input")) continue;
        const SmallFile label = SmallFile::read(chip + "/" + name.substr(0, name.size() - 5) + "label");
        // Without labels the first sensor of these chips is the package.
        const bool package = label.state == ReadingState::Known ? isPackageLabel(label.word()) : name == "temp1_input";
        if (!package) continue;
        const SmallFile input = SmallFile::read(chip + "/" + name);
        if (const std::optional<std::int64_t> millidegrees = input.number()) {
            result.celsius = std::max(result.celsius.value_or(-1e9), static_cast<double>(*millidegrees) / 1000.0);
        } else if (input.state == ReadingState::NoPermission) {
            result.state = ReadingState::NoPermission;
        }
    }
    return result;
}

}  // namespace

Reading sampleCpuClock(const std::string& root, TimePoint now) {
    const std::string folder = root + "/sys/devices/system/cpu";
    double sum = 0;
    int count = 0;
    ReadingState state = ReadingState::NotSupported;
    for (const std::string& cpu : entriesOf(folder, "cpu")) {
        if (!isNumbered(cpu, 3)) continue;
        const SmallFile file = SmallFile::read(folder + "/" + cpu + "/cpufreq/scaling_cur_freq");
        if (file.state == ReadingState::NoPermission) state = ReadingState::NoPermission;
        const std::optional<std::int64_t> kilohertz = file.number();
        if (!kilohertz || *kilohertz <= 0) continue;
        sum += static_cast<double>(*kilohertz) * 1000.0;
        ++count;
    }
    if (count == 0) return absent(state, "Hz", cpufreqSource, now);
    return known(sum / count, "Hz", cpufreqSource, now);
}

Reading sampleCpuTemperature(const std::string& root, TimePoint now) {
    const std::string folder = root + "/sys/class/hwmon";
    std::optional<double> hottest;
    std::string source = hwmonSource;
    ReadingState state = ReadingState::NotSupported;
    for (const std::string& chip : entriesOf(folder, "hwmon")) {
        const std::string name = SmallFile::read(folder + "/" + chip + "/name").word();
        if (name != "k10temp" && name != "zenpower" && name != "coretemp") continue;
        const Temperature temperature = chipTemperature(folder + "/" + chip);
        if (temperature.state == ReadingState::NoPermission) state = temperature.state;
        if (!temperature.celsius || (hottest && *hottest >= *temperature.celsius)) continue;
        hottest = temperature.celsius;
        source = std::string(hwmonSource) + " " + name;
    }
    if (!hottest) return absent(state, "degC", source, now);
    return known(*hottest, "degC", source, now);
}

/// Nothing where a counter has come, gone or cannot be compared.
std::optional<double> CpuPower::stepJoule(const Counters& before, const Counters& now) {
    double joule = 0;
    for (const auto& [domain, counter] : now) {
        const auto old = before.find(domain);
        if (old == before.end()) return std::nullopt;
        std::int64_t step = counter.microjoule - old->second.microjoule;
        if (step < 0) step += counter.range + 1;
        if (step < 0) return std::nullopt;
        joule += static_cast<double>(step) * 1e-6;
    }
    return joule;
}

std::optional<Reading> CpuPower::sample(const std::string& root, TimePoint now) {
    const std::string folder = root + "/sys/class/powercap";
    Counters counters;
    ReadingState state = ReadingState::NotSupported;
    for (const std::string& domain : entriesOf(folder, "intel-rapl:")) {
        // Packages only: "intel-rapl:0:0" is a part of one, and "psys" counts the whole board.
        const std::string path = folder + "/" + domain;
        if (!isNumbered(domain, 11) || !SmallFile::read(path + "/name").word().starts_with("package-")) continue;
        const SmallFile energy = SmallFile::read(path + "/energy_uj");
        if (const std::optional<std::int64_t> microjoule = energy.number()) {
            counters[domain] = {*microjoule, SmallFile::read(path + "/max_energy_range_uj").number().value_or(0)};
        } else {
            state = energy.state == ReadingState::NoPermission ? energy.state : state;
        }
    }
    if (counters.empty() || state == ReadingState::NoPermission) {
        previous_.clear();
        return absent(state, "W", raplSource, now);
    }
    const double seconds = std::chrono::duration<double>(now - previousTime_).count();
    // Two looks in one update of the counters (about 1 ms) would say nothing.
    if (!previous_.empty() && seconds < 0.005) return last_;
    const std::optional<double> joule = previous_.empty() ? std::nullopt : stepJoule(previous_, counters);
    previous_ = std::move(counters);
    previousTime_ = now;
    if (joule) last_ = known(*joule / seconds, "W", raplSource, now);
    return joule ? last_ : std::nullopt;
}

}  // namespace heteroscope::telemetry
