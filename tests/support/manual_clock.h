#pragma once

#include <atomic>
#include <chrono>

namespace heteroscope {

/// A clock that stands still until the test turns it. Any thread.
class ManualClock {
public:
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

    time_point now() const { return time_point(duration(now_.load())); }
    void advance(duration by) { now_ += by.count(); }
    void set(time_point at) { now_ = at.time_since_epoch().count(); }

private:
    std::atomic<duration::rep> now_{1'000'000'000};  // not zero: a time stamp of zero means "never" in many a struct
};

}  // namespace heteroscope
