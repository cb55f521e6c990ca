#include "scheduler/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heteroscope {
namespace {

/// Smallest value that at least `share` of all are not above (nearest rank).
double nearestRank(std::vector<double> values, double share) {
    if (values.empty()) return 0.0;
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    const std::size_t at = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

double criticalPath(const std::vector<std::vector<double>>& seconds, const std::vector<std::vector<std::size_t>>& after) {
    const std::size_t count = seconds.size();
    std::vector<std::vector<std::size_t>> dependants(count);
    std::vector<std::size_t> unmet(count, 0);
    for (std::size_t job = 0; job < std::min(count, after.size()); ++job)
        for (const std::size_t dependency : after[job]) {
            if (dependency >= count) continue;
            dependants[dependency].push_back(job);
            ++unmet[job];
        }
    std::vector<double> start(count, 0.0);
    std::vector<std::size_t> order;
    for (std::size_t job = 0; job < count; ++job)
        if (unmet[job] == 0) order.push_back(job);
    double longest = 0.0;
    for (std::size_t at = 0; at < order.size(); ++at) {
        const std::size_t job = order[at];
        double least = std::numeric_limits<double>::infinity();
        for (const double run : seconds[job])
            if (run >= 0.0) least = std::min(least, run);
        const double end = start[job] + (std::isfinite(least) ? least : 0.0);
        longest = std::max(longest, end);
        for (const std::size_t dependant : dependants[job]) {
            start[dependant] = std::max(start[dependant], end);
            if (--unmet[dependant] == 0) order.push_back(dependant);
        }
    }
    return longest;
}

/// The dual of the area bound: weights λ ≥ 0, Σλ = 1, bound Σ_i min_j λ_j w_ij. Every λ gives a valid bound, so that
/// stopping early is never wrong, only lower.
class AreaBound {
public:
    explicit AreaBound(const std::vector<std::vector<double>>& seconds) {
        for (const std::vector<double>& row : seconds) devices_ = std::max(devices_, row.size());
        for (const std::vector<double>& row : seconds) {
            if (std::none_of(row.begin(), row.end(), [](double run) { return run >= 0.0; })) continue;
            for (std::size_t device = 0; device < devices_; ++device)
                run_.push_back(device < row.size() && row[device] >= 0.0 ? row[device] : notThere);
        }
        weights_.resize(devices_);
        load_.resize(devices_);
    }

    /// Subgradient steps of Polyak's length towards a target a little above the best value found; the target comes
    /// nearer whenever steps no longer help. They are taken in log λ, where devices of very different speed weigh
    /// alike: a step raises the weight of a device that has more than its share, in proportion.
    double maximise() {
        if (run_.empty()) return 0.0;
        weightBySpeed();
        double best = 0.0, ambition = 0.1;
        std::vector<double> bestWeights = weights_;
        int stale = 0;
        for (int step = 0; step < 2000 && ambition > 1e-7; ++step) {
            const double bound = evaluate();
            if (bound <= 0.0) return best;
            stale = bound > best * (1.0 + 0.1 * ambition) ? 0 : stale + 1;
            if (bound > best) {
                best = bound;
                bestWeights = weights_;
            }
            if (stale > 6) {
                ambition *= 0.7;
                stale = 0;
                weights_ = bestWeights;
                continue;
            }
            if (!climb(bound, best * (1.0 + ambition))) break;
        }
        return best;
    }

private:
    static constexpr double notThere = std::numeric_limits<double>::infinity();

    void weightBySpeed() {
        for (std::size_t device = 0; device < devices_; ++device) {
            double sum = 0.0;
            std::size_t jobs = 0;
            for (std::size_t at = device; at < run_.size(); at += devices_) {
                if (run_[at] == notThere) continue;
                sum += run_[at];
                ++jobs;
            }
            // A device that runs nothing gets no weight; one that runs everything in no time is all that is needed.
            weights_[device] = jobs == 0 ? 0.0 : static_cast<double>(jobs) / std::max(sum, 1e-300);
        }
    }

    /// Bound for the current weights (brought to sum 1); load_ becomes its subgradient.
    double evaluate() {
        double sum = 0.0;
        for (const double weight : weights_) sum += weight;
        for (double& weight : weights_) weight /= sum;
        std::fill(load_.begin(), load_.end(), 0.0);
        double bound = 0.0;
        for (std::size_t row = 0; row < run_.size(); row += devices_) {
            double least = notThere;
            std::size_t device = devices_;
            for (std::size_t j = 0; j < devices_; ++j) {
                const double weighted = weights_[j] * run_[row + j];  // 0 · ∞ is no number and never less
                if (weighted < least) {
                    least = weighted;
                    device = j;
                }
            }
            if (device == devices_) continue;
            bound += least;
            load_[device] += run_[row + device];
        }
        return bound;
    }

    bool climb(double bound, double target) {
        double norm = 0.0;
        for (std::size_t j = 0; j < devices_; ++j) norm += weights_[j] * std::pow(load_[j] / bound - 1.0, 2);
        if (norm < 1e-18) return false;  // every device has the same load: optimal
        const double length = (target / bound - 1.0) / norm;
        for (std::size_t j = 0; j < devices_; ++j)
            weights_[j] *= std::exp(std::clamp(length * (load_[j] / bound - 1.0), -1.0, 1.0));
        return true;
    }

    std::size_t devices_ = 0;
    std::vector<double> run_;  // one row a job
    std::vector<double> weights_, load_;
};

}  // namespace

std::map<std::string, double> RunMetrics::toMap() const {
    return {{"makespan_s", makespan},   {"mean_wait_s", meanWait},           {"p95_wait_s", p95Wait},
            {"mean_queue_wait_s", meanQueueWait}, {"mean_flow_s", meanFlow}, {"bounded_slowdown", boundedSlowdown},
            {"imbalance", imbalance},   {"throughput_jobs_per_s", throughput}};
}

RunMetrics computeMetrics(std::span<const ScheduledJob> jobs, std::size_t deviceCount) {
    constexpr double tau = 10e-3;
    RunMetrics metrics;
    metrics.utilisation.assign(deviceCount, 0.0);
    if (jobs.empty()) return metrics;

    double first = jobs.front().submitted, last = jobs.front().finish;
    std::vector<double> waits, busy(deviceCount, 0.0);
    waits.reserve(jobs.size());
    for (const ScheduledJob& job : jobs) {
        first = std::min(first, job.submitted);
        last = std::max(last, job.finish);
        const double run = job.finish - job.start;
        const double flow = job.finish - job.submitted;
        waits.push_back(job.start - job.submitted);
        metrics.meanWait += waits.back();
        metrics.meanQueueWait += job.start - job.ready;
        metrics.meanFlow += flow;
        metrics.boundedSlowdown += std::max(1.0, flow / std::max(run, tau));
        if (job.device < deviceCount) busy[job.device] += run;
    }
    const double count = static_cast<double>(jobs.size());
    metrics.makespan = last - first;
    metrics.meanWait /= count;
    metrics.meanQueueWait /= count;
    metrics.meanFlow /= count;
    metrics.boundedSlowdown /= count;
    metrics.p95Wait = nearestRank(std::move(waits), 0.95);
    if (metrics.makespan > 0.0) {
        metrics.throughput = count / metrics.makespan;
        for (std::size_t device = 0; device < deviceCount; ++device)
            metrics.utilisation[device] = busy[device] / metrics.makespan;
    }
    double total = 0.0, most = 0.0;
    for (const double each : busy) {
        total += each;
        most = std::max(most, each);
    }
    if (total > 0.0) metrics.imbalance = most / (total / static_cast<double>(deviceCount)) - 1.0;
    return metrics;
}

LowerBound lowerBound(const std::vector<std::vector<double>>& seconds,
                      const std::vector<std::vector<std::size_t>>& after) {
    return {criticalPath(seconds, after), AreaBound(seconds).maximise()};
}

}  // namespace heteroscope
