#pragma once

#include "scheduler/live/staged_job.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace heteroscope {

/// What a worker tells the engine. Called on the worker's or the device's threads; must not block.
struct WorkerEvents {
    /// Asked before an attempt is staged, on the worker's thread: may wait until results ahead of it are off the host's memory.
    std::function<void()> awaitRoom;
    std::function<void(const AttemptPtr&)> staged;
    std::function<void(const AttemptPtr&, double runSeconds)> runEnded;
    /// Outputs are back on the host: to be summarised and checked. The attempt still holds its buffers.
    std::function<void(const AttemptPtr&)> outputsBack;
    /// It ended before there were outputs (report.state and error say how).
    std::function<void(const AttemptPtr&)> ended;
    std::function<void(const Error&)> deviceLost;
};

/// Stages and launches attempts on one device: builds, fills, uploads on a thread of its own, then launches on
/// request; the device computes meanwhile.
class DeviceWorker {
public:
    DeviceWorker(std::shared_ptr<Device> device, WorkerEvents events);
    /// Waits for what is staging or running. Staged attempts that were never launched are dropped.
    ~DeviceWorker();

    void stage(AttemptPtr attempt);   ///< answers staged or ended
    void launch(AttemptPtr attempt);  ///< a staged one; answers runEnded, then outputsBack or ended
    /// Drops an attempt: before its launch at once, after it when the kernel ends (OpenCL cannot stop one).
    void abort(const AttemptPtr& attempt);
    void releaseBuffers(Attempt& attempt);

    Device& device() { return *device_; }
    const std::shared_ptr<Device>& shared() const { return device_; }
    /// Attempts being staged or running now.
    std::size_t active() const { return active_.load(); }

private:
    void run();
    void stageNow(const AttemptPtr& attempt);
    Status prepareBuffers(Attempt& attempt);
    Result<Program> buildNow(const Attempt& attempt);
    Status assemble(Attempt& attempt, const Program& program);
    Status uploadNow(Attempt& attempt);
    void onRunEnded(const AttemptPtr& attempt, Result<CommandTimes> times);
    void downloadOutputs(const AttemptPtr& attempt);
    void end(const AttemptPtr& attempt, JobState state, std::optional<Error> error);

    std::shared_ptr<Device> device_;
    WorkerEvents events_;
    std::atomic<std::size_t> active_{0};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<AttemptPtr> toStage_;  // guarded by mutex_
    bool stopping_ = false;           // guarded by mutex_
    std::thread thread_;
};

/// The variant for the first runtime of the device that takes one; null when none does.
const KernelVariant* variantFor(const Kernel& kernel, const DeviceInfo& device);

}  // namespace heteroscope
