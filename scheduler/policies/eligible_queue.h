#pragma once

#include "scheduler/id_map.h"
#include "scheduler/ordered_jobs.h"
#include "scheduler/policy.h"

#include <vector>

namespace heteroscope {

/// Ready jobs in order of a key (lowest first, ties by ready time, then as they came), grouped by the set of devices
/// that can run them: the first job for a device is the least head of a few groups, without a scan past jobs that
/// are pinned elsewhere.
class EligibleQueue {
public:
    void push(JobId job, double key, const SystemView& view);
    /// Nothing when the job is not in.
    void remove(JobId job);
    bool contains(JobId job) const { return tickets_.find(job) != nullptr; }
    /// The first job that can run on `device`; 0 when there is none.
    JobId first(DeviceIndex device);
    std::size_t size() const { return tickets_.size(); }

    /// Sorts every job into its group anew, because devices came or went.
    void regroup(const SystemView& view);

private:
    struct Group {
        std::vector<std::uint64_t> devices;  // bit set
        OrderedJobs jobs;
        bool has(DeviceIndex device) const { return device / 64 < devices.size() && devices[device / 64] >> (device % 64) & 1; }
    };

    bool isStale(const OrderedJobs::Entry& entry) const;
    Group& groupOf(JobId job, const SystemView& view);
    void pushEntry(const OrderedJobs::Entry& entry, const SystemView& view);

    std::vector<Group> groups_;
    IdMap<std::uint64_t> tickets_;  // job → its entry's ticket: an entry with another one is stale
    std::uint64_t nextTicket_ = 1;
    std::vector<std::uint64_t> bits_;  // scratch
};

}  // namespace heteroscope
