#include "scheduler/policies/earliest_finish.h"

#include <algorithm>
#include <cmath>

namespace heteroscope {
namespace {

/// Sums of decimal fractions differ in their last bits: what people call a tie is one to the nanosecond.
double nanoseconds(const Candidate& candidate) {
    return std::round(candidate.score * 1e9);
}

}  // namespace

DeviceIndex chooseEarliestFinish(Decision& decision) {
    double known = 0.0;
    int count = 0;
    for (const Candidate& candidate : decision.candidates) {
        if (!candidate.excluded.empty() || candidate.run < 0.0) continue;
        known += candidate.run;
        ++count;
    }
    const double standIn = count > 0 ? known / count : 0.0;

    const Candidate* best = nullptr;
    for (Candidate& candidate : decision.candidates) {
        if (!candidate.excluded.empty()) continue;
        candidate.score = candidate.finish >= 0.0
                              ? candidate.finish
                              : std::max(candidate.freeIn, 0.0) + std::max(candidate.dataIn, 0.0) + standIn;
        if (!best || nanoseconds(candidate) < nanoseconds(*best) ||
            (nanoseconds(candidate) == nanoseconds(*best) && candidate.queued < best->queued))
            best = &candidate;
    }
    return best ? best->device : noDevice;
}

}  // namespace heteroscope
