#include "scheduler/policies/policy_priority.h"

#include "scheduler/policies/idle_devices.h"
#include "scheduler/policies/wording.h"

#include <fmt/format.h>

namespace heteroscope {
namespace {

double seconds(Time time) {
    return std::chrono::duration<double>(time).count();
}

std::string explainPriority(const Decision& decision, const std::vector<std::string>& deviceNames) {
    return wording::tookFirst(decision, wording::Names(deviceNames));
}

}  // namespace

PolicyInfo PriorityPolicy::info() {
    return {"priority",
            "The ready job of the highest priority goes to the first device that is free; equal ones in the order in "
            "which they became ready. A job inherits the priority of those that depend on it. With ageing, a job's "
            "priority grows while it waits, so that a steady stream of urgent jobs cannot starve it. Source: priority "
            "scheduling with aging, A. Silberschatz, P. B. Galvin, G. Gagne, Operating System Concepts, chapter CPU "
            "Scheduling; \"prio\" in the StarPU handbook.",
            {{"ageing", "priority gained per second of waiting", 0.1}},
            [](const std::map<std::string, double>& options) {
                return std::make_unique<PriorityPolicy>(options.at("ageing"));
            },
            explainPriority};
}

// priority + ageing·(now − ready) orders like priority − ageing·ready at any moment: the order never changes by the
// mere passing of time, so that a heap keeps it.
double PriorityPolicy::key(const JobView& job) const {
    return ageing_ * seconds(job.ready) - job.priority;
}

std::string PriorityPolicy::note(const JobView& job, Time now) const {
    const std::size_t ready = queue_.size() + 1;  // it was just taken out
    const std::string rank = ready == 1 ? "the only ready job" : fmt::format("first of {} ready", ready);
    const Time waited = now - job.ready;
    if (ageing_ == 0.0 || waited <= Time::zero()) return fmt::format("priority {}, {}", job.priority, rank);
    return fmt::format("priority {}, {:.3g} after {} of waiting, {}", job.priority,
                       job.priority + ageing_ * seconds(waited), formatSeconds(seconds(waited)), rank);
}

void PriorityPolicy::jobsReady(std::span<const JobId> jobs, const SystemView& view) {
    for (const JobId job : jobs) queue_.push(job, key(view.job(job)), view);
}

void PriorityPolicy::jobsRemoved(std::span<const JobId> jobs, const SystemView&) {
    for (const JobId job : jobs) queue_.remove(job);
}

void PriorityPolicy::priorityChanged(JobId job, const SystemView& view) {
    if (!queue_.contains(job)) return;
    queue_.remove(job);
    queue_.push(job, key(view.job(job)), view);
}

void PriorityPolicy::devicesChanged(const SystemView& view) {
    queue_.regroup(view);
}

void PriorityPolicy::schedule(const SystemView& view, Assignments& out) {
    if (queue_.size() == 0) return;
    feedIdleDevices(
        view, out, [this](DeviceIndex device) { return queue_.take(device); },
        [&](JobId job) { return note(view.job(job), view.now()); });
}

}  // namespace heteroscope
