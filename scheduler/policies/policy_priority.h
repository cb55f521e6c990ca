#pragma once

#include "scheduler/policies/eligible_queue.h"

namespace heteroscope {

/// The first idle device takes the ready job of the highest priority; priorities may grow while jobs wait.
class PriorityPolicy final : public Policy {
public:
    static PolicyInfo info();

    /// `ageingPerSecond`: how much a job's priority grows with every second that it is ready.
    explicit PriorityPolicy(double ageingPerSecond) : ageing_(ageingPerSecond) {}

    void jobsReady(std::span<const JobId> jobs, const SystemView& view) override;
    void jobsRemoved(std::span<const JobId> jobs, const SystemView& view) override;
    void priorityChanged(JobId job, const SystemView& view) override;
    bool ordersByPriority() const override { return true; }
    void devicesChanged(const SystemView& view) override;
    void schedule(const SystemView& view, Assignments& out) override;

private:
    double key(const JobView& job) const;
    std::string note(const JobView& job, Time now) const;

    double ageing_;
    EligibleQueue queue_;
};

}  // namespace heteroscope
