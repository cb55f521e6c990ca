#pragma once

#include "scheduler/kernel/data.h"
#include "scheduler/kernel/kernel.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

/// Unique in a data folder, over all sessions: the number that people see ("#1042"). 0 is no job.
using JobId = std::uint64_t;
/// Position of a device in the dispatcher's table; never reused within a session.
using DeviceIndex = std::uint32_t;
inline constexpr DeviceIndex noDevice = ~DeviceIndex{0};

enum class JobState {
    Waiting,    ///< for dependencies
    Ready,      ///< the policy may place it
    Assigned,   ///< in a device's queue
    Staging,    ///< builds, fills and uploads
    Running,    ///< launched, or its results come back and are checked
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    Interrupted,  ///< the program ended while it ran
    Skipped,      ///< a dependency did not succeed
};
inline constexpr int jobStateCount = 11;

std::string_view toString(JobState state);  // "waiting", …, "timed-out", …
std::optional<JobState> jobStateFromString(std::string_view word);
constexpr bool isFinal(JobState state) { return state >= JobState::Succeeded; }

/// An argument bound to shared Data instead of a buffer of the job's own.
struct DataBinding {
    std::shared_ptr<Data> data;
    Access access = Access::Read;
    std::uint64_t first = 0;             ///< elements
    std::optional<std::uint64_t> count;  ///< to the end when absent
    bool newVersion = false;             ///< an input bound to a read-write argument: the job works on a copy
    std::shared_ptr<Data> version = nullptr;  ///< with newVersion: where that copy lies when later jobs take it; may be null
};

/// What to do. `id` comes from Engine::reserveIds(); `after` may name any job of the session.
struct JobSpec {
    JobId id = 0;
    std::string label;  ///< its name in a workload; empty otherwise
    KernelPtr kernel;
    Parameters parameters;
    std::map<std::string, DataBinding> bindings;  ///< argument name → shared data
    std::vector<JobId> after;
    int priority = 0;      ///< higher first
    std::string device;    ///< only there (DeviceInfo::id); empty: the policy decides
    std::string group;
    std::uint64_t seed = 1;
    bool check = false;
    bool keepOutputs = false;  ///< whole outputs stay in the data folder, within its quota
    std::map<std::string, std::filesystem::path> save;  ///< argument → .npy written when it succeeds
    std::chrono::nanoseconds arrival{};  ///< after submission
    std::chrono::nanoseconds timeout{};  ///< 0: none
};

/// What became of one output buffer.
struct OutputSummary {
    std::string name;
    std::string type;
    std::uint64_t count = 0;
    std::vector<double> firstValues;  ///< up to 8
    std::optional<double> minimum, maximum, mean;  ///< over the finite ones
    std::uint64_t nanCount = 0;
    std::string file;  ///< kept copy, empty when discarded
};

/// Moments of a job's life: nanoseconds since the Unix epoch, 0 when not reached.
struct JobTimes {
    std::int64_t submitted = 0, ready = 0, assigned = 0, staging = 0, staged = 0, started = 0, finished = 0, ended = 0;
    // staging: begins to stage; staged: ready to launch; started/finished: the kernel's run on the device;
    // ended: outputs are back and checked, the state is final.
};

}  // namespace heteroscope
