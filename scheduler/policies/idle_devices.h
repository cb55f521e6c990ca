#pragma once

#include "scheduler/policy.h"

#include <algorithm>
#include <vector>

namespace heteroscope {

/// How an eager policy hands out jobs: the idle device that has least to do takes first (ties: lower index), until no
/// idle device finds a job. `next(device)` names its job or 0; `note(job)` says why that one, and drops it.
template <class Next, class Note>
void feedIdleDevices(const SystemView& view, Assignments& out, Next next, Note note) {
    const DeviceIndex count = static_cast<DeviceIndex>(view.deviceCount());
    for (;;) {
        JobId job = 0;
        DeviceView taker;
        for (DeviceIndex index = 0; index < count; ++index) {
            const DeviceView device = view.device(index);
            if (!device.idle) continue;
            if (job != 0 && device.queued + device.running >= taker.queued + taker.running) continue;
            const JobId offered = next(index);
            if (offered == 0) continue;
            job = offered;
            taker = device;
        }
        if (job == 0) return;
        Decision decision = out.candidates(job);
        for (Candidate& candidate : decision.candidates) candidate.score = candidate.queued;
        decision.note = note(job);
        out.assign(job, taker.index, std::move(decision));
    }
}

}  // namespace heteroscope
