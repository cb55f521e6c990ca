// What observers get, at most 30 times a second.
#include "scheduler/live/engine_impl.h"

#include <fmt/format.h>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr std::size_t mostJobsPerUpdate = 2'000;  // snapshots in one EngineUpdate
constexpr auto rateWindow = std::chrono::seconds(10);

}  // namespace

void Engine::Impl::publishDevices() {
    const std::lock_guard lock(tableMutex);
    deviceSnapshots.resize(devices.size());
    for (DeviceIndex d = 0; d < devices.size(); ++d) {
        auto& snapshot = deviceSnapshots[d];
        const auto view = dispatcher->device(d);
        snapshot.id = devices[d].device->info().id;
        snapshot.online = devices[d].online;
        snapshot.lost = devices[d].lost;
        snapshot.queued = view.queued;
        snapshot.freeInSeconds = dispatcher->freeInSeconds(d);
        snapshot.running.assign(devices[d].running.begin(), devices[d].running.end());
        snapshot.staging.assign(devices[d].staging.begin(), devices[d].staging.end());
    }
}

/// Every kernel's unfinished jobs, at the rate that all devices together run it by prediction.
void Engine::Impl::estimateEmpty() {
    if (unfinishedPlans.empty()) {
        emptyIn = 0.0;
        return;
    }
    if (lastPublish - lastEstimate < std::chrono::milliseconds(500)) return;
    lastEstimate = lastPublish;
    emptyIn = 0.0;
    for (const auto& planned : unfinishedPlans) {
        double rate = 0.0;
        for (DeviceIndex d = 0; d < devices.size(); ++d) {
            const auto job = table.find(planned->example);
            if (job == table.end() || !devices[d].online || excluded(job->first, d)) continue;
            const double run = runSeconds(job->first, d);
            if (run >= 0.0) rate += 1.0 / std::max({run, dataSeconds(job->first, d), 1e-9});
        }
        if (rate <= 0.0) {
            emptyIn = -1.0;
            return;
        }
        emptyIn += static_cast<double>(planned->unfinished) / rate;
    }
}

void Engine::Impl::publish() {
    lastPublish = Clock::now();
    EngineUpdate update;
    while (!ends.empty() && ends.front() < lastPublish - rateWindow) ends.pop_front();
    const auto span = std::min<double>(std::chrono::duration<double>(rateWindow).count(),
                                       std::chrono::duration<double>(lastPublish - steadyZero).count());
    update.jobsPerSecond = span > 0.0 ? static_cast<double>(ends.size()) / span : 0.0;
    estimateEmpty();
    update.emptyInSeconds = emptyIn;
    {
        const std::lock_guard lock(tableMutex);
        while (!dirty.empty() && update.jobs.size() < mostJobsPerUpdate) {
            const auto it = table.find(*dirty.begin());
            if (it != table.end()) update.jobs.push_back(it->second.snapshot);
            dirty.erase(dirty.begin());
        }
        update.devices = deviceSnapshots;
        update.counts = counts;
        update.policy = policyName;
        update.paused = pausedNow;
        update.problems = problems;
    }
    stateDirty = false;
    const std::lock_guard lock(observersMutex);
    for (const auto& [id, observer] : observers) observer(update);
}

}  // namespace heteroscope
