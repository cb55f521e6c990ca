#pragma once

#include "scheduler/decision.h"

#include <string>
#include <vector>

/// The pieces that the policies' sentences are made of.
namespace heteroscope::wording {

/// Device names by index; a device without one is called "device 3".
class Names {
public:
    explicit Names(const std::vector<std::string>& names) : names_(names) {}
    std::string of(DeviceIndex device) const;

private:
    const std::vector<std::string>& names_;
};

std::string jobCount(std::uint32_t jobs);  // "no job", "1 job", "3 jobs"
std::string whoseQueue(const Candidate& candidate);  // "whose queue holds 3 jobs", "whose queue is empty"
std::string queueOf(const Candidate& candidate, const Names& names);  // "the queue of cpu-1 holds 3 jobs"

/// Why there was no other candidate: "the only device", or with the reason why each other one was ruled out.
std::string onlyDevice(const Decision& decision, const Names& names);

/// "; oldest of 12" after a sentence; nothing when there is no note.
std::string withNote(const Decision& decision);

/// Why an eager policy's device was first to take a job: its load beside the runner-up's.
std::string tookFirst(const Decision& decision, const Names& names);

}  // namespace heteroscope::wording
