#pragma once

#include "devices/device.h"
#include "scheduler/decision.h"
#include "scheduler/job.h"
#include "scheduler/kernel/reference.h"
#include "scheduler/performance_model.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heteroscope {

/// "n=4096 a=2.5": every parameter, in the package's order.
std::string parametersText(const Kernel& kernel, const Parameters& parameters);

/// A job as observers, history and the command line see it: a value.
struct JobSnapshot {
    JobId id = 0;
    std::string label;
    std::string kernel;
    std::string parameters;  ///< see parametersText()
    std::string device;      ///< DeviceInfo::id; empty while unplaced
    std::string runtime;     ///< "opencl"
    std::string policy;      ///< in force when it was placed
    JobState state = JobState::Waiting;
    int priority = 0;
    std::uint32_t attempts = 0;
    std::string reason;  ///< why it waits, what it does, how it ended; plain words
    JobTimes times;
    double predictedSeconds = -1.0;
    double waitSeconds = 0, stageInSeconds = 0, runSeconds = 0, stageOutSeconds = 0;
    std::optional<double> flops, bytes;
    std::optional<Error> error;
    CheckResult check;
    std::vector<OutputSummary> outputs;
    std::string log;  ///< compiler's warnings
    std::vector<JobId> after;
    std::shared_ptr<const Decision> decision;
    std::shared_ptr<const JobSpec> spec;  ///< to run it again
};

struct DeviceSnapshot {
    std::string id;
    bool online = true;
    std::string lost;  ///< why it is not online
    std::vector<JobId> running, staging;
    std::size_t queued = 0;
    double freeInSeconds = 0.0;
};

/// What changed since the last one; at most 30 a second.
struct EngineUpdate {
    std::vector<JobSnapshot> jobs;        ///< those that changed, in order of id
    std::vector<DeviceSnapshot> devices;  ///< all
    std::array<std::size_t, jobStateCount> counts{};  ///< of this session, by JobState
    std::string policy;
    bool paused = false;
    double emptyInSeconds = -1.0;  ///< until the queue is empty, by prediction; negative: not known
    double jobsPerSecond = 0.0;    ///< ended, over the last 10 s
    std::vector<DeviceProblem> problems;  ///< lost devices, history that cannot be written
};

/// Where the engine's jobs are kept for good (History is one). Calls return at once.
class JobRecorder {
public:
    virtual ~JobRecorder() = default;
    /// Inserts or updates the job's row. `committed` runs on a thread of the recorder once the row is safe.
    virtual void recordJob(JobSnapshot job, std::function<void()> committed) = 0;
    virtual std::size_t unwritten() const = 0;
    virtual JobId firstFreeJobId() const = 0;
};

struct EngineOptions {
    std::string policy = "mct";
    std::chrono::nanoseconds starvationLimit = std::chrono::seconds(300);
    std::uint32_t stagedAhead = 1;
    std::filesystem::path outputFolder;  ///< kept outputs; empty: none kept
    std::uint64_t outputQuotaBytes = std::uint64_t{1} << 30;
    bool startPaused = false;
    bool keepDecisions = true;
    std::chrono::nanoseconds updateInterval = std::chrono::milliseconds(33);
};

/// The live driver: a scheduler thread with one queue of events around a Dispatcher, a worker thread per device
/// that stages and launches, a checker. All calls: any thread; none blocks longer than a queue takes, but where said.
class Engine {
public:
    /// `recorder` may be null (comparisons, benchmarks) and must outlive the engine.
    Engine(EngineOptions options, JobRecorder* recorder, std::shared_ptr<PerformanceModel> model);
    /// Stops taking jobs, waits for the running ones (drops what is queued; history keeps it resumable).
    ~Engine();

    /// Returns once it is in force. Not from an observer, and not from the window's thread.
    void addDevice(std::shared_ptr<Device> device);
    /// Its unfinished jobs go elsewhere.
    void removeDevice(const std::string& id, const std::string& why);
    std::vector<DeviceInfo> devices() const;

    /// First of `count` consecutive ids.
    JobId reserveIds(std::size_t count);
    /// Takes all of them or none. Errors (invalid-input): a cycle, a plan that fails, no device that could ever
    /// run one (each device with its reason). With no device at all jobs are taken and wait. Waits while
    /// 100,000 rows are unwritten.
    Result<std::vector<JobId>> submit(std::vector<JobSpec> jobs);
    void cancel(std::vector<JobId> jobs);
    void setPriority(std::vector<JobId> jobs, int priority);
    /// Tries failed, cancelled, timed-out, interrupted or skipped jobs once more.
    void retry(std::vector<JobId> jobs);
    void pause();
    void resume();
    Status setPolicy(const std::string& policy);
    std::string policy() const;
    bool paused() const;

    /// Waits until every one is in a final state (and its row committed). False when `stop` said so (asked 20 times a second).
    bool wait(const std::vector<JobId>& jobs, const std::function<bool()>& stop = {});
    /// Waits until nothing is staging or running (after pause()).
    void waitQuiet();

    JobSnapshot snapshot(JobId job) const;
    std::vector<JobSnapshot> snapshots() const;
    /// What the policy's choice would rest on now, for a job not submitted: exclusions, predictions.
    std::vector<Candidate> preview(const JobSpec& job) const;
    Prediction predict(const JobSpec& job, const std::string& deviceId) const;

    using Observer = std::function<void(const EngineUpdate&)>;
    /// Called on the scheduler thread. The first update carries every job. Unsubscribes when the handle dies.
    std::shared_ptr<void> observe(Observer observer);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace heteroscope
