#include "scheduler/policies/policy_sjf.h"

#include "scheduler/policies/idle_devices.h"
#include "scheduler/policies/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heteroscope {
namespace {

std::string explainSjf(const Decision& decision, const std::vector<std::string>& deviceNames) {
    const Candidate* chosen = chosenCandidate(decision);
    std::string length;
    if (chosen && chosen->run >= 0.0) length = "; predicted run " + formatSeconds(chosen->run);
    return wording::tookFirst(decision, wording::Names(deviceNames)) + length;
}

}  // namespace

PolicyInfo SjfPolicy::info() {
    return {"sjf",
            "Shortest job first: a device that is free takes the ready job with the shortest predicted run there; jobs "
            "without a prediction come after those, oldest first. Least mean waiting time of all orders on one device, "
            "but long jobs wait long. Source: W. E. Smith, Various Optimizers for Single-Stage Production, Naval "
            "Research Logistics Quarterly 3, 1956; A. Silberschatz, P. B. Galvin, G. Gagne, Operating System "
            "Concepts, chapter CPU Scheduling.",
            {},
            [](const std::map<std::string, double>&) { return std::make_unique<SjfPolicy>(); },
            explainSjf};
}

bool SjfPolicy::isStale(const OrderedJobs::Entry& entry) const {
    const std::uint64_t* ticket = tickets_.find(entry.job);
    return !ticket || *ticket != entry.ticket;
}

void SjfPolicy::push(JobId job, std::uint64_t ticket, const SystemView& view) {
    const std::int64_t ready = view.job(job).ready.count();
    shortest_.resize(std::max(shortest_.size(), view.deviceCount()));
    for (DeviceIndex device = 0; device < view.deviceCount(); ++device) {
        if (view.excluded(job, device)) continue;
        const double run = view.runSeconds(job, device);
        shortest_[device].push({run >= 0.0 ? run : std::numeric_limits<double>::infinity(), ready, ticket, job});
    }
}

void SjfPolicy::jobsReady(std::span<const JobId> jobs, const SystemView& view) {
    for (const JobId job : jobs) {
        const std::uint64_t ticket = nextTicket_++;
        tickets_.set(job, ticket);
        all_.push({0.0, 0, ticket, job});
        push(job, ticket, view);
    }
}

void SjfPolicy::remove(JobId job) {
    if (!tickets_.erase(job)) return;
    const auto tidy = [this](OrderedJobs& jobs) {
        if (jobs.size() > 2 * tickets_.size() + 64)
            jobs.keepOnly([this](const OrderedJobs::Entry& entry) { return !isStale(entry); });
    };
    tidy(all_);
    for (OrderedJobs& jobs : shortest_) tidy(jobs);
}

void SjfPolicy::jobsRemoved(std::span<const JobId> jobs, const SystemView&) {
    for (const JobId job : jobs) remove(job);
}

void SjfPolicy::devicesChanged(const SystemView& view) {
    predictAnew(view);
}

void SjfPolicy::predictAnew(const SystemView& view) {
    all_.keepOnly([this](const OrderedJobs::Entry& entry) { return !isStale(entry); });
    shortest_.assign(view.deviceCount(), OrderedJobs());
    OrderedJobs kept;
    for (; !all_.empty(); all_.popFirst()) {
        push(all_.first().job, all_.first().ticket, view);
        kept.push(all_.first());
    }
    all_ = std::move(kept);
}

// What was measured changes predictions. Asking for all of them after every job would cost O(n) a job; after the
// 1st, 2nd, 4th … and then once per queue length it costs O(log n).
void SjfPolicy::jobFinished(const Outcome&, const SystemView& view) {
    if (++finished_ < nextLook_ || tickets_.size() == 0) return;
    finished_ = 0;
    nextLook_ = std::min(2 * nextLook_, std::max<std::size_t>(tickets_.size(), 16));
    predictAnew(view);
}

JobId SjfPolicy::take(DeviceIndex device) {
    if (device >= shortest_.size()) return 0;
    OrderedJobs& jobs = shortest_[device];
    while (!jobs.empty() && isStale(jobs.first())) jobs.popFirst();
    if (jobs.empty()) return 0;
    const JobId job = jobs.first().job;
    jobs.popFirst();
    remove(job);
    return job;
}

void SjfPolicy::schedule(const SystemView& view, Assignments& out) {
    if (tickets_.size() == 0) return;
    feedIdleDevices(
        view, out, [this](DeviceIndex device) { return take(device); },
        [this](JobId) {
            const std::size_t ready = tickets_.size() + 1;  // it was just taken out
            return ready == 1 ? std::string("the only ready job") : fmt::format("shortest of {}", ready);
        });
}

}  // namespace heteroscope
