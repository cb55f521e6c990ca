#pragma once

#include "scheduler/policies/eligible_queue.h"

namespace heteroscope {

/// The first idle device takes the oldest ready job that it can run.
class FifoPolicy final : public Policy {
public:
    static PolicyInfo info();

    void jobsReady(std::span<const JobId> jobs, const SystemView& view) override;
    void jobsRemoved(std::span<const JobId> jobs, const SystemView& view) override;
    void devicesChanged(const SystemView& view) override;
    void schedule(const SystemView& view, Assignments& out) override;

private:
    EligibleQueue queue_;
};

}  // namespace heteroscope
