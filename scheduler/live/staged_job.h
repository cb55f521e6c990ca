#pragma once

#include "devices/device.h"
#include "scheduler/engine.h"
#include "scheduler/kernel/data.h"
#include "scheduler/kernel/launch_plan.h"

#include <atomic>
#include <memory>
#include <vector>

namespace heteroscope {

/// One buffer of an attempt: the host storage, its twin on the device, and what it held before when a check needs it.
struct StagedBuffer {
    const PlannedArgument* planned = nullptr;
    Access access = Access::Read;
    std::shared_ptr<HostBuffer> storage;
    std::span<std::byte> bytes;  ///< the part of `storage` that this job works on
    std::shared_ptr<HostBuffer> before;
    BufferId device = 0;
};

/// What an attempt found out, on its way back to the scheduler thread.
struct AttemptReport {
    JobState state = JobState::Succeeded;
    std::optional<Error> error;
    CheckResult check;
    std::vector<OutputSummary> outputs;
    std::string log;
    std::string reason;
    std::chrono::steady_clock::time_point stagingBegan{}, built{}, staged{}, started{}, finished{}, outputsBack{};
};

/// One attempt of a job on one device, from staging to its report. Handed from thread to thread, one at a time;
/// only the atomics are touched by two.
struct Attempt {
    JobId job = 0;
    std::uint32_t number = 0;
    DeviceIndex device = noDevice;
    std::shared_ptr<const JobSpec> spec;
    std::shared_ptr<const LaunchPlan> plan;
    std::vector<StagedBuffer> buffers;
    Launch launch;
    AttemptReport report;
    std::atomic<bool> aborted{false};
    /// Whoever sets it first takes this attempt off the count of writers of its shared data (see JobFinisher).
    std::atomic<bool> writersSettled{false};
};

using AttemptPtr = std::shared_ptr<Attempt>;

}  // namespace heteroscope
