#pragma once

#include "scheduler/policy.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

namespace heteroscope {

/// A job as the dispatcher needs it: no kernel, no data, only what orders and places it.
struct DispatchJob {
    JobId id = 0;
    int priority = 0;
    std::vector<JobId> after;
    Time arrival{};  ///< not ready before submission + arrival
};

/// Costs and exclusions, asked by the dispatcher for its SystemView: from models (live) or a workload (simulated).
/// Called on the dispatcher's thread.
class CostModel {
public:
    virtual ~CostModel() = default;
    virtual double runSeconds(JobId job, DeviceIndex device) const = 0;
    virtual double dataSeconds(JobId job, DeviceIndex device) const = 0;
    virtual const std::string* excluded(JobId job, DeviceIndex device) const = 0;
};

namespace event {
struct JobsSubmitted { std::vector<DispatchJob> jobs; };
struct JobStaged { JobId job; std::uint32_t attempt; };
struct RunEnded { JobId job; std::uint32_t attempt; double runSeconds; };  ///< the device is free; results still come back
/// Succeeded, Failed, Cancelled or TimedOut.
struct JobEnded { JobId job; std::uint32_t attempt; JobState state; };
struct CancelRequested { std::vector<JobId> jobs; };
struct RetryRequested { JobId job; };  ///< a failed, cancelled, timed-out, interrupted or skipped one, by hand; its skipped dependants wait again
struct PriorityChanged { JobId job; int priority; };
struct DeviceCame { DeviceIndex device; };
struct DeviceWent { DeviceIndex device; std::string why; };  ///< its unfinished jobs go back to ready
struct PolicyChanged { std::string policy; std::shared_ptr<Policy> next; };
struct Paused {};
struct Resumed {};
struct Tick {};  ///< the clock moved: arrivals, ageing, starvation
struct ForgetFinal { std::vector<JobId> jobs; };  ///< drop the entries of final jobs (bounded memory)
}  // namespace event

using Event = std::variant<event::JobsSubmitted, event::JobStaged, event::RunEnded, event::JobEnded, event::CancelRequested,
                           event::RetryRequested, event::PriorityChanged, event::DeviceCame, event::DeviceWent,
                           event::PolicyChanged, event::Paused, event::Resumed, event::Tick, event::ForgetFinal>;

namespace action {
/// Every change of state of a job, in order: what observers and history see. `cause` names the dependency of a
/// skipped job. `decision` comes with Assigned.
struct StateChanged {
    JobId job;
    JobState state;
    DeviceIndex device = noDevice;
    std::uint32_t attempt = 0;
    JobId cause = 0;
    std::shared_ptr<const Decision> decision = nullptr;
};
struct Stage { JobId job; DeviceIndex device; std::uint32_t attempt; };   ///< build, fill, upload
struct Launch { JobId job; DeviceIndex device; std::uint32_t attempt; };  ///< staged before
struct Abort { JobId job; DeviceIndex device; std::uint32_t attempt; };   ///< cancelled while staging or running: free it if the runtime allows, drop its result
struct SetTimer { Time at; };                           ///< send a Tick then
}  // namespace action

using Action = std::variant<action::StateChanged, action::Stage, action::Launch, action::Abort, action::SetTimer>;

struct DispatcherOptions {
    std::string policy = "mct";
    /// Jobs a device stages ahead of the one that runs.
    std::uint32_t stagedAhead = 1;
    /// A job ready for longer goes before all others; zero: off (simulation).
    Time starvationLimit = std::chrono::seconds(300);
    std::int64_t epochNs = 0;  ///< wall clock at Time zero, for Decision::at
};

/// The scheduling core: events in, actions out. Owns the job table and the policy; asks no clock, takes no lock,
/// does no I/O; same events, same actions. One thread.
///
/// A cancelled job that was staging or running becomes Cancelled at once for everyone, but its device stays taken
/// until the driver answers with RunEnded or JobEnded for that attempt (late answers of a cancelled attempt free the
/// device and change nothing else).
class Dispatcher {
public:
    Dispatcher(DispatcherOptions options, std::unique_ptr<Policy> policy, const CostModel& costs);
    ~Dispatcher();

    /// Applies a batch of events at `now`, lets the policy place what is ready, appends what is to be done.
    void handle(std::span<const Event> events, Time now, std::vector<Action>& out);

    JobState stateOf(JobId job) const;  ///< of a job it knows
    bool knows(JobId job) const;
    std::size_t count(JobState state) const;
    bool idle() const;  ///< nothing waiting, ready, assigned, staging or running
    /// Nothing is at work on any device: what was staged before a pause is only held. After Paused this is what
    /// to wait for.
    bool quiet() const;
    bool paused() const;
    const std::string& policyName() const;
    double freeInSeconds(DeviceIndex device) const;  ///< by prediction; the queue's end
    DeviceView device(DeviceIndex device) const;
    std::size_t deviceCount() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace heteroscope
