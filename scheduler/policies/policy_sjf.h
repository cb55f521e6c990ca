#pragma once

#include "scheduler/id_map.h"
#include "scheduler/ordered_jobs.h"
#include "scheduler/policy.h"

#include <vector>

namespace heteroscope {

/// An idle device takes the ready job that it is predicted to run for the shortest time.
class SjfPolicy final : public Policy {
public:
    static PolicyInfo info();

    void jobsReady(std::span<const JobId> jobs, const SystemView& view) override;
    void jobsRemoved(std::span<const JobId> jobs, const SystemView& view) override;
    void devicesChanged(const SystemView& view) override;
    void schedule(const SystemView& view, Assignments& out) override;
    void jobFinished(const Outcome& outcome, const SystemView& view) override;

private:
    void push(JobId job, std::uint64_t ticket, const SystemView& view);
    void remove(JobId job);
    bool isStale(const OrderedJobs::Entry& entry) const;
    JobId take(DeviceIndex device);
    void predictAnew(const SystemView& view);

    std::vector<OrderedJobs> shortest_;  // one a device, by the run time there; a job lies in each that can run it
    OrderedJobs all_;                    // by ticket; stale ones leave with predictAnew()
    IdMap<std::uint64_t> tickets_;       // job → its entries' ticket: an entry with another one is stale
    std::uint64_t nextTicket_ = 1;
    std::size_t finished_ = 0, nextLook_ = 1;  // predictions are asked anew after the 1st, 2nd, 4th … job
};

}  // namespace heteroscope
