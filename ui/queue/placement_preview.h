#pragma once

#include "scheduler/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

/// What a policy, asked now and with nothing else to place, would decide for a job whose candidates are known.
struct Placement {
    std::optional<Decision> decision;  ///< none: it would let the job wait
    bool dependsOnTurn = false;        ///< the policy goes by turns: only the live one knows whose it is
};

/// Runs the policy named in `policy` ("mct", "priority:ageing=0.5") on `candidates`, as Engine::preview() gave them.
/// A policy that does not exist leaves the job waiting.
Placement placementBy(const std::string& policy, const JobSpec& job, const std::vector<Candidate>& candidates,
                      const std::vector<DeviceSnapshot>& devices);

}  // namespace heteroscope
