#include "scheduler/policies/wording.h"

#include <fmt/format.h>

namespace heteroscope::wording {

std::string Names::of(DeviceIndex device) const {
    return device < names_.size() && !names_[device].empty() ? names_[device] : fmt::format("device {}", device);
}

std::string jobCount(std::uint32_t jobs) {
    return jobs == 0 ? "no job" : jobs == 1 ? "1 job" : fmt::format("{} jobs", jobs);
}

std::string whoseQueue(const Candidate& candidate) {
    return candidate.queued == 0 ? "whose queue is empty" : "whose queue holds " + jobCount(candidate.queued);
}

std::string queueOf(const Candidate& candidate, const Names& names) {
    return fmt::format("the queue of {} {}", names.of(candidate.device),
                       candidate.queued == 0 ? "is empty" : "holds " + jobCount(candidate.queued));
}

std::string onlyDevice(const Decision& decision, const Names& names) {
    std::string reasons;
    for (const Candidate& candidate : decision.candidates) {
        if (candidate.device == decision.chosen) continue;
        reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", names.of(candidate.device), candidate.excluded);
    }
    return reasons.empty() ? "the only device" : "the only device for this job (" + reasons + ")";
}

std::string withNote(const Decision& decision) {
    return decision.note.empty() ? std::string() : "; " + decision.note;
}

std::string tookFirst(const Decision& decision, const Names& names) {
    const Candidate* chosen = chosenCandidate(decision);
    if (!chosen) return "no device chosen";
    const Candidate* second = runnerUp(decision);
    const std::string name = names.of(chosen->device);
    if (!second) return fmt::format("{}: {}{}", name, onlyDevice(decision, names), withNote(decision));
    return fmt::format("{}: free to take a job, {} there, while {}{}", name, jobCount(chosen->queued),
                       queueOf(*second, names), withNote(decision));
}

}  // namespace heteroscope::wording
