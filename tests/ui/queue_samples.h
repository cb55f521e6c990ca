#pragma once

#include "scheduler/engine.h"

#include <QDateTime>

#include <memory>
#include <string>

namespace heteroscope {

/// Made-up jobs for tests of the queue; every time is fixed by the caller.
inline JobSnapshot sampleJob(JobId id, JobState state, const std::string& kernel = "saxpy", const std::string& parameters = "n=1024 a=2.5") {
    JobSnapshot job;
    job.id = id;
    job.kernel = kernel;
    job.parameters = parameters;
    job.state = state;
    job.policy = "mct";
    job.times.submitted = 1'000'000'000'000'000'000 + static_cast<std::int64_t>(id) * 1'000'000'000;
    if (state >= JobState::Assigned) job.device = id % 2 ? "cpu-0" : "gpu-0";
    if (isFinal(state)) {
        job.waitSeconds = 0.918;
        job.stageInSeconds = 0.0816;
        job.runSeconds = 0.452;
        job.stageOutSeconds = 0.0809;
        job.predictedSeconds = 0.449;
        job.times.started = job.times.submitted + 1'000'000'000;
        job.times.finished = job.times.started + 452'000'000;
        job.times.ended = job.times.finished + 80'900'000;
    }
    auto spec = std::make_shared<JobSpec>();
    spec->id = id;
    job.spec = spec;
    return job;
}

/// An update as the engine makes it: the jobs, and counts over `all`.
inline EngineUpdate sampleUpdate(const std::vector<JobSnapshot>& changed, const std::vector<JobSnapshot>& all) {
    EngineUpdate update;
    update.jobs = changed;
    update.policy = "mct";
    for (const auto& job : all) ++update.counts[static_cast<std::size_t>(job.state)];
    DeviceSnapshot cpu, gpu;
    cpu.id = "cpu-0";
    gpu.id = "gpu-0";
    update.devices = {cpu, gpu};
    return update;
}
inline EngineUpdate sampleUpdate(const std::vector<JobSnapshot>& all) { return sampleUpdate(all, all); }

}  // namespace heteroscope
