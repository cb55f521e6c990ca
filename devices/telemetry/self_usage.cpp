#include "devices/telemetry/self_usage.h"

#include "devices/telemetry/small_file.h"

#include <unistd.h>

#include <ctime>

namespace heteroscope {
namespace {

std::optional<std::chrono::nanoseconds> processTime() {
    timespec time{};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return std::nullopt;
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// "size resident shared …", in pages.
std::optional<std::uint64_t> residentBytes() {
    const std::string text = telemetry::SmallFile::read("/proc/self/statm").text;
    const std::size_t blank = text.find(' ');
    const long pageBytes = sysconf(_SC_PAGESIZE);
    if (blank == std::string::npos || pageBytes <= 0) return std::nullopt;
    const auto pages = telemetry::SmallFile{text.substr(blank + 1), ReadingState::Known}.number();
    if (!pages) return std::nullopt;
    return static_cast<std::uint64_t>(*pages) * static_cast<std::uint64_t>(pageBytes);
}

}  // namespace

SelfUsage::Values SelfUsage::sample() {
    const auto now = std::chrono::steady_clock::now();
    const std::optional<std::chrono::nanoseconds> cpu = processTime();
    if (cpu && previousCpu_ && now - previousTime_ >= std::chrono::milliseconds(1))
        lastShare_ = std::chrono::duration<double>(*cpu - *previousCpu_) / std::chrono::duration<double>(now - previousTime_);
    if (!previousCpu_ || now - previousTime_ >= std::chrono::milliseconds(1)) {
        previousCpu_ = cpu;
        previousTime_ = now;
    }
    return {lastShare_, residentBytes()};
}

}  // namespace heteroscope
