#pragma once

#include "scheduler/job.h"

#include <string>
#include <vector>

namespace heteroscope {

/// How one device stood when a job was placed. Seconds; negative means not known.
struct Candidate {
    DeviceIndex device = noDevice;
    std::string excluded;    ///< why it was ruled out; empty: eligible
    double freeIn = -1.0;    ///< until what is before it there is done
    double dataIn = -1.0;    ///< staging its inputs
    double run = -1.0;       ///< predicted run time
    double finish = -1.0;    ///< freeIn + dataIn + run
    std::uint32_t queued = 0;  ///< jobs before it there, running ones included
    double score = 0.0;      ///< what the policy compared; lower wins
};

/// A choice with its whole score table. The sentence is made when read (see explain()).
struct Decision {
    JobId job = 0;
    std::string policy;
    DeviceIndex chosen = noDevice;
    std::int64_t at = 0;  ///< ns since the Unix epoch (live) or virtual ns (simulated)
    std::vector<Candidate> candidates;  ///< one a device, in device order
    std::string note;  ///< why this job came first ("priority 5, the highest of 12 ready"), from the policy
};

/// The runner-up: the eligible candidate with the next-best score; nullptr when there was no other.
const Candidate* runnerUp(const Decision& decision);
const Candidate* chosenCandidate(const Decision& decision);

/// One plain sentence ("cpu-0: would finish 41 ms earlier than cpu-1, whose queue holds 3 jobs"): names the
/// runner-up, its numbers are the table's. `deviceNames[i]` names DeviceIndex i. Each policy words its own.
std::string explain(const Decision& decision, const std::vector<std::string>& deviceNames);

/// The sentence of a policy without one of its own: by finish, with what stands in where that is not known.
std::string explainByFinish(const Decision& decision, const std::vector<std::string>& deviceNames);

/// The note of a job that the starvation rule placed; explain() knows it by its first word.
std::string overdueNote(double readySeconds, double limitSeconds);

/// Duration as people read it: three significant digits, SI unit with a thin space ("41 ms" with U+2009).
std::string formatSeconds(double seconds);

}  // namespace heteroscope
