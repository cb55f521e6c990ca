#include "scheduler/policies/policy_least_loaded.h"

#include "scheduler/policies/wording.h"

#include <fmt/format.h>

#include <tuple>

namespace heteroscope {
namespace {

std::string explainLeastLoaded(const Decision& decision, const std::vector<std::string>& deviceNames) {
    const wording::Names names(deviceNames);
    const Candidate* chosen = chosenCandidate(decision);
    if (!chosen) return "no device chosen";
    const std::string name = names.of(chosen->device);
    const Candidate* second = runnerUp(decision);
    if (!second) return fmt::format("{}: {}", name, wording::onlyDevice(decision, names));
    if (chosen->queued != second->queued)
        return fmt::format("{}: fewest unfinished jobs, {} there, while {}", name, wording::jobCount(chosen->queued),
                           wording::queueOf(*second, names));
    if (formatSeconds(chosen->freeIn) != formatSeconds(second->freeIn))
        return fmt::format("{}: as many unfinished jobs as {} ({}), but free in {} instead of {}", name,
                           names.of(second->device), chosen->queued, formatSeconds(chosen->freeIn),
                           formatSeconds(second->freeIn));
    return fmt::format("{}: as little to do as {} ({} on each), and comes first in order", name,
                       names.of(second->device), wording::jobCount(chosen->queued));
}

}  // namespace

PolicyInfo LeastLoadedPolicy::info() {
    return {"least-loaded",
            "Joins the shortest queue: each job goes at once to the device with the fewest unfinished jobs; between "
            "equals to the one that is free earlier by prediction. Evens out the number of jobs, not their length. "
            "Source: \"join the shortest queue\", W. Winston, Optimality of the Shortest Line Discipline, Journal of "
            "Applied Probability 14(1), 1977; M. Harchol-Balter, Performance Modeling and Design of Computer Systems, "
            "2013, chapter 24.",
            {},
            [](const std::map<std::string, double>&) { return std::make_unique<LeastLoadedPolicy>(); },
            explainLeastLoaded};
}

DeviceIndex LeastLoadedPolicy::choose(Decision& decision, const SystemView&) {
    const Candidate* best = nullptr;
    for (Candidate& candidate : decision.candidates) {
        candidate.score = candidate.queued;
        if (!candidate.excluded.empty()) continue;
        if (!best || std::tie(candidate.queued, candidate.freeIn) < std::tie(best->queued, best->freeIn)) best = &candidate;
    }
    return best ? best->device : noDevice;
}

}  // namespace heteroscope
