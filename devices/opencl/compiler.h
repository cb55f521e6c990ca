#pragma once

#include "devices/opencl/built_program.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace heteroscope::opencl {

/// Builds for one device, one source after the other, on threads of its own, and keeps what it built. A build that
/// outlasts the limit is answered with timed-out and left alone: a driver's compiler cannot be stopped.
class Compiler {
public:
    /// `lost` says why the device is gone, once it is: no build can succeed then. Any thread.
    Compiler(OpenedDevicePtr device, std::chrono::nanoseconds limit, std::function<std::optional<std::string>()> lost);
    /// Waits for the build that runs (up to the limit) and a while for those left behind, since a compiler that still
    /// works while the process ends may crash it; builds that wait are answered with cancelled.
    ~Compiler();

    /// Any thread. `done` runs on a thread of the compiler.
    void build(ProgramSource source, Device::BuildDone done);
    /// Null when it was never built here. Any thread.
    BuiltProgramPtr find(ProgramId id) const;

private:
    using Built = Result<BuiltProgramPtr>;
    /// Where a build puts its result; it may outlive the compiler.
    struct Desk {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<Built> result;

        bool waitFor(std::chrono::nanoseconds limit);
    };
    struct Request {
        ProgramSource source;
        Device::BuildDone done;
    };

    void loop();
    Built answer(const ProgramSource& source);
    Built compileWithinLimit(CompilerInput input, const std::string& file);
    void keep(const std::string& key, const Built& built);

    const OpenedDevicePtr device_;
    const std::chrono::nanoseconds limit_;
    const std::function<std::optional<std::string>()> lost_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Request> requests_;                          // mutex_
    std::unordered_map<ProgramId, BuiltProgramPtr> byId_;   // mutex_
    bool stop_ = false;                                     // mutex_
    std::unordered_map<std::string, Built> byKey_;          // thread_ only
    std::vector<std::shared_ptr<Desk>> leftBehind_;         // thread_ only
    ProgramId nextId_ = 1;                                  // thread_ only
    std::thread thread_;
};

}  // namespace heteroscope::opencl
