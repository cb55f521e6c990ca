#include "scheduler/job_table.h"

#include <algorithm>

namespace heteroscope {

void JobTable::setState(JobEntry& entry, JobState state) {
    --counts_[static_cast<std::size_t>(entry.state)];
    ++counts_[static_cast<std::size_t>(state)];
    entry.state = state;
}

JobSlot JobTable::insert(const DispatchJob& job, Time now) {
    if (job.id == 0 || slots_.find(job.id)) return noSlot;
    JobSlot slot = static_cast<JobSlot>(entries_.size());
    if (free_.empty()) {
        entries_.emplace_back();
    } else {
        slot = free_.back();
        free_.pop_back();
    }
    JobEntry& entry = entries_[slot];
    entry.id = job.id;
    entry.priority = entry.effectivePriority = job.priority;
    entry.after = job.after;
    entry.submitted = now;
    entry.due = now + std::max(job.arrival, Time::zero());
    ++counts_[static_cast<std::size_t>(JobState::Waiting)];
    slots_.set(job.id, slot);
    forgottenUnsuccessful_.erase(job.id);
    return slot;
}

void JobTable::link(JobSlot slot) {
    const JobEntry& entry = entries_[slot];
    for (const JobId id : entry.after) {
        const JobSlot dependency = find(id);
        // A job that succeeded stays so; any other may yet release or skip this one.
        if (dependency != noSlot && entries_[dependency].state != JobState::Succeeded)
            entries_[dependency].dependants.push_back(entry.id);
    }
}

void JobTable::forget(JobSlot slot) {
    JobEntry& entry = entries_[slot];
    if (entry.state != JobState::Succeeded) forgottenUnsuccessful_.insert(entry.id);
    --counts_[static_cast<std::size_t>(entry.state)];
    slots_.erase(entry.id);
    entry = JobEntry{};
    free_.push_back(slot);
}

JobId JobTable::settleDependencies(JobEntry& entry) const {
    entry.unmet = 0;
    JobId blame = 0;
    for (const JobId id : entry.after) {
        const JobSlot slot = find(id);
        if (slot == noSlot) {
            if (blame == 0 && forgottenUnsuccessful_.contains(id)) blame = id;
            continue;
        }
        const JobEntry& dependency = entries_[slot];
        if (!isFinal(dependency.state))
            ++entry.unmet;
        else if (dependency.state != JobState::Succeeded && blame == 0)
            blame = dependency.cause != 0 ? dependency.cause : id;
    }
    return blame;
}

int JobTable::priorityFromDependants(const JobEntry& entry) const {
    int highest = entry.priority;
    for (const JobId id : entry.dependants) {
        const JobSlot slot = find(id);
        if (slot != noSlot && !isFinal(entries_[slot].state))
            highest = std::max(highest, entries_[slot].effectivePriority);
    }
    return highest;
}

void JobTable::raisePriority(JobSlot slot, int priority, std::vector<JobSlot>& changed) {
    std::vector<JobSlot> upwards{slot};  // a list of our own, for chains of any length
    while (!upwards.empty()) {
        const JobSlot current = upwards.back();
        upwards.pop_back();
        JobEntry& entry = entries_[current];
        if (isFinal(entry.state) || entry.effectivePriority >= priority) continue;
        entry.effectivePriority = priority;
        changed.push_back(current);
        for (const JobId id : entry.after)
            if (const JobSlot above = find(id); above != noSlot) upwards.push_back(above);
    }
}

void JobTable::lowerPriority(JobSlot slot, std::vector<JobSlot>& changed) {
    std::vector<JobSlot> upwards{slot};
    while (!upwards.empty()) {
        const JobSlot current = upwards.back();
        upwards.pop_back();
        JobEntry& entry = entries_[current];
        const int before = entry.effectivePriority;
        const int lowered = isFinal(entry.state) ? before : priorityFromDependants(entry);
        if (lowered >= before) continue;
        entry.effectivePriority = lowered;
        changed.push_back(current);
        for (const JobId id : entry.after) {
            const JobSlot above = find(id);
            // Only a job that stood as high as this one did can have had it from here.
            if (above != noSlot && entries_[above].effectivePriority == before) upwards.push_back(above);
        }
    }
}

std::vector<JobSlot> JobTable::slotsById() const {
    std::vector<JobSlot> slots;
    for (JobSlot slot = 0; slot < entries_.size(); ++slot)
        if (entries_[slot].id != 0) slots.push_back(slot);
    std::sort(slots.begin(), slots.end(), [this](JobSlot a, JobSlot b) { return entries_[a].id < entries_[b].id; });
    return slots;
}

}  // namespace heteroscope
