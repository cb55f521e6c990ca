#include "app/exit_deadline.h"

#include <cstdlib>

namespace heteroscope {

ExitDeadline::ExitDeadline(std::chrono::milliseconds limit, int exitStatus)
    : watcher_([this, limit, exitStatus] {
          std::unique_lock lock(mutex_);
          if (!inTime_.wait_for(lock, limit, [this] { return done_; })) std::_Exit(exitStatus);
      }) {}

ExitDeadline::~ExitDeadline() {
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    inTime_.notify_one();
    watcher_.join();
}

}  // namespace heteroscope
