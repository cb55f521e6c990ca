#include "app/request_runner.h"

#include "app/documents.h"
#include "scheduler/kernel/launch_plan.h"
#include "scheduler/kernel/own_source.h"
#include "scheduler/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace fs = std::filesystem;

namespace heteroscope {
namespace {

using nlohmann::json;

/// Specs ready to submit, or the answer that ends the request.
using Prepared = std::variant<std::vector<JobSpec>, Answer>;

json noJobs() { return {{"jobs", json::array()}}; }
Answer badInput(const Error& error) { return refused(exit_status::badInput, error, noJobs()); }
Answer badInput(std::string message) { return badInput(Error{ErrorKind::InvalidInput, std::move(message)}); }

bool hasEnding(const std::string& target, std::initializer_list<std::string_view> endings) {
    return std::ranges::any_of(endings, [&](std::string_view ending) { return target.ends_with(ending); });
}

bool isSource(const std::string& target) { return hasEnding(target, {".cl", ".cu", ".opencl"}); }
bool isWorkloadFile(const std::string& target) { return hasEnding(target, {".json", ".stg", ".swf", ".dot", ".gv"}); }

std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

Error unknownKernel(const std::string& id, const KernelCatalogue& kernels) {
    std::string nearest;
    std::size_t best = std::max<std::size_t>(id.size() / 3, 1) + 1;
    for (const auto& kernel : kernels.kernels())
        if (const auto distance = editDistance(id, kernel->id); distance < best) best = distance, nearest = kernel->id;
    std::string message = fmt::format("There is no kernel '{}'.", id);
    if (!nearest.empty()) message += fmt::format(" Did you mean '{}'?", nearest);
    for (const auto& problem : kernels.problems())
        if (problem.message.find(id) != std::string::npos) message += " " + problem.message;
    return {ErrorKind::InvalidInput, message + " 'heteroscope kernels' lists them all."};
}

std::string deviceIds(const Holder& holder) {
    std::string ids;
    for (const auto& device : holder.devices()) ids += (ids.empty() ? "" : ", ") + device->info().id;
    return ids;
}

// What must hold of the machine before jobs are made: a device, the one that was named, the runtime that was named.
std::optional<Answer> checkPlace(const Request& request, Holder& holder) {
    holder.ensureDevices();
    const auto devices = holder.devices();
    if (devices.empty()) return refused(exit_status::failed, noDeviceError(holder.problems()), noJobs());
    const auto isNamed = [&](const auto& device) { return device->info().id == request.device; };
    if (!request.device.empty() && std::ranges::none_of(devices, isNamed))
        return badInput(fmt::format("There is no device '{}'; there are: {}.", request.device, deviceIds(holder)));
    if (request.runtime.empty()) return std::nullopt;
    std::set<std::string_view> runtimes;
    for (const auto& device : devices)
        if (request.device.empty() || isNamed(device))
            for (const auto& runtime : device->info().runtimes) runtimes.insert(toString(runtime.api));
    if (!runtimes.contains(request.runtime))
        return badInput(fmt::format("No device here offers the runtime '{}'; there are: {}.", request.runtime,
                                    fmt::join(runtimes, ", ")));
    return std::nullopt;
}

std::optional<std::string> wrongPolicy(const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (const auto policy = makePolicy(text); !policy) return policy.error().message;
    return std::nullopt;
}

/// The argument that `--save` names: its name, the source's own name for it, or its position from 0.
const KernelArgument* findArgument(const Kernel& kernel, const std::string& name, const EntryInfo* entry) {
    if (const KernelArgument* argument = kernel.argument(name)) return argument;
    if (!name.empty() && name.size() < 4 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
        const std::size_t position = std::stoul(name);
        if (position < kernel.arguments.size()) return &kernel.arguments[position];
    }
    if (entry)
        for (std::size_t i = 0; i < entry->arguments.size() && i < kernel.arguments.size(); ++i)
            if (entry->arguments[i].name == name) return &kernel.arguments[i];
    return nullptr;
}

std::optional<Answer> setSaves(const Request& request, JobSpec& spec, const EntryInfo* entry) {
    if (!request.save.empty() && request.count > 1)
        return badInput("--save keeps the output of one job; it does not go with --count above 1.");
    for (const auto& [name, file] : request.save) {
        const KernelArgument* argument = findArgument(*spec.kernel, name, entry);
        if (!argument) {
            std::vector<std::string> names;
            for (const auto& each : spec.kernel->arguments) names.push_back(each.name);
            return badInput(fmt::format("--save {}=…: kernel '{}' has no argument '{}'; it has: {} (or a position from 0).",
                                        name, spec.kernel->id, name, fmt::join(names, ", ")));
        }
        if (argument->kind != KernelArgument::Kind::Buffer)
            return badInput(fmt::format("--save {}=…: argument '{}' is no buffer.", name, argument->name));
        const fs::path folder = fs::path(file).parent_path();
        std::error_code error;
        if (!folder.empty() && !fs::is_directory(folder, error))
            return badInput(fmt::format("--save {}={}: folder '{}' is not there.", name, file, folder.string()));
        spec.save[argument->name] = file;
    }
    return std::nullopt;
}

std::vector<JobSpec> copies(const JobSpec& spec, const Request& request) {
    std::vector<JobSpec> specs(request.count, spec);
    for (auto& each : specs) {
        each.device = request.device;
        each.priority = request.priority;
        each.check = request.check;
    }
    return specs;
}

Prepared prepareKernel(const Request& request, Holder& holder) {
    const KernelPtr kernel = holder.kernels()->find(request.target);
    if (!kernel) return badInput(unknownKernel(request.target, *holder.kernels()));
    if (!request.entry.empty() || !request.global.empty() || !request.arguments.empty())
        return badInput(fmt::format("'{}' is a kernel package: it states entry, sizes and arguments itself; give "
                                    "parameters with -p (--entry, --global and --arg are for .cl files).",
                                    request.target));
    auto parameters = kernel->resolve(request.parameters);
    if (!parameters) return badInput(parameters.error());
    JobSpec spec;
    spec.kernel = kernel;
    spec.parameters = std::move(*parameters);
    if (auto wrong = setSaves(request, spec, nullptr)) return std::move(*wrong);
    return copies(spec, request);
}

const EntryInfo* findEntry(const Program& program, const std::string& name) {
    for (const auto& entry : program.entries)
        if (entry.name == name) return &entry;
    return nullptr;
}

std::string entryNames(const Program& program) {
    std::vector<std::string> names;
    for (const auto& entry : program.entries) names.push_back(entry.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// A build that failed is a job that failed: it has the place in the answer where its job would stand.
Answer buildFailure(const std::string& id, const Error& error) {
    JobSnapshot job;
    job.kernel = id;
    job.state = JobState::Failed;
    job.reason = error.message;
    job.error = error;
    return {exit_status::failed, {{"jobs", json::array({document::job(job)})}}};
}

OwnSource ownSource(const Request& request) {
    OwnSource source;
    source.file = request.target;
    source.entry = request.entry;
    source.global = request.global;
    source.local = request.local;
    source.options = request.options;
    for (const auto& folder : request.includes) source.includes.emplace_back(folder);
    return source;
}

/// The job of a source whose entry is settled. `entry` is null where the program did not build.
Prepared sourceJobs(const Request& request, OwnSource source, const std::string& file, const EntryInfo* entry) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        auto argument = parseArgument(request.arguments[i], i);
        if (!argument) return badInput(argument.error());
        source.arguments.push_back(std::move(*argument));
    }
    if (source.global.empty()) return badInput(fmt::format("'{}' needs its global size: --global N[,M[,K]].", file));
    auto kernel = makeOwnKernel(source);
    if (!kernel) return badInput(kernel.error());
    const auto plan = planLaunch(*kernel, {});
    if (!plan) return badInput(plan.error());
    if (entry)
        if (const auto range = settleRange(*plan, *entry); !range) return badInput(range.error());
    JobSpec spec;
    spec.kernel = *kernel;
    if (auto wrong = setSaves(request, spec, entry)) return std::move(*wrong);
    return copies(spec, request);
}

// A source is built before its arguments are checked: a person mends the program first, then the call.
Prepared prepareSource(const Request& request, Holder& holder) {
    if (!request.parameters.empty())
        return badInput("-p sets a kernel package's parameters; a source takes its values with --arg.");
    const std::string file = fs::path(request.target).filename().string();
    OwnSource source = ownSource(request);
    const auto text = bareSource(source);
    if (!text) return badInput(text.error());
    const auto program = holder.inspect(*text, request.device);
    if (!program) {
        const Error& error = program.error();
        if (error.kind == ErrorKind::InvalidInput || error.kind == ErrorKind::Unsupported) return badInput(error);
        // Where the call is sound the job fails like any other, and history keeps it with the compiler's log.
        if (request.kind == Request::Kind::Run && error.kind == ErrorKind::BuildFailed && !source.entry.empty())
            if (auto jobs = sourceJobs(request, source, file, nullptr); std::holds_alternative<std::vector<JobSpec>>(jobs)) return jobs;
        return buildFailure(request.entry.empty() ? file : file + ":" + request.entry, error);
    }
    if (program->entries.empty()) return badInput(fmt::format("'{}' built, but holds no kernel function.", file));
    if (source.entry.empty()) {
        if (program->entries.size() > 1)
            return badInput(fmt::format("'{}' holds several kernels; choose one with --entry: {}.", file, entryNames(*program)));
        source.entry = program->entries.front().name;
    }
    const EntryInfo* entry = findEntry(*program, source.entry);
    if (!entry)
        return badInput(fmt::format("'{}' holds no kernel '{}'; it holds: {}.", file, source.entry, entryNames(*program)));
    return sourceJobs(request, std::move(source), file, entry);
}

Prepared prepareWorkload(const Request& request, Holder& holder, const Reporter& reporter) {
    auto workload = readWorkload(request.target, *holder.kernels());
    if (!workload) return badInput(workload.error());
    for (const auto& warning : workload->warnings) reporter.message("Warning: " + warning);
    if (!workload->runnable())
        for (const auto& job : workload->jobs)
            if (!job.kernel)
                return badInput(fmt::format("'{}': job '{}' has costs but no kernel, so it cannot run for real; only a "
                                            "simulation could take it, which this version does not have.",
                                            request.target, job.id));
    auto specs = workload->jobSpecs();
    for (auto& spec : specs) {
        if (!request.device.empty()) spec.device = request.device;
        if (request.check) spec.check = true;
    }
    return specs;
}

Prepared prepare(const Request& request, Holder& holder, const Reporter& reporter) {
    if (request.count == 0) return badInput("--count 0: expected 1 or more jobs.");
    if (const auto wrong = wrongPolicy(request.policy)) return badInput(*wrong);
    if (auto wrong = checkPlace(request, holder)) return std::move(*wrong);
    if (request.kind == Request::Kind::Workload) return prepareWorkload(request, holder, reporter);
    if (isSource(request.target)) return prepareSource(request, holder);
    if (request.kind == Request::Kind::Submit && isWorkloadFile(request.target)) return prepareWorkload(request, holder, reporter);
    return prepareKernel(request, holder);
}

/// The policy asked for, as long as this lives; then the one before, unless somebody chose another meanwhile.
class PolicyForNow {
public:
    PolicyForNow(Engine& engine, const std::string& policy) : engine_(engine), before_(engine.policy()), mine_(policy) {
        if (!mine_.empty() && mine_ != before_) static_cast<void>(engine_.setPolicy(mine_));
    }
    ~PolicyForNow() {
        if (!mine_.empty() && mine_ != before_ && engine_.policy() == mine_) static_cast<void>(engine_.setPolicy(before_));
    }
    PolicyForNow(const PolicyForNow&) = delete;
    PolicyForNow& operator=(const PolicyForNow&) = delete;

private:
    Engine& engine_;
    std::string before_, mine_;
};

/// Watches jobs to their end. Keeps how each ended: the engine forgets the oldest of very many.
class Watch {
public:
    Watch(std::vector<JobId> ids, Holder& holder) : ids_(std::move(ids)), mine_(ids_.begin(), ids_.end()), holder_(holder) {
        watching_ = holder.engine().observe([this](const EngineUpdate& update) {
            const std::lock_guard lock(mutex_);
            for (const auto& job : update.jobs)
                if (isFinal(job.state) && mine_.contains(job.id)) ended_.insert_or_assign(job.id, job);
        });
    }

    /// False when stopped: the jobs are cancelled then, and have ended.
    bool wait(const Reporter& reporter, const std::string& what) {
        const bool finished = holder_.engine().wait(ids_, [&] {
            reporter.progress(what, endedCount(), ids_.size());
            return reporter.stop();
        });
        if (finished) return true;
        holder_.engine().cancel(ids_);
        holder_.engine().wait(ids_);
        return false;
    }

    Answer answer(bool stopped) const {
        Answer answer;
        json jobs = json::array();
        for (const JobId id : ids_) {
            const JobSnapshot job = ended(id);
            if (job.state != JobState::Succeeded) answer.exitStatus = exit_status::failed;
            jobs.push_back(document::job(job));
        }
        if (stopped) answer.exitStatus = exit_status::interrupted;
        answer.document["jobs"] = std::move(jobs);
        return answer;
    }

private:
    std::size_t endedCount() const {
        const std::lock_guard lock(mutex_);
        return ended_.size();
    }

    // The last ones may have ended after the latest update.
    JobSnapshot ended(JobId id) const {
        const std::lock_guard lock(mutex_);
        const auto found = ended_.find(id);
        return found != ended_.end() ? found->second : holder_.engine().snapshot(id);
    }

    std::vector<JobId> ids_;
    std::unordered_set<JobId> mine_;
    Holder& holder_;
    mutable std::mutex mutex_;
    std::unordered_map<JobId, JobSnapshot> ended_;  // guarded by mutex_
    std::shared_ptr<void> watching_;                // last: ends before what it writes to
};

Answer runJobs(const Request& request, Holder& holder, const Reporter& reporter) {
    Prepared prepared = prepare(request, holder, reporter);
    if (auto* answer = std::get_if<Answer>(&prepared)) return std::move(*answer);
    if (reporter.stop()) return {exit_status::interrupted, noJobs()};
    const PolicyForNow policy(holder.engine(), request.kind == Request::Kind::Submit ? std::string() : request.policy);
    auto ids = holder.submit(std::move(std::get<std::vector<JobSpec>>(prepared)));
    if (!ids) return badInput(ids.error());

    if (request.kind == Request::Kind::Submit) {
        // What was said to be queued outlives a crash right after.
        if (auto* history = holder.history()) history->flush();
        if (!request.policy.empty()) static_cast<void>(holder.engine().setPolicy(request.policy));
        Answer answer = Watch(*ids, holder).answer(false);
        answer.exitStatus = exit_status::done;
        return answer;
    }
    if (holder.engine().paused()) reporter.message("The queue is paused; 'heteroscope queue resume' lets it go on.");
    Watch watch(std::move(*ids), holder);
    const bool finished = watch.wait(reporter, fs::path(request.target).filename().string());
    return watch.answer(!finished);
}

Answer compare(const Request& request, Holder& holder, const Reporter& reporter) {
    if (request.policies.empty()) return badInput("--policies names no policy; 'heteroscope policies' lists them.");
    for (const auto& policy : request.policies)
        if (const auto wrong = wrongPolicy(policy)) return badInput(*wrong);
    if (request.repeats < 1) return badInput(fmt::format("--repeat {}: expected 1 or more.", request.repeats));
    if (auto wrong = checkPlace(request, holder)) return std::move(*wrong);
    auto prepared = prepareWorkload(request, holder, reporter);
    if (auto* answer = std::get_if<Answer>(&prepared)) return std::move(*answer);

    ComparisonRequest asked;
    asked.name = fs::path(request.target).filename().string();
    for (const char* ending : {".json", ".workload"})
        if (asked.name.ends_with(ending)) asked.name.resize(asked.name.size() - std::string_view(ending).size());
    asked.jobs = std::move(std::get<std::vector<JobSpec>>(prepared));
    for (auto& job : asked.jobs) job.seed += request.seed - 1;
    asked.policies = request.policies;
    asked.repeats = request.repeats;
    const auto comparison = holder.compare(asked, reporter.stop, [&](const ComparisonProgress& progress) {
        reporter.progress(progress.phase, progress.done, progress.total);
    });
    if (!comparison) {
        const ErrorKind kind = comparison.error().kind;
        if (kind == ErrorKind::Cancelled) return refused(exit_status::interrupted, comparison.error());
        return refused(kind == ErrorKind::InvalidInput ? exit_status::badInput : exit_status::failed, comparison.error());
    }
    Answer answer{exit_status::done, document::comparison(*comparison)};
    for (const auto& run : comparison->runs) {
        if (run.failed == 0) continue;
        answer.exitStatus = exit_status::failed;
        reporter.message(fmt::format("{}: {} of {} jobs did not succeed: {}", run.policy, run.failed, comparison->jobs, run.firstError));
    }
    if (!comparison->complete) answer.exitStatus = exit_status::interrupted;
    return answer;
}

json leftJob(const LeftJob& job) {
    return {{"id", job.id}, {"kernel", job.kernel}, {"state", toString(job.state)}, {"after", job.after}};
}

Answer listQueue(Holder& holder) {
    json jobs = json::array(), left = json::array();
    for (const auto& job : holder.engine().snapshots())
        if (!isFinal(job.state)) jobs.push_back(document::job(job));
    for (const auto& job : holder.leftJobs()) left.push_back(leftJob(job));
    return {exit_status::done,
            {{"policy", holder.engine().policy()}, {"paused", holder.engine().paused()}, {"jobs", std::move(jobs)}, {"left", std::move(left)}}};
}

Answer dropFromQueue(const Request& request, Holder& holder) {
    std::vector<JobId> queued, left;
    for (const auto& job : holder.engine().snapshots())
        if (!isFinal(job.state)) queued.push_back(job.id);
    for (const auto& job : holder.leftJobs()) left.push_back(job.id);
    if (!request.dropAll) {
        for (const auto id : request.jobs)
            if (std::ranges::find(queued, id) == queued.end() && std::ranges::find(left, id) == left.end())
                return badInput(fmt::format("Job #{} is not in the queue.", id));
        const auto notNamed = [&](JobId id) { return std::ranges::find(request.jobs, id) == request.jobs.end(); };
        std::erase_if(queued, notNamed);
        std::erase_if(left, notNamed);
    }
    holder.engine().cancel(queued);
    holder.engine().wait(queued);
    if (!left.empty()) holder.dropLeftJobs(left);
    return listQueue(holder);
}

Answer resumeQueue(Holder& holder, const Reporter& reporter) {
    holder.engine().resume();
    const std::size_t left = holder.leftJobs().size();
    if (left == 0) return listQueue(holder);
    holder.ensureDevices();
    if (holder.devices().empty()) return refused(exit_status::failed, noDeviceError(holder.problems()), noJobs());
    const auto ids = holder.resumeLeftJobs();
    if (!ids) return badInput(ids.error());
    reporter.message(fmt::format("{} jobs that a session left behind run again.", ids->size()));
    Watch watch(*ids, holder);
    const bool finished = watch.wait(reporter, "resumed jobs");
    return watch.answer(!finished);
}

Answer queue(const Request& request, Holder& holder, const Reporter& reporter) {
    if (request.action == "resume") return resumeQueue(holder, reporter);
    if (request.action == "drop") return dropFromQueue(request, holder);
    if (request.action == "pause") holder.engine().pause();
    return listQueue(holder);
}

Answer deleteHistory(const Request& request, Holder& holder) {
    if (!holder.history()) return refused(exit_status::failed, {ErrorKind::Io, holder.notices().empty() ? "There is no history." : holder.notices().front().what});
    holder.history()->deleteJobs(request.jobs);
    holder.history()->flush();
    return {exit_status::done, {{"deleted", request.jobs.size()}}};
}

}  // namespace

Answer carryOut(const Request& request, Holder& holder, const Reporter& reporter) {
    switch (request.kind) {
        case Request::Kind::Run:
        case Request::Kind::Workload:
        case Request::Kind::Submit: return runJobs(request, holder, reporter);
        case Request::Kind::Compare: return compare(request, holder, reporter);
        case Request::Kind::Queue: return queue(request, holder, reporter);
        case Request::Kind::DeleteHistory: return deleteHistory(request, holder);
        case Request::Kind::Raise: break;  // the window's own
    }
    return badInput("This request is not for the engine.");
}

}  // namespace heteroscope
