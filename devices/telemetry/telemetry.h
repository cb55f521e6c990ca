#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

/// Is the value there, and if not, why.
enum class ReadingState { Known, NotSupported, NoPermission, Stale, Asleep, Lost };

std::string_view toString(ReadingState state);  // "known", "not supported", "no permission", "stale", "asleep", "lost"

/// One measured value: never a number that nobody measured.
struct Reading {
    ReadingState state = ReadingState::NotSupported;
    double value = 0.0;  ///< meaningful in state Known and Stale only
    std::string unit;    ///< "ratio" (0..1), "B", "W", "degC", "Hz"
    std::string source;  ///< "/proc/stat", "own event profile"
    std::chrono::steady_clock::time_point taken{};
};

/// Names of Reading::… in TelemetryFrame and in `monitor --json`.
namespace metric {
inline constexpr const char* utilisation = "utilisation";
inline constexpr const char* memoryUsed = "memory_used";
inline constexpr const char* memoryTotal = "memory_total";
inline constexpr const char* power = "power";
inline constexpr const char* temperature = "temperature";
inline constexpr const char* clock = "clock";
inline constexpr const char* computeBusy = "compute_busy";  ///< share of time our own kernels ran, from event profiling
}  // namespace metric

struct NamedReading {
    std::string name;
    Reading reading;
};

/// What one processor or device reported at one moment.
struct TelemetryFrame {
    std::string device;  ///< DeviceInfo::id
    std::chrono::system_clock::time_point time{};
    std::vector<NamedReading> readings;

    const Reading* find(std::string_view name) const;
};

class Device;

/// Samples every device on a thread of its own, one sampler for all views.
class TelemetrySampler {
public:
    using Listener = std::function<void(const std::vector<TelemetryFrame>&)>;

    /// `root` is the folder that stands for "/" (recorded trees in tests).
    explicit TelemetrySampler(std::string root = "/");
    ~TelemetrySampler();

    /// Any thread. The sampler keeps weak references only.
    void setDevices(std::vector<std::weak_ptr<Device>> devices);
    /// Calls `listener` on the sampling thread after each round. Any thread.
    void start(std::chrono::milliseconds interval, Listener listener);
    void stop();
    /// One round now, on the calling thread (blocks a few ms). The first round has no utilisation: it needs two.
    std::vector<TelemetryFrame> sampleOnce();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace heteroscope
