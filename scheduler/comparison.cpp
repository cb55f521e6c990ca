#include "scheduler/comparison.h"

#include "scheduler/policy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

namespace heteroscope {
namespace {

using RunTimes = std::map<std::tuple<std::string, std::string, std::string>, double>;  // kernel, parameters, device → s

constexpr std::size_t mostWarmedSizes = 64;  // distinct kernel × parameters; above, each kernel once

/// The templates with Data of their own, so that no run sees what another one wrote.
std::vector<JobSpec> withFreshData(std::vector<JobSpec> jobs) {
    std::unordered_map<const Data*, std::shared_ptr<Data>> fresh;
    for (auto& job : jobs) {
        job.save.clear();
        job.keepOutputs = false;
        for (auto& [name, binding] : job.bindings) {
            for (auto* data : {&binding.data, &binding.version}) {
                if (!*data) continue;
                auto& copy = fresh[data->get()];
                if (!copy) copy = (*data)->fresh();
                *data = copy;
            }
        }
    }
    return jobs;
}

/// Template ids (positions + 1) become ids of this engine.
std::vector<JobSpec> numbered(std::vector<JobSpec> jobs, Engine& engine) {
    const JobId first = engine.reserveIds(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        jobs[i].id = first + i;
        for (auto& before : jobs[i].after) before = first + before - 1;
    }
    return jobs;
}

/// Every kernel and size (or, with too many, every kernel) once on each device, one device's jobs pinned to it.
std::vector<JobSpec> warmUpJobs(const ComparisonRequest& request, const std::vector<std::shared_ptr<Device>>& devices) {
    std::set<std::pair<const Kernel*, Parameters>> sizes;
    for (const auto& job : request.jobs) sizes.insert({job.kernel.get(), job.parameters});
    const bool kernelsOnly = sizes.size() > mostWarmedSizes;
    std::vector<JobSpec> jobs;
    std::set<std::pair<const Kernel*, Parameters>> seen;
    for (const auto& job : withFreshData(request.jobs)) {
        if (!seen.insert({job.kernel.get(), kernelsOnly ? Parameters{} : job.parameters}).second) continue;
        for (const auto& device : devices) {
            const auto plan = planLaunch(job.kernel, job.parameters);
            if (!plan || whyNotOn(*plan, device->info())) continue;
            JobSpec warm = job;
            warm.after.clear();
            warm.arrival = {};
            warm.check = false;
            warm.device = device->info().id;
            jobs.push_back(std::move(warm));
        }
    }
    return jobs;
}

class LivePause {
public:
    explicit LivePause(Engine* live) : live_(live && !live->paused() ? live : nullptr) {
        if (live_) live_->pause();
        if (live) live->waitQuiet();
    }
    ~LivePause() {
        if (live_) live_->resume();
    }
    LivePause(const LivePause&) = delete;
    LivePause& operator=(const LivePause&) = delete;

private:
    Engine* live_;
};

struct Runner {
    const std::vector<std::shared_ptr<Device>>& devices;
    std::shared_ptr<PerformanceModel> model;
    const std::atomic<bool>& cancel;
    const std::function<void(const ComparisonProgress&)>& progress;
    std::size_t doneBefore = 0;
    std::size_t total = 0;
    RunTimes shortest;

    /// Runs the jobs under one policy to their end; empty when cancelled.
    Result<std::vector<JobSnapshot>> run(std::vector<JobSpec> jobs, const std::string& policy, const std::string& phase) {
        const std::size_t count = jobs.size();
        EngineOptions options;
        options.policy = policy;
        options.keepDecisions = false;
        options.starvationLimit = {};
        options.startPaused = true;
        Engine engine(options, nullptr, model);
        for (const auto& device : devices) engine.addDevice(device);
        const std::size_t before = doneBefore;  // the engine may say its last word after the run was counted
        const auto watch = engine.observe([&, before](const EngineUpdate& update) {
            std::size_t ended = 0;
            for (int s = static_cast<int>(JobState::Succeeded); s < jobStateCount; ++s) {
                ended += update.counts[static_cast<std::size_t>(s)];
            }
            if (progress) progress({phase, before + ended, total});
        });
        const auto ids = engine.submit(numbered(std::move(jobs), engine));
        if (!ids) return ids.error();
        engine.resume();
        if (!engine.wait(*ids, [&] { return cancel.load(); })) {
            engine.cancel(*ids);
            return std::vector<JobSnapshot>{};
        }
        doneBefore += count;
        if (progress) progress({phase, doneBefore, total});
        auto snapshots = engine.snapshots();
        for (const auto& job : snapshots) {
            if (job.state != JobState::Succeeded) continue;
            const auto [it, isNew] = shortest.try_emplace({job.kernel, job.parameters, job.device}, job.runSeconds);
            if (!isNew) it->second = std::min(it->second, job.runSeconds);
        }
        return snapshots;
    }
};

PolicyRun describeRun(const std::string& policy, int repeat, const std::vector<JobSnapshot>& jobs,
                      const std::vector<std::string>& devices) {
    PolicyRun run;
    run.policy = policy;
    run.repeat = repeat;
    run.seed = jobs.empty() || !jobs.front().spec ? 1 : jobs.front().spec->seed;
    const std::int64_t zero = std::accumulate(jobs.begin(), jobs.end(), std::numeric_limits<std::int64_t>::max(),
                                              [](std::int64_t low, const JobSnapshot& job) {
                                                  return std::min(low, job.times.submitted);
                                              });
    const auto since = [zero](std::int64_t at) { return static_cast<double>(at - zero) * 1e-9; };
    const JobId first = jobs.empty() ? 1 : jobs.front().id;
    for (const auto& job : jobs) {
        if (job.state != JobState::Succeeded) {
            ++run.failed;
            if (run.firstError.empty()) run.firstError = job.error ? job.error->message : job.reason;
            continue;
        }
        ScheduledJob scheduled;
        scheduled.job = job.id - first + 1;
        scheduled.label = job.label;
        scheduled.kernel = job.kernel;
        scheduled.device = static_cast<std::size_t>(std::find(devices.begin(), devices.end(), job.device) - devices.begin());
        scheduled.submitted = since(job.times.submitted);
        scheduled.ready = since(job.times.ready);
        scheduled.start = since(job.times.started);
        scheduled.finish = since(job.times.finished);
        run.schedule.push_back(std::move(scheduled));
    }
    run.metrics = computeMetrics(run.schedule, devices.size());
    return run;
}

/// The shortest makespan of any single run: what each run's ratio in JSON and CSV is held against.
double shortestRun(const Comparison& comparison) {
    double best = -1.0;
    for (const auto& run : comparison.runs) {
        if (run.schedule.empty()) continue;
        if (best < 0.0 || run.metrics.makespan < best) best = run.metrics.makespan;
    }
    return best;
}

double boundOf(const ComparisonRequest& request, const std::vector<std::string>& devices, const RunTimes& times) {
    std::vector<std::vector<double>> seconds;
    std::vector<std::vector<std::size_t>> after;
    for (const auto& job : request.jobs) {
        const auto parameters = job.kernel->resolve(job.parameters);
        if (!parameters) return -1.0;
        auto& row = seconds.emplace_back();
        const std::string text = parametersText(*job.kernel, *parameters);
        for (const auto& device : devices) {
            const auto it = times.find({job.kernel->id, text, device});
            const bool allowed = job.device.empty() || job.device == device;
            row.push_back(it == times.end() || !allowed ? -1.0 : it->second);
        }
        if (std::all_of(row.begin(), row.end(), [](double s) { return s < 0.0; })) return -1.0;
        auto& edges = after.emplace_back();
        for (const JobId before : job.after) edges.push_back(static_cast<std::size_t>(before - 1));
    }
    return lowerBound(seconds, after).seconds();
}

}  // namespace

double Comparison::medianMakespan(const std::string& policy) const {
    std::vector<double> makespans;
    for (const auto& run : runs) {
        if (run.policy == policy && !run.schedule.empty()) makespans.push_back(run.metrics.makespan);
    }
    if (makespans.empty()) return -1.0;
    std::sort(makespans.begin(), makespans.end());
    const std::size_t middle = makespans.size() / 2;
    return makespans.size() % 2 == 1 ? makespans[middle] : 0.5 * (makespans[middle - 1] + makespans[middle]);
}

double Comparison::bestMakespan() const {
    double best = -1.0;
    for (const auto& policy : policies()) {
        const double makespan = medianMakespan(policy);
        if (makespan >= 0.0 && (best < 0.0 || makespan < best)) best = makespan;
    }
    return best;
}

std::vector<std::string> Comparison::policies() const {
    std::vector<std::string> names;
    for (const auto& run : runs) {
        if (std::find(names.begin(), names.end(), run.policy) == names.end()) names.push_back(run.policy);
    }
    return names;
}

Result<Comparison> compareLive(const ComparisonRequest& request, const std::vector<std::shared_ptr<Device>>& devices,
                               Engine* live, const std::atomic<bool>& cancel,
                               const std::function<void(const ComparisonProgress&)>& progress) {
    if (devices.empty()) return Error{ErrorKind::Unsupported, "no compute device found: nothing can run for real"};
    if (request.jobs.empty()) return Error{ErrorKind::InvalidInput, "there is no job to compare policies on"};
    if (request.policies.empty()) return Error{ErrorKind::InvalidInput, "no policy was chosen"};
    for (const auto& policy : request.policies) {
        if (auto made = makePolicy(policy); !made) return made.error();
    }
    const LivePause pause(live);

    Comparison comparison;
    comparison.name = request.name;
    comparison.createdAt = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch()).count();
    comparison.jobs = request.jobs.size();
    for (const auto& device : devices) comparison.devices.push_back(device->info().id);

    const auto warm = warmUpJobs(request, devices);
    const auto repeats = static_cast<std::size_t>(std::max(1, request.repeats));
    Runner runner{devices, std::make_shared<PerformanceModel>(), cancel, progress, 0, 0, {}};
    runner.total = 2 * warm.size() + repeats * request.policies.size() * request.jobs.size();
    // The first round pays for the compiler, the second one is what the models know.
    runner.model->setFrozen(true);
    for (const bool measured : {false, true}) {
        runner.model->setFrozen(!measured);
        const auto done = runner.run(withFreshData(warm), "fifo", "warm-up");
        if (!done) return done.error();
        if (done->empty()) return Error{ErrorKind::Cancelled, "the comparison was cancelled before its first run"};
        if (!measured) runner.shortest.clear();
    }
    runner.model->setFrozen(true);

    for (std::size_t repeat = 0; repeat < repeats && comparison.complete; ++repeat) {
        for (std::size_t k = 0; k < request.policies.size(); ++k) {
            const auto& policy = request.policies[(k + repeat) % request.policies.size()];
            const auto phase = fmt::format("{} ({} of {}), repeat {} of {}", policy, k + 1, request.policies.size(),
                                           repeat + 1, repeats);
            const auto jobs = runner.run(withFreshData(request.jobs), policy, phase);
            if (!jobs) return jobs.error();
            if (jobs->empty()) {
                comparison.complete = false;
                break;
            }
            comparison.runs.push_back(describeRun(policy, static_cast<int>(repeat), *jobs, comparison.devices));
        }
    }
    const auto order = [&](const PolicyRun& run) {
        return std::find(request.policies.begin(), request.policies.end(), run.policy) - request.policies.begin();
    };
    std::stable_sort(comparison.runs.begin(), comparison.runs.end(),
                     [&](const PolicyRun& a, const PolicyRun& b) { return order(a) < order(b); });
    comparison.lowerBoundSeconds = boundOf(request, comparison.devices, runner.shortest);
    return comparison;
}

std::string comparisonToJson(const Comparison& comparison) {
    using nlohmann::json;
    const double best = shortestRun(comparison);
    const double bound = comparison.lowerBoundSeconds;
    json runs = json::array();
    for (const auto& run : comparison.runs) {
        json schedule = json::array();
        for (const auto& job : run.schedule) {
            schedule.push_back({{"job", job.label.empty() ? fmt::format("{}", job.job) : job.label},
                                {"device", comparison.devices[job.device]},
                                {"start_s", job.start},
                                {"finish_s", job.finish}});
        }
        json metrics = run.metrics.toMap();
        metrics["utilisation"] = json::object();
        for (std::size_t d = 0; d < run.metrics.utilisation.size(); ++d) {
            metrics["utilisation"][comparison.devices[d]] = run.metrics.utilisation[d];
        }
        const bool ran = !run.schedule.empty();
        runs.push_back({{"policy", run.policy},
                        {"seed", run.seed},
                        {"repeat", run.repeat},
                        {"makespan_s", ran ? json(run.metrics.makespan) : json()},
                        {"ratio_to_best", ran && best > 0.0 ? json(run.metrics.makespan / best) : json()},
                        {"ratio_to_lower_bound", ran && bound > 0.0 ? json(run.metrics.makespan / bound) : json()},
                        {"failed_jobs", run.failed},
                        {"error", run.firstError.empty() ? json() : json(run.firstError)},
                        {"metrics", std::move(metrics)},
                        {"schedule", std::move(schedule)}});
    }
    const json document = {{"workload", comparison.name},
                           {"jobs", comparison.jobs},
                           {"devices", comparison.devices},
                           {"mode", comparison.simulated ? "simulated" : "live"},
                           {"lower_bound_s", bound >= 0.0 ? json(bound) : json()},
                           {"optimum_s", nullptr},
                           {"complete", comparison.complete},
                           {"history_id", comparison.id > 0 ? json(comparison.id) : json()},
                           {"runs", std::move(runs)}};
    return document.dump(2);
}

std::string comparisonToCsv(const Comparison& comparison) {
    std::string csv = "policy,repeat,seed,makespan_s,ratio_to_best,mean_wait_s,p95_wait_s,failed_jobs";
    for (const auto& device : comparison.devices) csv += ",utilisation_" + device;
    csv += "\r\n";
    const double best = shortestRun(comparison);
    for (const auto& run : comparison.runs) {
        csv += fmt::format("\"{}\",{},{},{:.9g},{:.6g},{:.9g},{:.9g},{}", run.policy, run.repeat, run.seed,
                           run.metrics.makespan, best > 0.0 ? run.metrics.makespan / best : 0.0, run.metrics.meanWait,
                           run.metrics.p95Wait, run.failed);
        for (const double share : run.metrics.utilisation) csv += fmt::format(",{:.6g}", share);
        csv += "\r\n";
    }
    return csv;
}

}  // namespace heteroscope
