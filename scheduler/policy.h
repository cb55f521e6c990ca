#pragma once

#include "scheduler/decision.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heteroscope {

/// The dispatcher's time line: nanoseconds from its own zero. Live: since the engine started; simulated: virtual.
using Time = std::chrono::nanoseconds;

/// A job as a policy sees it.
struct JobView {
    JobId id = 0;
    int priority = 0;
    Time submitted{};
    Time ready{};
    std::span<const JobId> after;
};

/// A device as a policy sees it.
struct DeviceView {
    DeviceIndex index = noDevice;
    bool online = false;
    std::uint32_t queued = 0;   ///< assigned, not yet started (staging included)
    std::uint32_t running = 0;
    bool idle = false;          ///< could begin to stage one more job now
};

/// What a policy may look at: devices, jobs and predictions. Valid during the call only.
class SystemView {
public:
    virtual ~SystemView() = default;
    virtual Time now() const = 0;
    virtual std::size_t deviceCount() const = 0;
    virtual DeviceView device(DeviceIndex device) const = 0;
    virtual JobView job(JobId job) const = 0;
    virtual std::size_t readyCount() const = 0;
    /// Why the job cannot run there; nullptr when it can. Points into storage that lives as long as the job.
    virtual const std::string* excluded(JobId job, DeviceIndex device) const = 0;
    /// Predicted run time, seconds; negative when nothing is known (then policies treat devices as equal).
    virtual double runSeconds(JobId job, DeviceIndex device) const = 0;
    /// Predicted time to stage its inputs there, seconds.
    virtual double dataSeconds(JobId job, DeviceIndex device) const = 0;
    /// Seconds until what the device has (running and queued) is done, by prediction.
    virtual double freeInSeconds(DeviceIndex device) const = 0;
};

/// Where a policy puts its choices.
class Assignments {
public:
    virtual ~Assignments() = default;
    /// Places `job` at the end of `device`'s queue. The SystemView shows it at once. `decision` carries score
    /// and note; freeIn, dataIn, run, finish, queued and exclusions are already filled by candidates().
    virtual void assign(JobId job, DeviceIndex device, Decision decision) = 0;
    /// A Decision with every device's row filled in but for the score.
    virtual Decision candidates(JobId job) const = 0;
};

struct Outcome {
    JobId job = 0;
    DeviceIndex device = noDevice;
    JobState state = JobState::Succeeded;
    double runSeconds = 0.0;
    double predictedSeconds = -1.0;
};

/// Decides which ready Job goes to which Device next. Scheduler thread or simulator only; never blocks.
/// A policy keeps the ready jobs in the order that suits it: every job passed to jobsReady() stays its own
/// until it assigns it or jobsRemoved() takes it back.
class Policy {
public:
    virtual ~Policy() = default;
    virtual void jobsSubmitted(std::span<const JobId>, const SystemView&) {}  ///< the graph as far as it is known
    virtual void jobsReady(std::span<const JobId>, const SystemView&) = 0;    ///< dependencies met, or given back
    virtual void jobsRemoved(std::span<const JobId>, const SystemView&) = 0;  ///< cancelled, skipped, placed by the starvation rule
    virtual void priorityChanged(JobId, const SystemView&) {}
    /// Whether a job in a device's queue comes back (through jobsReady) when its priority changes.
    virtual bool ordersByPriority() const { return false; }
    virtual void devicesChanged(const SystemView&) {}
    virtual void schedule(const SystemView&, Assignments& out) = 0;           ///< after each batch of events
    virtual void jobFinished(const Outcome&, const SystemView&) {}            ///< learns
};

struct PolicyOption {
    std::string name;
    std::string description;
    double defaultValue = 0.0;
};

/// One line of the register: everything the program says of a policy.
struct PolicyInfo {
    std::string id;           ///< standard name: "mct"
    std::string description;  ///< one paragraph, with its source
    std::vector<PolicyOption> options;
    std::function<std::unique_ptr<Policy>(const std::map<std::string, double>& options)> make;
    /// The sentence for one of its decisions; null: explainByFinish() of decision.cpp.
    std::string (*explain)(const Decision&, const std::vector<std::string>& deviceNames) = nullptr;
};

/// Every policy, in the order people see. policies/register.cpp has one line a policy.
const std::vector<PolicyInfo>& policies();
const PolicyInfo* findPolicy(std::string_view id);
/// "mct" or "priority:ageing=0.5". Errors: unknown policy (all are listed), unknown option.
Result<std::unique_ptr<Policy>> makePolicy(std::string_view text);

}  // namespace heteroscope
