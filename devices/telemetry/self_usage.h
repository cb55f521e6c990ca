#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace heteroscope {

/// What this program itself costs, for the status bar. One thread.
class SelfUsage {
public:
    struct Values {
        std::optional<double> cpuShare;  ///< of one core: 1.0 is one core fully used. Empty at the first look
        std::optional<std::uint64_t> residentBytes;
    };

    /// Asks the process clock and reads one line of /proc/self/statm; does not block.
    Values sample();

private:
    std::optional<std::chrono::nanoseconds> previousCpu_;
    std::chrono::steady_clock::time_point previousTime_{};
    std::optional<double> lastShare_;
};

}  // namespace heteroscope
