#pragma once

#include "scheduler/job.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace heteroscope {

/// One job of a finished schedule, seconds on the run's own time line.
struct ScheduledJob {
    JobId job = 0;
    std::string label;
    std::string kernel;
    std::size_t device = 0;
    double submitted = 0, ready = 0, start = 0, finish = 0;
};

/// The numbers of `design` section 8 that a live run gives. Keys of toMap() are the names in snake case
/// with their unit ("mean_wait_s"); utilisation, one a device, is not in it.
struct RunMetrics {
    double makespan = 0;          ///< max C − min r, s
    double meanWait = 0, p95Wait = 0;  ///< S − r, s; percentile by nearest rank
    double meanQueueWait = 0;     ///< S − ready
    double meanFlow = 0;          ///< C − r
    double boundedSlowdown = 0;   ///< mean, τ = 10 ms
    std::vector<double> utilisation;  ///< B_j / makespan, in device order
    double imbalance = 0;         ///< max B / mean B − 1
    double throughput = 0;        ///< jobs a second

    std::map<std::string, double> toMap() const;
};

RunMetrics computeMetrics(std::span<const ScheduledJob> jobs, std::size_t deviceCount);

/// max(critical path with min_j w_ij, area bound). `seconds[i][j]`: run time of job i on device j, negative where
/// it cannot run; `after[i]`: positions of its dependencies. Area bound by subgradient steps on its dual
/// (max over λ ≥ 0, Σλ = 1 of Σ_i min_j λ_j w_ij).
struct LowerBound {
    double criticalPath = 0;
    double area = 0;
    double seconds() const { return criticalPath > area ? criticalPath : area; }
};
LowerBound lowerBound(const std::vector<std::vector<double>>& seconds, const std::vector<std::vector<std::size_t>>& after);

}  // namespace heteroscope
