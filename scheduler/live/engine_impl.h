// The live driver. One scheduler thread owns the Dispatcher and the job table; everybody else puts inputs into its
// inbox. The table's mutex is held by that thread only while it writes, and by readers of snapshots.
//
//   submit, cancel, …  ──►  inbox  ──►  Dispatcher  ──►  actions  ──►  DeviceWorker  ──►  JobFinisher
//                             ▲                                           │                   │
//                             └──────────── staged, run ended, report ────┴───────────────────┘
//
// A final state is shown once the recorder says that its row is safe; dependants start without waiting for that.

#pragma once

#include "scheduler/dispatcher.h"
#include "scheduler/engine.h"
#include "scheduler/live/device_worker.h"
#include "scheduler/live/job_finisher.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

namespace heteroscope {

struct Engine::Impl final : CostModel {
    using Clock = std::chrono::steady_clock;

    /// A kernel at one set of parameters: shared by all jobs that ask for the same.
    struct Planned {
        LaunchPlan plan;
        std::vector<std::optional<std::string>> whyNot;  // by device, as far as looked at; scheduler thread
        std::vector<double> runSeconds;                  // by device; negative: ask the model
        std::size_t unfinished = 0;
        JobId example = 0;  // one of its jobs, for questions that need a job
    };

    /// Lets a recorder's late answers find out that the engine is gone.
    struct Gate {
        std::mutex mutex;
        Impl* target = nullptr;  // guarded by mutex
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

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
    std::atomic<std::size_t> uncommitted{0};
    std::unique_ptr<JobFinisher> finisher;
    std::thread thread;
};

}  // namespace heteroscope
