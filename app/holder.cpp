#include "app/holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>
#include <unordered_map>

namespace heteroscope {

Holder::Holder(Options options) : options_(std::move(options)) {}

Holder::~Holder() {
    engine_.reset();  // it records in history_ until its last job has ended
    reader_.reset();
    history_.reset();
}

void Holder::open() {
    kernels_ = std::make_shared<const KernelCatalogue>(KernelCatalogue::load(options_.paths.kernelFolders));

    auto opened = History::open(options_.paths.dataFolder);
    if (opened) {
        history_ = std::move(opened->history);
        for (auto& notice : opened->notices) notices_.push_back({std::move(notice), ""});
    } else {
        notices_.push_back({opened.error().message, "Jobs run, but are not kept. Make the folder writable or name another "
                                                    "one with --data-dir, then start again."});
    }
    reader_ = std::make_unique<HistoryReader>(options_.paths.dataFolder);

    EngineOptions engine;
    engine.policy = options_.policy;
    engine.startPaused = options_.startPaused;
    if (history_) engine.outputFolder = options_.paths.outputFolder();
    engine_ = std::make_unique<Engine>(std::move(engine), history_.get(), std::make_shared<PerformanceModel>());
}

void Holder::ensureDevices() {
    std::call_once(discoveredOnce_, [this] { rescan(); });
}

void Holder::rescan() {
    const std::lock_guard oneScan(scanMutex_);
    Discovery found = discoverDevices();
    std::set<std::string> lost;
    {
        // A device that the engine has given up needs a fresh context, even if the machine lists it still.
        std::promise<void> seen;
        std::atomic<bool> once{false};
        auto watching = engine_->observe([&](const EngineUpdate& update) {
            if (once.exchange(true)) return;
            for (const auto& device : update.devices)
                if (!device.online) lost.insert(device.id);
            for (const auto& device : update.devices)
                if (device.online) lost.erase(device.id);  // opened anew by an earlier scan
            seen.set_value();
        });
        seen.get_future().wait_for(std::chrono::seconds(2));
        once = true;
    }

    const auto had = devices();
    std::vector<std::shared_ptr<Device>> now;
    for (const auto& device : had) {
        const std::string& id = device->info().id;
        const bool still = std::ranges::any_of(found.devices, [&](const auto& each) { return each->info().id == id; });
        if (still && !lost.contains(id)) {
            now.push_back(device);
        } else if (!lost.contains(id)) {
            engine_->removeDevice(id, "no longer found on this machine");
        }
    }
    for (const auto& device : found.devices) {
        const std::string& id = device->info().id;
        if (std::ranges::any_of(now, [&](const auto& each) { return each->info().id == id; })) continue;
        if (history_) history_->recordDevice(device->info());
        engine_->addDevice(device);
        now.push_back(device);
    }
    const std::lock_guard lock(mutex_);
    devices_ = std::move(now);
    problems_ = std::move(found.problems);
}

std::vector<std::shared_ptr<Device>> Holder::devices() const {
    const std::lock_guard lock(mutex_);
    return devices_;
}

std::vector<DeviceProblem> Holder::problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
}

Result<std::vector<JobId>> Holder::submit(std::vector<JobSpec> jobs) {
    if (jobs.empty()) return std::vector<JobId>{};
    const JobId first = engine_->reserveIds(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        jobs[i].id = first + i;
        for (JobId& dependency : jobs[i].after) dependency += first - 1;
    }
    return engine_->submit(std::move(jobs));
}

Result<Program> Holder::inspect(const ProgramSource& source, const std::string& deviceId) {
    ensureDevices();
    const auto all = devices();
    if (all.empty()) return noDeviceError(problems());
    std::optional<Error> unsupported;
    for (const auto& device : all) {
        if (!deviceId.empty() && device->info().id != deviceId) continue;
        auto answered = std::make_shared<std::promise<Result<Program>>>();
        auto answer = answered->get_future();
        device->build(source, [answered](Result<Program> program) { answered->set_value(std::move(program)); });
        auto program = answer.get();
        if (program || program.error().kind != ErrorKind::Unsupported) return program;
        unsupported = program.error();
    }
    if (unsupported) return *unsupported;
    std::string ids;
    for (const auto& device : all) ids += (ids.empty() ? "" : ", ") + device->info().id;
    return Error{ErrorKind::InvalidInput, fmt::format("Device '{}' is not there; there are: {}", deviceId, ids)};
}

Result<JobSpec> Holder::specOf(const std::string& specJson) const {
    auto workload = parseWorkload(specJson, paths().dataFolder, *kernels_);
    if (!workload) return workload.error();
    auto specs = workload->jobSpecs();
    if (specs.size() != 1)
        return Error{ErrorKind::InvalidInput, fmt::format("A stored job holds {} jobs, expected 1", specs.size())};
    specs.front().after.clear();
    return std::move(specs.front());
}

Result<std::vector<JobId>> Holder::runAgain(const std::vector<JobId>& jobs) {
    std::vector<JobSpec> specs;
    for (const JobId job : jobs) {
        const auto detail = readNow<HistoryDetail>([&](auto done) { reader_->detail(job, std::move(done)); });
        if (!detail) return detail.error();
        auto spec = specOf(detail->specJson);
        if (!spec) return Error{spec.error().kind, fmt::format("Job #{}: {}", job, spec.error().message)};
        specs.push_back(std::move(*spec));
    }
    return submit(std::move(specs));
}

Result<Comparison> Holder::compare(const ComparisonRequest& request, const std::function<bool()>& stop,
                                   const std::function<void(const ComparisonProgress&)>& progress) {
    if (comparing_.exchange(true))
        return Error{ErrorKind::Unsupported, "Another comparison is running; wait for it or cancel it, then try again."};
    const struct Reset {
        std::atomic<bool>& flag;
        ~Reset() { flag = false; }
    } reset{comparing_};
    ensureDevices();
    if (devices().empty()) return noDeviceError(problems());

    cancelComparison_ = false;
    std::jthread watcher([&](const std::stop_token& ended) {
        while (!ended.stop_requested() && !cancelComparison_) {
            if (stop && stop()) cancelComparison_ = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    auto comparison = compareLive(request, devices(), engine_.get(), cancelComparison_, progress);
    watcher.request_stop();
    if (comparison && history_ && !comparison->runs.empty()) {
        comparison->id = history_->recordComparison(*comparison);
        history_->flush();
    }
    return comparison;
}

std::vector<LeftJob> Holder::leftJobs() const { return history_ ? history_->leftJobs() : std::vector<LeftJob>{}; }

std::size_t Holder::dropLeftJobs(const std::vector<JobId>& jobs) {
    if (!history_) return 0;
    std::vector<JobId> drop;
    for (const auto& left : history_->leftJobs())
        if (jobs.empty() || std::ranges::find(jobs, left.id) != jobs.end()) drop.push_back(left.id);
    if (!drop.empty()) history_->settleLeftJobs(drop, "dropped");
    history_->flush();
    return drop.size();
}

namespace {

// Jobs that hang together by their dependencies, as a number per position.
std::vector<std::size_t> components(const std::vector<JobSpec>& jobs) {
    std::vector<std::size_t> parent(jobs.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t at) {
        while (parent[at] != at) at = parent[at] = parent[parent[at]];
        return at;
    };
    for (std::size_t i = 0; i < jobs.size(); ++i)
        for (const JobId dependency : jobs[i].after) parent[root(i)] = root(dependency - 1);
    for (std::size_t i = 0; i < jobs.size(); ++i) parent[i] = root(i);
    return parent;
}

// Each stored job was read for itself; those that hang together share their data again.
void shareData(std::vector<JobSpec>& jobs) {
    const auto component = components(jobs);
    std::map<std::tuple<std::size_t, std::string, std::string, std::uint64_t, std::string>, std::shared_ptr<Data>> shared;
    for (std::size_t i = 0; i < jobs.size(); ++i)
        for (auto& [name, binding] : jobs[i].bindings) {
            for (auto* bound : {&binding.data, &binding.version}) {  // a new version is data that later jobs take
                if (!*bound) continue;
                const Data& data = **bound;
                auto& one = shared[{component[i], data.name(), data.type().name(), data.count(), data.fill()}];
                if (!one) one = *bound;
                *bound = one;
            }
        }
}

}  // namespace

// A waiting job may rest on one that was running or whose shared data died with the process: those run again too.
Result<std::vector<JobSpec>> Holder::leftSpecs(const std::vector<LeftJob>& left) const {
    struct Entry {
        JobSpec spec;
        std::vector<JobId> after;  // old ids
    };
    std::map<JobId, Entry> entries;  // in order of old id: a dependency has the lower one
    const auto add = [&](JobId id, const std::string& specJson, std::vector<JobId> after) -> Status {
        auto spec = specOf(specJson);
        if (!spec) return Error{spec.error().kind, fmt::format("Job #{}: {}", id, spec.error().message)};
        entries[id] = {std::move(*spec), std::move(after)};
        return {};
    };
    for (const auto& job : left)
        if (auto added = add(job.id, job.specJson, job.after); !added) return added.error();

    std::vector<JobId> open;
    for (const auto& [id, entry] : entries) open.push_back(id);
    while (!open.empty()) {
        Entry& entry = entries[open.back()];
        open.pop_back();
        std::vector<JobId> needed;
        for (const JobId dependency : entry.after) {
            if (entries.contains(dependency)) {
                needed.push_back(dependency);
                continue;
            }
            const auto detail = readNow<HistoryDetail>([&](auto done) { reader_->detail(dependency, std::move(done)); });
            if (!detail) continue;  // deleted from history: nothing to wait for
            if (detail->job.state == JobState::Succeeded && entry.spec.bindings.empty()) continue;
            if (auto added = add(dependency, detail->specJson, detail->job.after); !added) return added.error();
            needed.push_back(dependency);
            open.push_back(dependency);
        }
        entry.after = std::move(needed);
    }

    std::unordered_map<JobId, JobId> position;
    for (const auto& [id, entry] : entries) position.emplace(id, position.size() + 1);
    std::vector<JobSpec> specs;
    for (auto& [id, entry] : entries) {
        for (const JobId dependency : entry.after) entry.spec.after.push_back(position.at(dependency));
        specs.push_back(std::move(entry.spec));
    }
    shareData(specs);
    return specs;
}

Result<std::vector<JobId>> Holder::resumeLeftJobs() {
    const auto left = leftJobs();
    if (left.empty()) return std::vector<JobId>{};
    auto specs = leftSpecs(left);
    if (!specs) return specs.error();
    auto ids = submit(std::move(*specs));
    if (!ids) return ids;
    std::vector<JobId> old;
    for (const auto& job : left) old.push_back(job.id);
    const std::string as = ids->size() == 1 ? fmt::format("resumed as #{}", ids->front())
                                            : fmt::format("resumed as #{} to #{}", ids->front(), ids->back());
    history_->settleLeftJobs(std::move(old), as);
    return ids;
}

Result<ProgramSource> bareSource(const OwnSource& source) {
    OwnSource bare = source;
    bare.entry = "main";
    bare.global = {1};
    bare.local.clear();
    bare.arguments.clear();
    const auto kernel = makeOwnKernel(bare);
    if (!kernel) return kernel.error();
    return (*kernel)->variants.front().source;
}

Error noDeviceError(const std::vector<DeviceProblem>& problems) {
    Error error{ErrorKind::Unsupported, "No compute device was found, so nothing can run."};
    for (const auto& problem : problems) error.message += " " + problem.what + ". " + problem.fix;
    return error;
}

}  // namespace heteroscope
