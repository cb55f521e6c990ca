#pragma once

#include "scheduler/id_map.h"
#include "scheduler/ordered_jobs.h"
#include "scheduler/policy.h"

#include <vector>

namespace heteroscope {

/// Base of the policies that place every job as soon as it is ready, in the order it came, and differ in where.
/// Jobs that no device can take wait until the devices change.
class PlacingPolicy : public Policy {
public:
    void jobsReady(std::span<const JobId> jobs, const SystemView& view) override;
    void jobsRemoved(std::span<const JobId> jobs, const SystemView& view) override;
    void devicesChanged(const SystemView& view) override;
    void schedule(const SystemView& view, Assignments& out) override;

protected:
    /// Scores the candidates and picks one; noDevice when every one is excluded.
    virtual DeviceIndex choose(Decision& decision, const SystemView& view) = 0;

private:
    bool isStale(const OrderedJobs::Entry& entry) const;

    OrderedJobs arrived_;
    std::vector<OrderedJobs::Entry> nowhere_;
    IdMap<std::uint64_t> tickets_;  // job → its entry's ticket: an entry with another one is stale
    std::uint64_t nextTicket_ = 1;
};

}  // namespace heteroscope
