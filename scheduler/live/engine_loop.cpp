// The scheduler thread: inputs in, the dispatcher's actions out.
#include "scheduler/live/engine_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

namespace heteroscope {
namespace {

constexpr std::size_t mostFinalKept = 50'000;  // final jobs kept in memory; older ones are in history
constexpr std::size_t mostAwaitingFinish = 8;  // attempts whose results wait for their check

}  // namespace

Engine::Impl::Impl(EngineOptions given, JobRecorder* log, std::shared_ptr<PerformanceModel> performance)
    : options(std::move(given)), recorder(log), model(std::move(performance)) {
    gate->target = this;
    if (recorder) nextId = recorder->firstFreeJobId();
    if (!model) model = std::make_shared<PerformanceModel>();
    DispatcherOptions core;
    core.policy = options.policy;
    core.stagedAhead = options.stagedAhead;
    core.starvationLimit = options.starvationLimit;
    core.epochNs = wallZero;
    auto policy = makePolicy(options.policy);
    if (!policy) {
        core.policy = options.policy = "mct";
        policy = makePolicy("mct");
    }
    policyName = options.policy;
    dispatcher = std::make_unique<Dispatcher>(core, std::move(*policy), *this);
    finisher = std::make_unique<JobFinisher>(options.outputFolder, options.outputQuotaBytes,
                                             [this](const AttemptPtr& attempt) { report(attempt); });
    if (options.startPaused) {
        pausedNow = true;
        events.push_back(event::Paused{});
    }
    thread = std::thread([this] { run(); });
}

Engine::Impl::~Impl() {
    // Nothing new starts; what runs is awaited, its rows are written; what waits stays resumable in history.
    post(Event(event::Paused{}));
    {
        std::unique_lock lock(tableMutex);
        while (!quiet()) jobShown.wait_for(lock, std::chrono::milliseconds(20));
        // A recorder that cannot write (full disk) must not keep the program open.
        const auto deadline = Clock::now() + std::chrono::seconds(2);
        while (uncommitted != 0 && Clock::now() < deadline) jobShown.wait_for(lock, std::chrono::milliseconds(20));
    }
    {
        const std::lock_guard lock(inboxMutex);
        stopping = true;
    }
    inboxWake.notify_all();
    thread.join();
    {
        const std::lock_guard lock(gate->mutex);
        gate->target = nullptr;
    }
    for (auto& [id, entry] : table) {
        if (entry.snapshot.state != JobState::Staging || entry.unsafe) continue;
        // Staged ahead and never launched: it waits for the next session like the ones behind it.
        dropAttempt(entry);
        entry.snapshot.state = JobState::Ready;
        if (recorder) recorder->recordJob(entry.snapshot, {});
    }
}

/// No kernel runs, nothing is staged or checked, no input waits. Any thread.
bool Engine::Impl::quiet() const {
    if (inFlightInputs != 0 || finisher->active() != 0) return false;
    return std::all_of(devices.begin(), devices.end(),
                       [](const DeviceSlot& slot) { return slot.worker->active() == 0; });
}

// ---------------------------------------------------------------------------------------------- costs

double Engine::Impl::runSeconds(JobId job, DeviceIndex device) const {
    auto& planned = *table.at(job).planned;
    if (planned.runSeconds.size() <= device) planned.runSeconds.resize(device + 1, -1.0);
    double& cached = planned.runSeconds[device];
    if (cached < 0.0) cached = model->predict(planned.plan, devices[device].device->info().id).seconds;
    return cached;
}

double Engine::Impl::dataSeconds(JobId job, DeviceIndex device) const {
    return model->stagingSeconds(table.at(job).planned->plan, devices[device].device->info().id);
}

const std::string* Engine::Impl::excluded(JobId job, DeviceIndex device) const {
    const auto& entry = table.at(job);
    const auto& slot = devices[device];
    if (!entry.spec->device.empty() && entry.spec->device != slot.device->info().id) return &slot.pinnedElsewhere;
    auto& known = entry.planned->whyNot;
    while (known.size() <= device) {
        known.push_back(whyNotOn(entry.planned->plan, devices[known.size()].device->info()));
    }
    return known[device] ? &*known[device] : nullptr;
}

// ---------------------------------------------------------------------------------------------- scheduler thread

void Engine::Impl::post(Input input) {
    ++inFlightInputs;
    {
        const std::lock_guard lock(inboxMutex);
        inbox.push_back(std::move(input));
    }
    inboxWake.notify_one();
}

void Engine::Impl::run() {
    std::vector<Input> inputs;
    for (;;) {
        inputs.clear();
        {
            std::unique_lock lock(inboxMutex);
            const auto ready = [this] { return stopping || !inbox.empty(); };
            std::optional<Clock::time_point> until;
            if (timer) until = steadyZero + *timer;
            if (const auto next = nextPublish()) until = until ? std::min(*until, *next) : *next;
            if (until) inboxWake.wait_until(lock, *until, ready);
            else inboxWake.wait(lock, ready);
            if (stopping && inbox.empty()) break;
            inputs.swap(inbox);
        }
        handleInputs(inputs);
        if (const auto next = nextPublish(); next && Clock::now() >= *next) publish();
        if (!inputs.empty()) {
            inFlightInputs -= inputs.size();
            jobShown.notify_all();
        }
    }
    publish();
}

std::optional<Engine::Impl::Clock::time_point> Engine::Impl::nextPublish() const {
    if (!dirty.empty() || stateDirty) return lastPublish + options.updateInterval;
    // After the last job the rate still has to fall to zero, but nobody needs that 30 times a second.
    if (!ends.empty()) return lastPublish + std::max<Clock::duration>(options.updateInterval, std::chrono::seconds(1));
    return std::nullopt;
}

void Engine::Impl::handleInputs(std::vector<Input>& inputs) {
    for (auto& input : inputs) {
        if (auto* event = std::get_if<Event>(&input)) {
            events.push_back(std::move(*event));
        } else {
            std::get<Control>(input)();
        }
    }
    if (timer && now() >= *timer) {
        timer.reset();
        events.push_back(event::Tick{});
    }
    flushEvents();
}

void Engine::Impl::flushEvents() {
    // Handling an action never adds events at once: workers answer through the inbox.
    if (events.empty()) return;
    actions.clear();
    dispatcher->handle(events, now(), actions);
    events.clear();
    for (const auto& action : actions) apply(action);
    publishDevices();
    stateDirty = true;
    forgetOld();
}

void Engine::Impl::apply(const Action& action) {
    if (const auto* change = std::get_if<action::StateChanged>(&action)) return apply(*change);
    if (const auto* stage = std::get_if<action::Stage>(&action)) return apply(*stage);
    if (const auto* launch = std::get_if<action::Launch>(&action)) return apply(*launch);
    if (const auto* abort = std::get_if<action::Abort>(&action)) return apply(*abort);
    const Time at = std::get<action::SetTimer>(action).at;
    timer = timer ? std::min(*timer, at) : at;
}

void Engine::Impl::apply(const action::Stage& stage) {
    auto& entry = table.at(stage.job);
    auto attempt = std::make_shared<Attempt>();
    attempt->job = stage.job;
    attempt->number = stage.attempt;
    attempt->device = stage.device;
    attempt->spec = entry.spec;
    attempt->plan = std::shared_ptr<const LaunchPlan>(entry.planned, &entry.planned->plan);
    {
        const std::lock_guard lock(tableMutex);
        entry.attempt = attempt;
    }
    devices[stage.device].worker->stage(std::move(attempt));
}

void Engine::Impl::apply(const action::Launch& launch) {
    auto& entry = table.at(launch.job);
    if (!entry.attempt) return;
    entry.held = false;
    devices[launch.device].worker->launch(entry.attempt);
}

void Engine::Impl::apply(const action::Abort& abort) {
    auto& entry = table.at(abort.job);
    if (!entry.attempt || entry.attempt->number != abort.attempt) return;
    devices[abort.device].worker->abort(entry.attempt);
    if (!entry.held) return;  // whoever works on it says that it ended
    dropAttempt(entry);
    post(Event(event::JobEnded{abort.job, abort.attempt, JobState::Cancelled}));
}

/// Takes an attempt from its job: what it still does is of no interest any more.
void Engine::Impl::dropAttempt(Entry& entry) {
    if (!entry.attempt) return;
    auto& worker = *devices[entry.attempt->device].worker;
    worker.abort(entry.attempt);
    if (entry.held) worker.releaseBuffers(*entry.attempt);
    const std::lock_guard lock(tableMutex);
    entry.held = false;
    entry.attempt.reset();
}

void Engine::Impl::settleWriters(Entry& entry) {
    const bool settled = entry.attempt ? entry.attempt->writersSettled.exchange(true) : entry.writersSettled;
    if (!settled) finisher->writerGone(*entry.spec);
    entry.writersSettled = true;
}

void Engine::Impl::apply(const action::StateChanged& change) {
    const auto found = table.find(change.job);
    if (found == table.end()) return;
    auto& entry = found->second;
    JobSnapshot next = entry.unsafe ? *entry.unsafe : entry.snapshot;
    const JobState before = next.state;
    place(change.job, change);
    stamp(next, change);
    if (isFinal(change.state)) {
        if (change.state != JobState::Succeeded) settleWriters(entry);
        if (change.state == JobState::Skipped) {
            const auto cause = table.find(change.cause);
            const auto& other = cause == table.end() ? next
                                : cause->second.unsafe ? *cause->second.unsafe : cause->second.snapshot;
            next.reason = fmt::format("skipped: #{} {}", change.cause,
                                      cause == table.end() ? "did not succeed" : toString(other.state));
        } else if (change.state == JobState::Cancelled) {
            next.reason = before == JobState::Running
                              ? "cancelled while it ran: the runtime cannot stop a kernel, its result is dropped"
                              : "cancelled";
        }
        return end(entry, std::move(next));
    }
    if (isFinal(before)) {  // tried again by hand
        finisher->expectWriters(*entry.spec);
        entry.writersSettled = false;
        ++entry.planned->unfinished;
        unfinishedPlans.insert(entry.planned);
        next.times = JobTimes{.submitted = next.times.submitted, .ready = next.times.ready};
        next.error.reset();
        next.check = {};
        next.outputs.clear();
    }
    // Back in the queue because its device went: the attempt there counts for nothing.
    if (change.state <= JobState::Assigned && (before == JobState::Staging || before == JobState::Running)) {
        dropAttempt(entry);
    }
    const bool toRecord = change.state == JobState::Staging || change.state < before;
    show(entry, std::move(next));
    if (toRecord && recorder) recorder->recordJob(entry.snapshot, {});
}

/// Keeps the lists of what stages and runs on each device.
void Engine::Impl::place(JobId job, const action::StateChanged& change) {
    const std::lock_guard lock(tableMutex);
    for (auto& slot : devices) {
        slot.staging.erase(job);
        slot.running.erase(job);
    }
    if (change.state == JobState::Staging) devices[change.device].staging.insert(job);
    if (change.state == JobState::Running) devices[change.device].running.insert(job);
}

void Engine::Impl::stamp(JobSnapshot& snapshot, const action::StateChanged& change) {
    const std::int64_t at = wall(Clock::now());
    snapshot.state = change.state;
    auto& times = snapshot.times;
    switch (change.state) {
        case JobState::Waiting:
            times = JobTimes{.submitted = times.submitted};
            break;
        case JobState::Ready:
            times = JobTimes{.submitted = times.submitted, .ready = times.ready ? times.ready : at};
            snapshot.device.clear();
            break;
        case JobState::Assigned:
            times.assigned = at;
            snapshot.policy = policyName;
            if (options.keepDecisions) snapshot.decision = change.decision;
            break;
        case JobState::Staging:
            times.staging = at;
            snapshot.attempts = change.attempt;
            break;
        case JobState::Running:
            times.started = at;
            snapshot.waitSeconds = static_cast<double>(at - times.submitted) * 1e-9;
            break;
        default:
            times.ended = at;
            break;
    }
    if (change.device != noDevice && change.state >= JobState::Assigned) {
        const auto& info = devices[change.device].device->info();
        snapshot.device = info.id;
        snapshot.runtime = info.runtimes.empty() ? std::string() : std::string(toString(info.runtimes.front().api));
        if (change.state == JobState::Assigned) snapshot.predictedSeconds = runSeconds(change.job, change.device);
    }
}

void Engine::Impl::takeReport(JobSnapshot& snapshot, const AttemptReport& found) const {
    auto& times = snapshot.times;
    const auto set = [&](std::int64_t& field, Clock::time_point at) {
        if (at != Clock::time_point{}) field = wall(at);
    };
    set(times.staging, found.stagingBegan);
    set(times.staged, found.staged);
    set(times.started, found.started);
    set(times.finished, found.finished);
    const auto between = [](Clock::time_point from, Clock::time_point to) {
        if (from == Clock::time_point{} || to == Clock::time_point{}) return 0.0;
        return std::chrono::duration<double>(to - from).count();
    };
    if (times.started != 0) {
        snapshot.waitSeconds = static_cast<double>(times.started - times.submitted) * 1e-9;
    }
    snapshot.stageInSeconds = between(found.stagingBegan, found.staged);
    snapshot.runSeconds = between(found.started, found.finished);
    snapshot.stageOutSeconds = between(found.finished, found.outputsBack);
    snapshot.error = found.error;
    snapshot.check = found.check;
    snapshot.outputs = found.outputs;
    snapshot.log = found.error && !found.error->log.empty() ? found.error->log : found.log;
    if (found.error) snapshot.reason = found.error->message;
    else if (found.check.state == CheckResult::State::Passed) snapshot.reason = "check passed";
    else snapshot.reason.clear();
}

void Engine::Impl::end(Entry& entry, JobSnapshot finalSnapshot) {
    if (entry.planned->unfinished > 0 && --entry.planned->unfinished == 0) unfinishedPlans.erase(entry.planned);
    ends.push_back(Clock::now());
    const JobId job = finalSnapshot.id;
    const auto state = finalSnapshot.state;
    const auto attempts = finalSnapshot.attempts;
    if (recorder) {
        {
            const std::lock_guard lock(tableMutex);
            entry.unsafe = finalSnapshot;
        }
        ++uncommitted;
        recorder->recordJob(std::move(finalSnapshot), [gate = gate, job, state, attempts] {
            const std::lock_guard lock(gate->mutex);
            if (!gate->target) return;
            auto* engine = gate->target;
            engine->post(Control([engine, job, state, attempts] { engine->committed(job, state, attempts); }));
        });
    } else {
        show(entry, std::move(finalSnapshot));
    }
    for (const JobId dependant : entry.dependants) {
        const auto it = table.find(dependant);
        if (it != table.end()) refreshReason(it->second);
    }
}

void Engine::Impl::committed(JobId job, JobState state, std::uint32_t attempt) {
    --uncommitted;
    const auto it = table.find(job);
    if (it == table.end() || !it->second.unsafe) return;
    auto& entry = it->second;
    if (entry.unsafe->state != state || entry.unsafe->attempts != attempt) return;
    JobSnapshot safe = std::move(*entry.unsafe);
    show(entry, std::move(safe));
}

void Engine::Impl::show(Entry& entry, JobSnapshot snapshot) {
    const JobId job = snapshot.id;
    const JobState state = snapshot.state;
    {
        const std::lock_guard lock(tableMutex);
        --counts[static_cast<std::size_t>(entry.snapshot.state)];
        ++counts[static_cast<std::size_t>(state)];
        entry.snapshot = std::move(snapshot);
        entry.unsafe.reset();
        if (!isFinal(state)) entry.snapshot.reason = reasonFor(entry);
    }
    if (isFinal(state)) {
        finalOrder.push_back(job);
        jobShown.notify_all();
    }
    dirty.insert(job);
    stateDirty = true;
}

void Engine::Impl::refreshReason(Entry& entry) {
    const std::lock_guard lock(tableMutex);
    if (isFinal(entry.snapshot.state)) return;
    entry.snapshot.reason = reasonFor(entry);
    dirty.insert(entry.snapshot.id);
}

std::string Engine::Impl::reasonFor(const Entry& entry) const {
    const auto& job = entry.snapshot;
    switch (job.state) {
        case JobState::Waiting: {
            std::vector<JobId> open;
            for (const JobId before : job.after) {
                const auto it = table.find(before);
                if (it == table.end()) continue;
                const auto& other = it->second.unsafe ? *it->second.unsafe : it->second.snapshot;
                if (other.state != JobState::Succeeded) open.push_back(before);
            }
            if (open.empty()) return entry.spec->arrival.count() > 0 ? "arrives later" : "";
            if (open.size() == 1) return fmt::format("waits for #{}", open[0]);
            if (open.size() == 2) return fmt::format("waits for #{}, #{}", open[0], open[1]);
            return fmt::format("waits for #{} and {} more", open[0], open.size() - 1);
        }
        case JobState::Ready: {
            if (pausedNow) return "the queue is paused";
            if (devices.empty()) return "no compute device found yet";
            std::string reasons;
            bool anywhere = false;
            for (DeviceIndex d = 0; d < devices.size(); ++d) {
                const auto& slot = devices[d];
                const auto* why = excluded(job.id, d);
                if (!why && slot.online) anywhere = true;
                else reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", slot.device->info().id,
                                            why ? *why : slot.lost);
            }
            return anywhere ? "waits for a free device" : reasons;
        }
        case JobState::Assigned: return pausedNow ? "the queue is paused" : fmt::format("in the queue of {}", job.device);
        case JobState::Staging: return "builds, fills and copies its data";
        case JobState::Running:
            if (job.times.finished != 0) return "its results come back and are checked";
            return "runs; progress not known";
        default: return job.reason;
    }
}

void Engine::Impl::staged(const AttemptPtr& attempt) {
    post(Control([this, attempt] {
        const auto it = table.find(attempt->job);
        if (it == table.end() || it->second.attempt != attempt) {  // dropped meanwhile
            devices[attempt->device].worker->releaseBuffers(*attempt);
        } else {
            it->second.held = true;
            model->recordStaging(*attempt->plan, devices[attempt->device].device->info().id,
                                 std::chrono::duration<double>(attempt->report.staged - attempt->report.built).count());
        }
        if (attempt->aborted && it != table.end() && it->second.attempt == attempt) {
            dropAttempt(it->second);
            events.push_back(event::JobEnded{attempt->job, attempt->number, JobState::Cancelled});
            return;
        }
        events.push_back(event::JobStaged{attempt->job, attempt->number});
    }));
}

void Engine::Impl::runEnded(const AttemptPtr& attempt, double seconds) {
    post(Control([this, attempt, seconds] {
        const auto it = table.find(attempt->job);
        if (it != table.end()) {
            auto& planned = *it->second.planned;
            model->record(planned.plan, devices[attempt->device].device->info().id, seconds);
            if (planned.runSeconds.size() > attempt->device) planned.runSeconds[attempt->device] = -1.0;
            if (it->second.attempt == attempt && !it->second.unsafe && !isFinal(it->second.snapshot.state)) {
                {
                    const std::lock_guard lock(tableMutex);
                    it->second.snapshot.times.finished = wall(attempt->report.finished);
                    it->second.snapshot.runSeconds = seconds;
                }
                refreshReason(it->second);
            }
        }
        events.push_back(event::RunEnded{attempt->job, attempt->number, seconds});
    }));
}

void Engine::Impl::report(const AttemptPtr& attempt) {
    post(Control([this, attempt] {
        // Inputs before this one have had their say; the report and the end belong together.
        flushEvents();
        devices[attempt->device].worker->releaseBuffers(*attempt);
        attempt->buffers.clear();
        const auto it = table.find(attempt->job);
        if (it != table.end() && it->second.attempt == attempt) {
            auto& entry = it->second;
            entry.writersSettled = attempt->writersSettled;
            const std::lock_guard lock(tableMutex);
            entry.attempt.reset();
            // A job cancelled while it ran is final already: what came late changes nothing but frees the device.
            if (!entry.unsafe && !isFinal(entry.snapshot.state)) takeReport(entry.snapshot, attempt->report);
        }
        events.push_back(event::JobEnded{attempt->job, attempt->number, attempt->report.state});
        flushEvents();
    }));
}

void Engine::Impl::addDevice(std::shared_ptr<Device> device) {
    const auto index = static_cast<DeviceIndex>(devices.size());
    WorkerEvents toEngine;
    toEngine.awaitRoom = [this] { finisher->waitBelow(mostAwaitingFinish); };
    toEngine.staged = [this](const AttemptPtr& attempt) { staged(attempt); };
    toEngine.runEnded = [this](const AttemptPtr& attempt, double seconds) { runEnded(attempt, seconds); };
    toEngine.outputsBack = [this](const AttemptPtr& attempt) { finisher->finish(attempt); };
    toEngine.ended = [this](const AttemptPtr& attempt) { report(attempt); };
    toEngine.deviceLost = [this, index](const Error& error) {
        post(Control([this, index, error] { deviceLost(index, error); }));
    };
    {
        const std::lock_guard lock(tableMutex);
        auto& slot = devices.emplace_back();
        slot.device = device;
        slot.pinnedElsewhere = "the job asks for another device";
        slot.worker = std::make_unique<DeviceWorker>(std::move(device), std::move(toEngine));
    }
    events.push_back(event::DeviceCame{index});
    for (auto& [id, entry] : table) refreshReason(entry);
}

void Engine::Impl::insert(std::vector<Entry>& entries) {
    std::vector<DispatchJob> jobs;
    jobs.reserve(entries.size());
    std::vector<JobId> ids;
    {
        const std::lock_guard lock(tableMutex);
        for (auto& entry : entries) {
            const auto& spec = *entry.spec;
            entry.snapshot.times.submitted = wall(Clock::now());
            jobs.push_back({spec.id, spec.priority, spec.after, spec.arrival});
            finisher->expectWriters(spec);
            ++entry.planned->unfinished;
            entry.planned->example = spec.id;
            unfinishedPlans.insert(entry.planned);
            ++counts[static_cast<std::size_t>(JobState::Waiting)];
            ids.push_back(spec.id);
            table.insert_or_assign(spec.id, std::move(entry));
        }
        for (const JobId id : ids) {
            for (const JobId before : table.at(id).spec->after) {
                const auto it = table.find(before);
                if (it != table.end()) it->second.dependants.push_back(id);
            }
            dirty.insert(id);
        }
    }
    if (recorder) {
        for (const JobId id : ids) recorder->recordJob(table.at(id).snapshot, {});
    }
    events.push_back(event::JobsSubmitted{std::move(jobs)});
}

void Engine::Impl::deviceLost(DeviceIndex device, const Error& error) {
    auto& slot = devices[device];
    if (!slot.online) return;  // said once
    {
        const std::lock_guard lock(tableMutex);
        slot.online = false;
        slot.lost = "lost: " + error.message;
        problems.push_back({fmt::format("{} was lost: {}", slot.device->info().id, error.message),
                            "Its waiting jobs go to other devices. Rescan to try it again."});
    }
    events.push_back(event::DeviceWent{device, slot.lost});
}

void Engine::Impl::forgetOld() {
    std::vector<JobId> old;
    while (finalOrder.size() > mostFinalKept) {
        const JobId job = finalOrder.front();
        finalOrder.pop_front();
        const auto it = table.find(job);
        if (it == table.end() || !isFinal(it->second.snapshot.state)) continue;
        const std::lock_guard lock(tableMutex);
        table.erase(it);
        dirty.erase(job);
        old.push_back(job);
    }
    if (!old.empty()) events.push_back(event::ForgetFinal{std::move(old)});
}

}  // namespace heteroscope
