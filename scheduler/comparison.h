#pragma once

#include "scheduler/engine.h"
#include "scheduler/metrics.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace heteroscope {

/// One workload under one policy.
struct PolicyRun {
    std::string policy;
    std::uint64_t seed = 1;
    int repeat = 0;
    RunMetrics metrics;
    std::vector<ScheduledJob> schedule;
    std::size_t failed = 0;  ///< jobs that did not succeed
    std::string firstError;
};

struct Comparison {
    std::int64_t id = 0;  ///< in history; 0: not stored
    std::string name;
    std::int64_t createdAt = 0;  ///< ns since the Unix epoch
    std::size_t jobs = 0;
    std::vector<std::string> devices;  ///< ids, in the order of ScheduledJob::device
    bool simulated = false;
    double lowerBoundSeconds = -1.0;  ///< from the shortest time measured of every kernel and size on every device
    std::vector<PolicyRun> runs;      ///< policy-major, repeats inside
    bool complete = true;             ///< false: cancelled, what is there stands

    /// Median makespan of a policy's runs; negative when it has none.
    double medianMakespan(const std::string& policy) const;
    double bestMakespan() const;
    std::vector<std::string> policies() const;  ///< in order of first run
};

struct ComparisonProgress {
    std::string phase;  ///< "warm-up", "mct (2 of 5), repeat 1"
    std::size_t done = 0, total = 0;  ///< jobs over all runs
};

struct ComparisonRequest {
    std::string name;
    std::vector<JobSpec> jobs;  ///< templates: ids are positions + 1 and `after` names those
    std::vector<std::string> policies;
    int repeats = 1;
};

/// Runs the request for real on `devices`, fairly: every kernel is built and run once on each device first, models
/// are frozen, data copies dropped between runs, the order of the policies rotates over repeats. The live engine
/// (may be null) is paused and quiet meanwhile, and resumed if it ran before. Blocks; call from a thread of your own.
Result<Comparison> compareLive(const ComparisonRequest& request, const std::vector<std::shared_ptr<Device>>& devices,
                               Engine* live, const std::atomic<bool>& cancel,
                               const std::function<void(const ComparisonProgress&)>& progress);

/// The document of `compare --json`.
std::string comparisonToJson(const Comparison& comparison);
std::string comparisonToCsv(const Comparison& comparison);

}  // namespace heteroscope
