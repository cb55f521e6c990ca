#include "scheduler/workload/workload.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace heteroscope {

bool Workload::runnable() const {
    return std::all_of(jobs.begin(), jobs.end(), [](const WorkloadJob& job) { return job.kernel != nullptr; });
}

namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}

/// The workload's data without bytes, one for each whoever asks.
class FreshData {
public:
    std::shared_ptr<Data> of(const std::shared_ptr<Data>& data) {
        if (!data) return nullptr;
        auto& fresh = made_[data.get()];
        if (!fresh) {
            fresh = data->fresh();
            fresh->savePath = data->savePath;
        }
        return fresh;
    }

private:
    std::unordered_map<const Data*, std::shared_ptr<Data>> made_;
};

}  // namespace

std::vector<JobSpec> Workload::jobSpecs() const {
    std::vector<JobSpec> specs;
    specs.reserve(jobs.size());
    FreshData fresh;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const WorkloadJob& job = jobs[i];
        JobSpec spec;
        spec.id = i + 1;
        spec.label = job.id;
        spec.kernel = job.kernel;
        spec.parameters = job.parameters;
        spec.bindings = job.bindings;
        for (auto& [argument, binding] : spec.bindings) {
            binding.data = fresh.of(binding.data);
            binding.version = fresh.of(binding.version);
        }
        for (const WorkloadEdge& edge : job.after) spec.after.push_back(edge.job + 1);
        spec.priority = job.priority;
        spec.device = job.device;
        spec.group = job.group;
        spec.seed = job.seed;
        spec.check = job.check;
        spec.keepOutputs = job.keepOutputs;
        spec.save = job.save;
        spec.arrival = nanoseconds(job.arrivalSeconds);
        spec.timeout = nanoseconds(job.timeoutSeconds);
        specs.push_back(std::move(spec));
    }
    return specs;
}

}  // namespace heteroscope
