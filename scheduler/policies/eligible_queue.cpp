#include "scheduler/policies/eligible_queue.h"

#include <utility>

namespace heteroscope {

bool EligibleQueue::isStale(const OrderedJobs::Entry& entry) const {
    const std::uint64_t* ticket = tickets_.find(entry.job);
    return !ticket || *ticket != entry.ticket;
}

EligibleQueue::Group& EligibleQueue::groupOf(JobId job, const SystemView& view) {
    const std::size_t count = view.deviceCount();
    bits_.assign((count + 63) / 64, 0);
    for (DeviceIndex device = 0; device < count; ++device)
        if (!view.excluded(job, device)) bits_[device / 64] |= std::uint64_t{1} << (device % 64);
    for (Group& group : groups_)
        if (group.devices == bits_) return group;
    return groups_.emplace_back(Group{bits_, {}});
}

void EligibleQueue::pushEntry(const OrderedJobs::Entry& entry, const SystemView& view) {
    groupOf(entry.job, view).jobs.push(entry);
}

void EligibleQueue::push(JobId job, double key, const SystemView& view) {
    const std::uint64_t ticket = nextTicket_++;
    tickets_.set(job, ticket);
    pushEntry({key, view.job(job).ready.count(), ticket, job}, view);
}

void EligibleQueue::remove(JobId job) {
    if (!tickets_.erase(job)) return;
    std::size_t entries = 0;
    for (const Group& group : groups_) entries += group.jobs.size();
    if (entries <= 2 * tickets_.size() + 64) return;
    for (Group& group : groups_)
        group.jobs.keepOnly([this](const OrderedJobs::Entry& entry) { return !isStale(entry); });
}

JobId EligibleQueue::first(DeviceIndex device) {
    const OrderedJobs::Entry* best = nullptr;
    for (Group& group : groups_) {
        if (!group.has(device)) continue;
        while (!group.jobs.empty() && isStale(group.jobs.first())) group.jobs.popFirst();
        if (group.jobs.empty()) continue;
        if (!best || group.jobs.first().before(*best)) best = &group.jobs.first();
    }
    return best ? best->job : 0;
}

void EligibleQueue::regroup(const SystemView& view) {
    std::vector<Group> old = std::exchange(groups_, {});
    std::vector<OrderedJobs::Entry> entries;
    for (Group& group : old)
        for (; !group.jobs.empty(); group.jobs.popFirst())
            if (!isStale(group.jobs.first())) entries.push_back(group.jobs.first());
    for (const OrderedJobs::Entry& entry : entries) pushEntry(entry, view);
}

}  // namespace heteroscope
