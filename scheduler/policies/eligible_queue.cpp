#include "scheduler/policies/eligible_queue.h"

#include <utility>

namespace heteroscope {

bool EligibleQueue::isStale(const OrderedJobs::Entry& entry) const {
    const std::uint64_t* ticket = tickets_.find(entry.job);
    return !ticket || *ticket != entry.ticket;
}

EligibleQueue::DeviceSet EligibleQueue::eligible(JobId job, const SystemView& view) {
    DeviceSet devices;
    const std::size_t count = view.deviceCount();
    if (count > 64) devices.others.resize(count - 64);
    for (DeviceIndex device = 0; device < count; ++device) {
        if (view.excluded(job, device)) continue;
        if (device < 64)
            devices.first |= std::uint64_t{1} << device;
        else
            devices.others[device - 64] = true;
    }
    return devices;
}

EligibleQueue::Group& EligibleQueue::groupOf(JobId job, const SystemView& view) {
    DeviceSet devices = eligible(job, view);
    if (lastGroup_ < groups_.size() && groups_[lastGroup_].devices == devices) return groups_[lastGroup_];
    for (lastGroup_ = 0; lastGroup_ < groups_.size(); ++lastGroup_)
        if (groups_[lastGroup_].devices == devices) return groups_[lastGroup_];
    return groups_.emplace_back(Group{std::move(devices), {}});
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

JobId EligibleQueue::take(DeviceIndex device) {
    Group* best = nullptr;
    for (Group& group : groups_) {
        if (!group.devices.has(device)) continue;
        while (!group.jobs.empty() && isStale(group.jobs.first())) group.jobs.popFirst();
        if (group.jobs.empty()) continue;
        if (!best || group.jobs.first().before(best->jobs.first())) best = &group;
    }
    if (!best) return 0;
    const JobId job = best->jobs.first().job;
    best->jobs.popFirst();
    tickets_.erase(job);
    return job;
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
