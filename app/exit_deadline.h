#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace heteroscope {

/// Leaves the process when tidying up takes too long: a driver that does not let go of a kernel, or a disk that takes
/// no more rows, must not keep a closed window alive. What was recorded before is committed by its writer meanwhile;
/// what still ran shows as interrupted at the next start.
class ExitDeadline {
public:
    ExitDeadline(std::chrono::milliseconds limit, int exitStatus);
    ~ExitDeadline();  ///< in time: nothing happens
    ExitDeadline(const ExitDeadline&) = delete;
    ExitDeadline& operator=(const ExitDeadline&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable inTime_;
    bool done_ = false;  // guarded by mutex_
    std::thread watcher_;
};

}  // namespace heteroscope
