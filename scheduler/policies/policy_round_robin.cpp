#include "scheduler/policies/policy_round_robin.h"

#include "scheduler/policies/wording.h"

#include <fmt/format.h>

namespace heteroscope {
namespace {

std::string explainRoundRobin(const Decision& decision, const std::vector<std::string>& deviceNames) {
    const wording::Names names(deviceNames);
    const Candidate* chosen = chosenCandidate(decision);
    if (!chosen) return "no device chosen";
    const Candidate* second = runnerUp(decision);
    if (!second) return fmt::format("{}: {}", names.of(chosen->device), wording::onlyDevice(decision, names));
    std::string passed;
    for (const Candidate& candidate : decision.candidates)
        if (!candidate.excluded.empty())
            passed += fmt::format("; {} was passed over: {}", names.of(candidate.device), candidate.excluded);
    return fmt::format("{}: its turn, then comes {}, {}{}", names.of(chosen->device), names.of(second->device),
                       wording::whoseQueue(*second), passed);
}

}  // namespace

PolicyInfo RoundRobinPolicy::info() {
    return {"round-robin",
            "Deals the jobs out like cards: each one joins the queue of the next device in turn that can run it. Fair "
            "by number of jobs and free of any prediction, good for equal jobs on equal devices; with unequal ones the "
            "slowest device finishes last by far. Source: A. Silberschatz, P. B. Galvin, G. Gagne, Operating System "
            "Concepts, chapter CPU Scheduling; as a way to share out work, M. Harchol-Balter, Performance Modeling "
            "and Design of Computer Systems, 2013, chapter 24.",
            {},
            [](const std::map<std::string, double>&) { return std::make_unique<RoundRobinPolicy>(); },
            explainRoundRobin};
}

DeviceIndex RoundRobinPolicy::choose(Decision& decision, const SystemView&) {
    const DeviceIndex count = static_cast<DeviceIndex>(decision.candidates.size());
    DeviceIndex chosen = noDevice;
    for (DeviceIndex step = 0; step < count; ++step) {
        Candidate& candidate = decision.candidates[(turn_ + step) % count];
        candidate.score = step;  // places until its turn
        if (chosen == noDevice && candidate.excluded.empty()) chosen = candidate.device;
    }
    if (chosen != noDevice) turn_ = (chosen + 1) % count;
    return chosen;
}

}  // namespace heteroscope
