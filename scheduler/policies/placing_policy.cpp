#include "scheduler/policies/placing_policy.h"

#include <utility>

namespace heteroscope {

bool PlacingPolicy::isStale(const OrderedJobs::Entry& entry) const {
    const std::uint64_t* ticket = tickets_.find(entry.job);
    return !ticket || *ticket != entry.ticket;
}

void PlacingPolicy::jobsReady(std::span<const JobId> jobs, const SystemView&) {
    for (const JobId job : jobs) {
        const std::uint64_t ticket = nextTicket_++;
        tickets_.set(job, ticket);
        arrived_.push({0.0, 0, ticket, job});
    }
}

void PlacingPolicy::jobsRemoved(std::span<const JobId> jobs, const SystemView&) {
    for (const JobId job : jobs) tickets_.erase(job);
    if (nowhere_.size() > 2 * tickets_.size() + 64)
        std::erase_if(nowhere_, [this](const OrderedJobs::Entry& entry) { return isStale(entry); });
}

void PlacingPolicy::devicesChanged(const SystemView&) {
    for (const OrderedJobs::Entry& entry : std::exchange(nowhere_, {}))
        if (!isStale(entry)) arrived_.push(entry);
}

void PlacingPolicy::schedule(const SystemView& view, Assignments& out) {
    for (; !arrived_.empty(); arrived_.popFirst()) {
        const OrderedJobs::Entry& entry = arrived_.first();
        if (isStale(entry)) continue;
        Decision decision = out.candidates(entry.job);
        const DeviceIndex device = choose(decision, view);
        if (device == noDevice) {
            nowhere_.push_back(entry);
            continue;
        }
        tickets_.erase(entry.job);
        out.assign(entry.job, device, std::move(decision));
    }
}

}  // namespace heteroscope
