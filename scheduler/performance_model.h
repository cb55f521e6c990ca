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

/// Run times per kernel × device × size: mean of measured ones, else a line through the other sizes of the same
/// kernel there over the work estimate, else through what all kernels gave on that device. Any thread.
class PerformanceModel {
public:
    /// Ignored while frozen, and when `runSeconds` is no duration.
    void record(const LaunchPlan& plan, const std::string& deviceId, double runSeconds);
    Prediction predict(const LaunchPlan& plan, const std::string& deviceId) const;
    /// What it took to fill and bring a job's buffers to the device, its build apart. Ignored while frozen.
    void recordStaging(const LaunchPlan& plan, const std::string& deviceId, double seconds);
    /// From a line through what staging took there by bytes; negative: nothing known.
    double stagingSeconds(const LaunchPlan& plan, const std::string& deviceId) const;
    void setFrozen(bool frozen);  ///< live comparisons: measured, not learned from

private:
    /// One size of one kernel on one device.
    struct Measured {
        double mean = 0.0, variance = 0.0;
        std::uint32_t samples = 0;
        void add(double seconds);
        double relativeSpread() const;
    };

    /// Least squares of relative errors for seconds = fixed + slope · work, both at least 0.
    struct Line {
        double fixed = 0.0, slope = 0.0, relativeSpread = 0.0;
        double at(double work) const { return fixed + slope * work; }
    };
    struct Fit {
        double samples = 0, s1 = 0, sw = 0, sww = 0, st = 0, swt = 0;  // sums of 1, w, w², t, wt, each over t²
        double leastWork = 0, mostWork = 0;
        void add(double work, double seconds, double sign = 1.0);
        bool hasTwoSizes() const { return mostWork > leastWork; }
        Line line() const;
    };

    mutable std::mutex mutex_;
    std::unordered_map<std::string, Measured> bySize_;  // kernel|device|parameters
    std::unordered_map<std::string, Fit> byKernel_;     // kernel|device
    std::unordered_map<std::string, Fit> byDevice_;     // device; kernels that state their work
    std::unordered_map<std::string, Fit> staging_;      // device; work is bytes
    bool frozen_ = false;
};

}  // namespace heteroscope
