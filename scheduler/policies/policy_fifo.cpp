#include "scheduler/policies/policy_fifo.h"

#include "scheduler/policies/idle_devices.h"
#include "scheduler/policies/wording.h"

#include <charconv>

namespace heteroscope {
namespace {

std::string explainFifo(const Decision& decision, const std::vector<std::string>& deviceNames) {
    return wording::tookFirst(decision, wording::Names(deviceNames));
}

/// Short enough to lie in the string itself: no allocation for what nobody may ever read.
std::string oldestOf(std::size_t ready) {
    char text[32] = "oldest of ";
    return {text, std::to_chars(text + 10, text + sizeof text, ready).ptr};
}

}  // namespace

PolicyInfo FifoPolicy::info() {
    return {"fifo",
            "First in, first out, one queue for all devices: whichever device is free takes the oldest ready job it can "
            "run. Needs no prediction and keeps every device busy, but may leave the last long job to the slowest "
            "device. This is greedy list scheduling (R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM "
            "Journal on Applied Mathematics 17(2), 1969), known as \"eager\" in the StarPU handbook.",
            {},
            [](const std::map<std::string, double>&) { return std::make_unique<FifoPolicy>(); },
            explainFifo};
}

void FifoPolicy::jobsReady(std::span<const JobId> jobs, const SystemView& view) {
    for (const JobId job : jobs) queue_.push(job, 0.0, view);
}

void FifoPolicy::jobsRemoved(std::span<const JobId> jobs, const SystemView&) {
    for (const JobId job : jobs) queue_.remove(job);
}

void FifoPolicy::devicesChanged(const SystemView& view) {
    queue_.regroup(view);
}

void FifoPolicy::schedule(const SystemView& view, Assignments& out) {
    if (queue_.size() == 0) return;
    feedIdleDevices(
        view, out, [this](DeviceIndex device) { return queue_.take(device); },
        [this](JobId) { return oldestOf(queue_.size() + 1); });
}

}  // namespace heteroscope
