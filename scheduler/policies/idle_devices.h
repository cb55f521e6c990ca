#pragma once

#include "scheduler/policy.h"

#include <utility>

namespace heteroscope {

/// How an eager policy hands out jobs: the idle device that has least to do takes first (ties: lower index), until no
/// idle device finds a job. `take(device)` takes the device's next job out, 0 when there is none; `note(job)` says why
/// that one came before others.
template <class Take, class Note>
void feedIdleDevices(const SystemView& view, Assignments& out, Take take, Note note) {
    using Place = std::pair<std::uint32_t, DeviceIndex>;  // load, index: the order of asking
    const DeviceIndex count = static_cast<DeviceIndex>(view.deviceCount());
    Place asked{0, noDevice};  // up to here every idle device was asked and had no job; nothing yet
    for (;;) {
        Place next{0, noDevice};
        for (DeviceIndex index = 0; index < count; ++index) {
            const DeviceView device = view.device(index);
            const Place place{device.queued + device.running, index};
            if (!device.idle || (asked.second != noDevice && place <= asked)) continue;
            if (next.second == noDevice || place < next) next = place;
        }
        if (next.second == noDevice) return;
        const JobId job = take(next.second);
        if (job == 0) {
            asked = next;
            continue;
        }
        Decision decision = out.candidates(job);
        for (Candidate& candidate : decision.candidates) candidate.score = candidate.queued;
        decision.note = note(job);
        out.assign(job, next.second, std::move(decision));
    }
}

}  // namespace heteroscope
