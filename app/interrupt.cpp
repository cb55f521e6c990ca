#include "app/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace heteroscope {
namespace {

std::atomic<bool> asked{false};
std::atomic<int> wake{-1};
static_assert(std::atomic<bool>::is_always_lock_free, "written in a signal handler");

extern "C" void onInterrupt(int) {
    if (asked.exchange(true)) ::_exit(130);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake.load(), &one, sizeof one);
}

}  // namespace

void watchInterrupts() {
    wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct sigaction action {};
    action.sa_handler = onInterrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, nullptr);  // a closed pipe or socket is an error of the write, not our end
}

int interruptDescriptor() { return wake.load(); }

bool interrupted() { return asked.load(); }

}  // namespace heteroscope
