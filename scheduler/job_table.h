#pragma once

#include "scheduler/dispatcher.h"
#include "scheduler/id_intervals.h"
#include "scheduler/id_map.h"

#include <array>
#include <optional>
#include <vector>

namespace heteroscope {

/// Where a JobEntry lies in its JobTable. Reused once the job is forgotten.
using JobSlot = std::uint32_t;
inline constexpr JobSlot noSlot = ~JobSlot{0};

/// How far a job on a device is. Finer than JobState: Staging and Running have two phases each.
enum class JobPhase : std::uint8_t {
    None,
    Staging,
    Staged,     ///< held until the device is free
    Launched,
    Returning,  ///< the run is over, results come back: the device is free
};

/// What the dispatcher keeps of a job.
struct JobEntry {
    JobId id = 0;
    JobState state = JobState::Waiting;
    JobPhase phase = JobPhase::None;
    bool withPolicy = false;  ///< passed to jobsReady() and not yet placed or taken back
    bool overdue = false;     ///< the starvation rule has it, or placed it
    int priority = 0;         ///< its own
    int effectivePriority = 0;  ///< the highest of its own and those that depend on it
    std::uint32_t attempt = 0;  ///< tries begun
    std::uint32_t unmet = 0;    ///< dependencies that have not ended yet; counts while Waiting
    DeviceIndex device = noDevice;
    JobSlot previous = noSlot, next = noSlot;  ///< in the one list of the device that it is on
    JobId cause = 0;            ///< of a skipped job: the one that did not succeed
    Time submitted{};
    Time due{};                 ///< arrival
    Time ready{};
    std::int64_t runNs = -1;    ///< predicted for the device it is on; negative: nothing known
    std::int64_t dataNs = 0;
    double runSeconds = 0.0;    ///< measured
    std::vector<JobId> after;
    std::vector<JobId> dependants;  ///< may name jobs forgotten since
};

/// The jobs, their graph and their priorities. Knows nothing of devices and policies.
class JobTable {
public:
    JobSlot find(JobId id) const {
        const JobSlot* slot = slots_.find(id);
        return slot ? *slot : noSlot;
    }
    JobEntry& operator[](JobSlot slot) { return entries_[slot]; }
    const JobEntry& operator[](JobSlot slot) const { return entries_[slot]; }

    std::size_t count(JobState state) const { return counts_[static_cast<std::size_t>(state)]; }
    void setState(JobEntry& entry, JobState state);

    /// A new Waiting entry without edges; noSlot when the id is 0 or known.
    JobSlot insert(const DispatchJob& job, Time now);
    /// Adds the edges from its dependencies, once all jobs of its batch are in.
    void link(JobSlot slot);
    /// Drops the entry of a final job and remembers whether it had succeeded.
    void forget(JobSlot slot);

    /// Counts what a job waits for. Its answer: the job to blame when a dependency did not succeed, else 0.
    JobId settleDependencies(JobEntry& entry) const;

    /// Lifts a job, and what it depends on up to the first ones, to `priority` at least.
    /// `changed` gets the slots whose effective priority moved.
    void raisePriority(JobSlot slot, int priority, std::vector<JobSlot>& changed);
    /// Works out a job's effective priority anew when its own or a dependant's fell, and that of what it depends on.
    void lowerPriority(JobSlot slot, std::vector<JobSlot>& changed);

    /// Every slot in use, in order of id: O(n log n), for rare events.
    std::vector<JobSlot> slotsById() const;

private:
    int priorityFromDependants(const JobEntry& entry) const;

    std::vector<JobEntry> entries_;
    std::vector<JobSlot> free_;
    IdMap<JobSlot> slots_;
    std::array<std::size_t, jobStateCount> counts_{};
    // Of forgotten jobs only these are kept: a dependency on one of them is never met. Any other unknown id counts
    // as met: it was forgotten as succeeded, or belongs to an earlier session, whose jobs the engine has resolved.
    IdIntervals forgottenUnsuccessful_;
};

}  // namespace heteroscope
