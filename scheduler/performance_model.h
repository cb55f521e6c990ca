#pragma once

#include "scheduler/kernel/launch_plan.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace heteroscope {

struct Prediction {
    double seconds = -1.0;      ///< negative: nothing known
    double relativeSpread = 0;  ///< standard deviation / mean of the samples behind it
    std::uint32_t samples = 0;  ///< of this kernel at this size on this device; 0: from the work estimate
};

/// Run times per kernel × device × size: mean of measured ones, else scaled by the work estimate from other sizes
/// of the same kernel there, else from the rates seen on that device. Any thread.
class PerformanceModel {
public:
    void record(const LaunchPlan& plan, const std::string& deviceId, double runSeconds);
    Prediction predict(const LaunchPlan& plan, const std::string& deviceId) const;
    void setFrozen(bool frozen);  ///< live comparisons: measured, not learned from

private:
    struct Sample { double mean = 0, m2 = 0; std::uint32_t n = 0; double work = 0; };
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Sample> bySize_;    // kernel|device|parameters
    std::unordered_map<std::string, Sample> byKernel_;  // kernel|device: seconds per unit of work
    std::unordered_map<std::string, Sample> byDevice_;  // device: seconds per unit of work
    bool frozen_ = false;
};

}  // namespace heteroscope
