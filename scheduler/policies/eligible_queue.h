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
    /// Takes out the first job that can run on `device`; 0 when there is none.
    JobId take(DeviceIndex device);
    std::size_t size() const { return tickets_.size(); }

    /// Sorts every job into its group anew, because devices came or went.
    void regroup(const SystemView& view);

private:
    /// Which devices can run a job: one word while there are up to 64.
    struct DeviceSet {
        std::uint64_t first = 0;
        std::vector<bool> others;  // from device 64 on
        bool operator==(const DeviceSet&) const = default;
        bool has(DeviceIndex device) const {
            return device < 64 ? first >> device & 1 : device - 64 < others.size() && others[device - 64];
        }
    };
    struct Group {
        DeviceSet devices;
        OrderedJobs jobs;
    };

    bool isStale(const OrderedJobs::Entry& entry) const;
    static DeviceSet eligible(JobId job, const SystemView& view);
    Group& groupOf(JobId job, const SystemView& view);
    void pushEntry(const OrderedJobs::Entry& entry, const SystemView& view);

    std::vector<Group> groups_;
    std::size_t lastGroup_ = 0;  // where the last job went: the next one likely goes there too
    IdMap<std::uint64_t> tickets_;  // job → its entry's ticket: an entry with another one is stale
    std::uint64_t nextTicket_ = 1;
};

}  // namespace heteroscope
