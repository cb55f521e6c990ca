// The live driver. One scheduler thread owns the Dispatcher and the job table; everybody else puts inputs into its
// inbox. The table's mutex is held by that thread only while it writes, and by readers of snapshots.
//
//   submit, cancel, …  ──►  inbox  ──►  Dispatcher  ──►  actions  ──►  DeviceWorker  ──►  JobFinisher
//                             ▲                                           │                   │
//                             └──────────── staged, run ended, report ────┴───────────────────┘
//
// A final state is shown once the recorder says that its row is safe; dependants start without waiting for that.

#include "scheduler/engine.h"

#include "scheduler/dispatcher.h"
#include "scheduler/live/device_worker.h"
#include "scheduler/live/job_finisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>

namespace heteroscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t mostUnwritten = 100'000;     // rows; submission waits above it
constexpr std::size_t mostFinalKept = 50'000;      // final jobs kept in memory; older ones are in history
constexpr std::size_t mostJobsPerUpdate = 2'000;   // snapshots in one EngineUpdate
constexpr std::size_t mostAwaitingFinish = 8;      // attempts whose results wait for their check
constexpr auto rateWindow = std::chrono::seconds(10);

/// A kernel at one set of parameters: shared by all jobs that ask for the same.
struct Planned {
    LaunchPlan plan;
    std::vector<std::optional<std::string>> whyNot;  // by device, as far as looked at; scheduler thread
    std::vector<double> runSeconds;                  // by device; negative: ask the model
    std::size_t unfinished = 0;
    JobId example = 0;  // one of its jobs, for questions that need a job
};

/// Lets a recorder's late answers find out that the engine is gone.
template <class T>
struct Gate {
    std::mutex mutex;
    T* target = nullptr;  // guarded by mutex
};

struct Entry {
    std::shared_ptr<const JobSpec> spec;
    std::shared_ptr<Planned> planned;
    JobSnapshot snapshot;                   // what observers see
    std::optional<JobSnapshot> unsafe;      // a final state whose row is not committed yet
    std::vector<JobId> dependants;
    AttemptPtr attempt;                     // the one in flight
    bool held = false;                      // staged, not launched yet
    bool writersSettled = false;            // see Attempt::writersSettled, when there is no attempt
};

struct DeviceSlot {
    std::shared_ptr<Device> device;
    std::unique_ptr<DeviceWorker> worker;
    bool online = true;
    std::string lost;
    std::set<JobId> staging, running;
    std::string pinnedElsewhere;  // reason shown for jobs that ask for another device
};

}  // namespace

std::string parametersText(const Kernel& kernel, const Parameters& parameters) {
    std::string text;
    for (const auto& parameter : kernel.parameters) {
        const auto value = parameters.find(parameter.name);
        if (value == parameters.end()) continue;
        text += fmt::format("{}{}={:.15g}", text.empty() ? "" : " ", parameter.name, value->second);
    }
    return text;
}

struct Engine::Impl final : CostModel {
    using Control = std::function<void()>;
    using Input = std::variant<Event, Control>;

    Impl(EngineOptions given, JobRecorder* log, std::shared_ptr<PerformanceModel> performance);
    ~Impl() override;

    // CostModel, scheduler thread
    double runSeconds(JobId job, DeviceIndex device) const override;
    double dataSeconds(JobId job, DeviceIndex device) const override;
    const std::string* excluded(JobId job, DeviceIndex device) const override;

    void post(Input input);
    void run();
    void handleInputs(std::vector<Input>& inputs);
    void flushEvents();
    void apply(const Action& action);
    void apply(const action::StateChanged& change);
    void apply(const action::Stage& stage);
    void apply(const action::Launch& launch);
    void apply(const action::Abort& abort);
    void stamp(JobSnapshot& snapshot, const action::StateChanged& change);
    void takeReport(JobSnapshot& snapshot, const AttemptReport& report) const;
    void end(Entry& entry, JobSnapshot finalSnapshot);
    void show(Entry& entry, JobSnapshot snapshot);
    void committed(JobId job, JobState state, std::uint32_t attempt);
    void staged(const AttemptPtr& attempt);
    void runEnded(const AttemptPtr& attempt, double seconds);
    void report(const AttemptPtr& attempt);
    void place(JobId job, const action::StateChanged& change);
    void settleWriters(Entry& entry);
    void dropAttempt(Entry& entry);
    void insert(std::vector<Entry>& entries);
    void addDevice(std::shared_ptr<Device> device);
    bool quiet() const;
    void deviceLost(DeviceIndex device, const Error& error);
    void setPaused(bool pause);
    void forgetOld();
    void refreshReason(Entry& entry);
    void publishDevices();
    std::optional<Clock::time_point> nextPublish() const;
    void publish();
    void estimateEmpty();
    std::string reasonFor(const Entry& entry) const;

    Result<std::shared_ptr<Planned>> plan(const JobSpec& spec);
    Status whyNowhere(const JobSpec& spec, const Planned& planned) const;
    Status checkBindings(const JobSpec& spec, const LaunchPlan& plan) const;
    Status checkGraph(const std::vector<JobSpec>& jobs) const;

    Time now() const { return Clock::now() - steadyZero; }
    std::int64_t wall(Clock::time_point at) const {
        return wallZero + std::chrono::duration_cast<std::chrono::nanoseconds>(at - steadyZero).count();
    }

    EngineOptions options;
    JobRecorder* recorder;
    std::shared_ptr<PerformanceModel> model;
    const Clock::time_point steadyZero = Clock::now();
    const std::int64_t wallZero = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::system_clock::now().time_since_epoch()).count();

    std::mutex inboxMutex;
    std::condition_variable inboxWake;
    std::vector<Input> inbox;  // guarded by inboxMutex
    bool stopping = false;     // guarded by inboxMutex

    mutable std::mutex tableMutex;
    std::condition_variable jobShown;                // with tableMutex: a job reached a final state or all is quiet
    std::unordered_map<JobId, Entry> table;          // written by the scheduler thread under tableMutex
    std::deque<DeviceSlot> devices;                  // likewise; a slot never moves
    std::vector<DeviceSnapshot> deviceSnapshots;     // guarded by tableMutex
    std::array<std::size_t, jobStateCount> counts{}; // guarded by tableMutex
    std::string policyName;                          // guarded by tableMutex
    bool pausedNow = false;                          // guarded by tableMutex
    std::vector<DeviceProblem> problems;             // guarded by tableMutex

    std::mutex planMutex;
    std::unordered_map<std::string, std::weak_ptr<Planned>> plans;  // guarded by planMutex; key: kernel address and parameters

    std::mutex observersMutex;
    std::map<std::uint64_t, Observer> observers;  // guarded by observersMutex
    std::uint64_t nextObserver = 0;               // guarded by observersMutex

    std::atomic<JobId> nextId{1};
    std::atomic<std::size_t> inFlightInputs{0};  // posted, not yet through

    // Scheduler thread only
    std::unique_ptr<Dispatcher> dispatcher;
    std::vector<Event> events;
    std::vector<Action> actions;
    std::optional<Time> timer;
    std::set<JobId> dirty;
    bool stateDirty = true;
    Clock::time_point lastPublish{};
    std::deque<Clock::time_point> ends;
    std::deque<JobId> finalOrder;
    std::set<std::shared_ptr<Planned>> unfinishedPlans;
    double emptyIn = -1.0;
    Clock::time_point lastEstimate{};

    std::shared_ptr<Gate<Impl>> gate = std::make_shared<Gate<Impl>>();
    std::atomic<std::size_t> uncommitted{0};
    std::unique_ptr<JobFinisher> finisher;
    std::thread thread;
};

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

std::optional<Clock::time_point> Engine::Impl::nextPublish() const {
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
        case JobState::Running: return "runs; progress not known";
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

// ---------------------------------------------------------------------------------------------- observers

void Engine::Impl::publishDevices() {
    const std::lock_guard lock(tableMutex);
    deviceSnapshots.resize(devices.size());
    for (DeviceIndex d = 0; d < devices.size(); ++d) {
        auto& snapshot = deviceSnapshots[d];
        const auto view = dispatcher->device(d);
        snapshot.id = devices[d].device->info().id;
        snapshot.online = devices[d].online;
        snapshot.lost = devices[d].lost;
        snapshot.queued = view.queued;
        snapshot.freeInSeconds = dispatcher->freeInSeconds(d);
        snapshot.running.assign(devices[d].running.begin(), devices[d].running.end());
        snapshot.staging.assign(devices[d].staging.begin(), devices[d].staging.end());
    }
}

/// Every kernel's unfinished jobs, at the rate that all devices together run it by prediction.
void Engine::Impl::estimateEmpty() {
    if (lastPublish - lastEstimate < std::chrono::milliseconds(500)) return;
    lastEstimate = lastPublish;
    emptyIn = 0.0;
    for (const auto& planned : unfinishedPlans) {
        double rate = 0.0;
        for (DeviceIndex d = 0; d < devices.size(); ++d) {
            const auto job = table.find(planned->example);
            if (job == table.end() || !devices[d].online || excluded(job->first, d)) continue;
            const double run = runSeconds(job->first, d);
            if (run >= 0.0) rate += 1.0 / std::max({run, dataSeconds(job->first, d), 1e-9});
        }
        if (rate <= 0.0) {
            emptyIn = -1.0;
            return;
        }
        emptyIn += static_cast<double>(planned->unfinished) / rate;
    }
}

void Engine::Impl::publish() {
    lastPublish = Clock::now();
    EngineUpdate update;
    while (!ends.empty() && ends.front() < lastPublish - rateWindow) ends.pop_front();
    const auto span = std::min<double>(std::chrono::duration<double>(rateWindow).count(),
                                       std::chrono::duration<double>(lastPublish - steadyZero).count());
    update.jobsPerSecond = span > 0.0 ? static_cast<double>(ends.size()) / span : 0.0;
    estimateEmpty();
    update.emptyInSeconds = emptyIn;
    {
        const std::lock_guard lock(tableMutex);
        while (!dirty.empty() && update.jobs.size() < mostJobsPerUpdate) {
            const auto it = table.find(*dirty.begin());
            if (it != table.end()) update.jobs.push_back(it->second.snapshot);
            dirty.erase(dirty.begin());
        }
        update.devices = deviceSnapshots;
        update.counts = counts;
        update.policy = policyName;
        update.paused = pausedNow;
        update.problems = problems;
    }
    stateDirty = false;
    const std::lock_guard lock(observersMutex);
    for (const auto& [id, observer] : observers) observer(update);
}

// ---------------------------------------------------------------------------------------------- submission

Result<std::shared_ptr<Planned>> Engine::Impl::plan(const JobSpec& spec) {
    std::string key = fmt::format("{}", static_cast<const void*>(spec.kernel.get()));
    for (const auto& [name, value] : spec.parameters) key += fmt::format(";{}={:.17g}", name, value);
    {
        const std::lock_guard lock(planMutex);
        if (auto known = plans[key].lock()) return known;
    }
    auto planned = planLaunch(spec.kernel, spec.parameters);
    if (!planned) return planned.error();
    auto made = std::make_shared<Planned>();
    made->plan = std::move(*planned);
    const std::lock_guard lock(planMutex);
    if (plans.size() > 10'000) std::erase_if(plans, [](const auto& item) { return item.second.expired(); });
    plans[key] = made;
    return made;
}

Status Engine::Impl::checkBindings(const JobSpec& spec, const LaunchPlan& plan) const {
    const auto refuse = [&](std::string text) {
        return Error{ErrorKind::InvalidInput, fmt::format("{}: {}", spec.label.empty() ? plan.kernel->id : spec.label, text)};
    };
    for (const auto& [name, binding] : spec.bindings) {
        const auto planned = std::find_if(plan.arguments.begin(), plan.arguments.end(),
                                          [&](const PlannedArgument& a) { return a.argument->name == name; });
        if (planned == plan.arguments.end() || planned->argument->kind != KernelArgument::Kind::Buffer) {
            return refuse(fmt::format("kernel '{}' has no buffer argument '{}'", plan.kernel->id, name));
        }
        const auto& data = *binding.data;
        if (binding.first > data.count() || binding.count.value_or(0) > data.count() - binding.first) {
            return refuse(fmt::format("'{}' asks for elements {} to {} of data '{}', which has {}", name, binding.first,
                                      binding.first + binding.count.value_or(0), data.name(), data.count()));
        }
        const std::uint64_t bytes = binding.count.value_or(data.count() - binding.first) * data.type().bytes();
        if (bytes != planned->bytes) {
            return refuse(fmt::format("'{}' takes {} bytes, data '{}' gives {}", name, planned->bytes, data.name(), bytes));
        }
    }
    return {};
}

Status Engine::Impl::whyNowhere(const JobSpec& spec, const Planned& planned) const {
    const std::lock_guard lock(tableMutex);
    if (devices.empty()) return {};
    std::string reasons;
    for (const auto& slot : devices) {
        const auto& info = slot.device->info();
        std::optional<std::string> why;
        if (!spec.device.empty() && spec.device != info.id) why = fmt::format("the job asks for {}", spec.device);
        else why = whyNotOn(planned.plan, info);
        if (!why) return {};
        reasons += fmt::format("\n  {}: {}", info.id, *why);
    }
    return Error{ErrorKind::InvalidInput,
                 fmt::format("{} ({}): no device can run it:{}", spec.label.empty() ? spec.kernel->id : spec.label,
                             parametersText(*spec.kernel, planned.plan.parameters), reasons)};
}

Status Engine::Impl::checkGraph(const std::vector<JobSpec>& jobs) const {
    std::unordered_map<JobId, std::size_t> position;
    for (std::size_t i = 0; i < jobs.size(); ++i) position[jobs[i].id] = i;
    if (position.size() != jobs.size()) return Error{ErrorKind::InvalidInput, "two jobs have the same id"};
    std::vector<std::size_t> open(jobs.size(), 0);
    std::vector<std::vector<std::size_t>> next(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (const JobId before : jobs[i].after) {
            const auto it = position.find(before);
            if (it != position.end()) {
                ++open[i];
                next[it->second].push_back(i);
            } else if (before >= nextId) {
                return Error{ErrorKind::InvalidInput, fmt::format("#{} waits for #{}, which does not exist", jobs[i].id, before)};
            }
        }
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (open[i] == 0) free.push_back(i);
    }
    std::size_t done = 0;
    while (!free.empty()) {
        const std::size_t i = free.back();
        free.pop_back();
        ++done;
        for (const std::size_t j : next[i]) {
            if (--open[j] == 0) free.push_back(j);
        }
    }
    if (done == jobs.size()) return {};
    // Walk back along unmet dependencies: within as many steps as there are jobs one comes round again.
    std::size_t at = 0;
    while (open[at] == 0) ++at;
    std::vector<std::size_t> path;
    std::vector<char> seen(jobs.size(), 0);
    while (!seen[at]) {
        seen[at] = 1;
        path.push_back(at);
        for (const JobId before : jobs[at].after) {
            const auto it = position.find(before);
            if (it != position.end() && open[it->second] != 0) {
                at = it->second;
                break;
            }
        }
    }
    const auto nameOf = [&](std::size_t i) {
        return jobs[i].label.empty() ? fmt::format("#{}", jobs[i].id) : jobs[i].label;
    };
    std::string cycle = nameOf(at);
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
        cycle += " → " + nameOf(*it);
        if (*it == at) break;
    }
    return Error{ErrorKind::InvalidInput, "the jobs wait for each other: " + cycle};
}

Engine::Engine(EngineOptions options, JobRecorder* recorder, std::shared_ptr<PerformanceModel> model)
    : impl_(std::make_unique<Impl>(std::move(options), recorder, std::move(model))) {}

Engine::~Engine() = default;

void Engine::addDevice(std::shared_ptr<Device> device) {
    // Waited for, so that what is submitted next is held against it.
    std::promise<void> added;
    impl_->post(Impl::Control([impl = impl_.get(), &device, &added] {
        impl->addDevice(device);
        added.set_value();
    }));
    added.get_future().wait();
}

void Engine::removeDevice(const std::string& id, const std::string& why) {
    impl_->post(Impl::Control([impl = impl_.get(), id, why] {
        for (DeviceIndex d = 0; d < impl->devices.size(); ++d) {
            auto& slot = impl->devices[d];
            if (!slot.online || slot.device->info().id != id) continue;
            {
                const std::lock_guard lock(impl->tableMutex);
                slot.online = false;
                slot.lost = why;
            }
            impl->events.push_back(event::DeviceWent{d, why});
        }
    }));
}

std::vector<DeviceInfo> Engine::devices() const {
    const std::lock_guard lock(impl_->tableMutex);
    std::vector<DeviceInfo> infos;
    for (const auto& slot : impl_->devices) infos.push_back(slot.device->info());
    return infos;
}

JobId Engine::reserveIds(std::size_t count) { return impl_->nextId.fetch_add(count); }

Result<std::vector<JobId>> Engine::submit(std::vector<JobSpec> jobs) {
    std::vector<Entry> entries;
    entries.reserve(jobs.size());
    std::vector<JobId> ids;
    if (auto graph = impl_->checkGraph(jobs); !graph) return graph.error();
    for (auto& job : jobs) {
        auto planned = impl_->plan(job);
        if (!planned) return planned.error();
        if (auto bound = impl_->checkBindings(job, (*planned)->plan); !bound) return bound.error();
        if (auto anywhere = impl_->whyNowhere(job, **planned); !anywhere) return anywhere.error();
        Entry entry;
        entry.planned = *planned;
        auto& snapshot = entry.snapshot;
        snapshot.id = job.id;
        snapshot.label = job.label;
        snapshot.kernel = job.kernel->id;
        snapshot.parameters = parametersText(*job.kernel, entry.planned->plan.parameters);
        snapshot.priority = job.priority;
        snapshot.flops = entry.planned->plan.flops;
        snapshot.bytes = entry.planned->plan.bytes;
        snapshot.after = job.after;
        entry.spec = std::make_shared<const JobSpec>(std::move(job));
        snapshot.spec = entry.spec;
        ids.push_back(snapshot.id);
        entries.push_back(std::move(entry));
    }
    while (impl_->recorder && impl_->recorder->unwritten() > mostUnwritten) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    // Waited for, so that wait() and snapshot() know the jobs as soon as this returns.
    std::promise<void> inserted;
    impl_->post(Impl::Control([impl = impl_.get(), &entries, &inserted] {
        impl->insert(entries);
        impl->flushEvents();
        inserted.set_value();
    }));
    inserted.get_future().wait();
    return ids;
}

void Engine::cancel(std::vector<JobId> jobs) { impl_->post(Event(event::CancelRequested{std::move(jobs)})); }

void Engine::setPriority(std::vector<JobId> jobs, int priority) {
    impl_->post(Impl::Control([impl = impl_.get(), jobs = std::move(jobs), priority] {
        for (const JobId job : jobs) {
            const auto it = impl->table.find(job);
            if (it == impl->table.end() || it->second.unsafe || isFinal(it->second.snapshot.state)) continue;
            {
                const std::lock_guard lock(impl->tableMutex);
                it->second.snapshot.priority = priority;
            }
            impl->dirty.insert(job);
            impl->events.push_back(event::PriorityChanged{job, priority});
            if (impl->recorder) impl->recorder->recordJob(it->second.snapshot, {});
        }
    }));
}

void Engine::retry(std::vector<JobId> jobs) {
    impl_->post(Impl::Control([impl = impl_.get(), jobs = std::move(jobs)] {
        for (const JobId job : jobs) {
            if (impl->table.contains(job)) impl->events.push_back(event::RetryRequested{job});
        }
    }));
}

void Engine::pause() {
    impl_->post(Impl::Control([impl = impl_.get()] { impl->setPaused(true); }));
}

void Engine::resume() {
    impl_->post(Impl::Control([impl = impl_.get()] { impl->setPaused(false); }));
}

void Engine::Impl::setPaused(bool pause) {
    if (pausedNow == pause) return;
    {
        const std::lock_guard lock(tableMutex);
        pausedNow = pause;
    }
    if (pause) events.push_back(event::Paused{});
    else events.push_back(event::Resumed{});
    for (auto& [id, entry] : table) refreshReason(entry);
    stateDirty = true;
}

Status Engine::setPolicy(const std::string& policy) {
    auto next = makePolicy(policy);
    if (!next) return next.error();
    impl_->post(Impl::Control([impl = impl_.get(), policy, next = std::shared_ptr<Policy>(std::move(*next))] {
        {
            const std::lock_guard lock(impl->tableMutex);
            impl->policyName = policy;
        }
        impl->events.push_back(event::PolicyChanged{policy, next});
    }));
    return {};
}

std::string Engine::policy() const {
    const std::lock_guard lock(impl_->tableMutex);
    return impl_->policyName;
}

bool Engine::paused() const {
    const std::lock_guard lock(impl_->tableMutex);
    return impl_->pausedNow;
}

bool Engine::wait(const std::vector<JobId>& jobs, const std::function<bool()>& stop) {
    std::size_t next = 0;
    std::unique_lock lock(impl_->tableMutex);
    for (;;) {
        while (next < jobs.size()) {
            const auto it = impl_->table.find(jobs[next]);
            if (it != impl_->table.end() && !isFinal(it->second.snapshot.state)) break;
            ++next;
        }
        if (next == jobs.size()) return true;
        impl_->jobShown.wait_for(lock, std::chrono::milliseconds(50));
        if (!stop) continue;
        lock.unlock();
        if (stop()) return false;
        lock.lock();
    }
}

void Engine::waitQuiet() {
    std::unique_lock lock(impl_->tableMutex);
    while (!impl_->quiet()) impl_->jobShown.wait_for(lock, std::chrono::milliseconds(20));
}

JobSnapshot Engine::snapshot(JobId job) const {
    const std::lock_guard lock(impl_->tableMutex);
    const auto it = impl_->table.find(job);
    return it == impl_->table.end() ? JobSnapshot{} : it->second.snapshot;
}

std::vector<JobSnapshot> Engine::snapshots() const {
    const std::lock_guard lock(impl_->tableMutex);
    std::vector<JobSnapshot> all;
    all.reserve(impl_->table.size());
    for (const auto& [id, entry] : impl_->table) all.push_back(entry.snapshot);
    std::sort(all.begin(), all.end(), [](const JobSnapshot& a, const JobSnapshot& b) { return a.id < b.id; });
    return all;
}

std::vector<Candidate> Engine::preview(const JobSpec& job) const {
    std::vector<Candidate> candidates;
    const auto planned = impl_->plan(job);
    const std::lock_guard lock(impl_->tableMutex);
    for (DeviceIndex d = 0; d < impl_->devices.size(); ++d) {
        const auto& slot = impl_->devices[d];
        const auto& info = slot.device->info();
        Candidate candidate;
        candidate.device = d;
        if (!planned) candidate.excluded = planned.error().message;
        else if (!job.device.empty() && job.device != info.id) candidate.excluded = slot.pinnedElsewhere;
        else if (!slot.online) candidate.excluded = slot.lost;
        else candidate.excluded = whyNotOn((*planned)->plan, info).value_or("");
        if (d < impl_->deviceSnapshots.size()) {
            const auto& now = impl_->deviceSnapshots[d];
            candidate.freeIn = now.freeInSeconds;
            candidate.queued = static_cast<std::uint32_t>(now.queued + now.running.size());
        }
        if (planned) {
            candidate.run = impl_->model->predict((*planned)->plan, info.id).seconds;
            candidate.dataIn = impl_->model->stagingSeconds((*planned)->plan, info.id);
        }
        if (candidate.run >= 0.0 && candidate.freeIn >= 0.0) {
            candidate.finish = candidate.freeIn + std::max(0.0, candidate.dataIn) + candidate.run;
        }
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

Prediction Engine::predict(const JobSpec& job, const std::string& deviceId) const {
    const auto planned = impl_->plan(job);
    return planned ? impl_->model->predict((*planned)->plan, deviceId) : Prediction{};
}

std::shared_ptr<void> Engine::observe(Observer observer) {
    const std::lock_guard lock(impl_->observersMutex);
    const auto key = impl_->nextObserver++;
    impl_->observers[key] = std::move(observer);
    impl_->post(Impl::Control([impl = impl_.get()] {
        for (const auto& [id, entry] : impl->table) impl->dirty.insert(id);
        impl->stateDirty = true;
    }));
    return std::shared_ptr<void>(impl_.get(), [key](void* engine) {
        auto* impl = static_cast<Impl*>(engine);
        const std::lock_guard held(impl->observersMutex);
        impl->observers.erase(key);
    });
}

}  // namespace heteroscope
