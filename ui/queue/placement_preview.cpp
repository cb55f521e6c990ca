#include "ui/queue/placement_preview.h"

#include "scheduler/policy.h"

#include <algorithm>

namespace heteroscope {
namespace {

/// The system as far as one job cares, with the devices as they stand.
class OneJob : public SystemView, public Assignments {
public:
    OneJob(const JobSpec& job, const std::vector<Candidate>& candidates, const std::vector<DeviceSnapshot>& devices,
           std::string policy)
        : job_(job), candidates_(candidates), devices_(devices), policy_(std::move(policy)) {}

    std::optional<Decision> decision;

    Time now() const override { return Time{}; }
    std::size_t deviceCount() const override { return candidates_.size(); }
    DeviceView device(DeviceIndex index) const override {
        DeviceView view;
        view.index = index;
        view.online = true;
        view.queued = candidates_[index].queued;
        if (index < devices_.size()) {
            const DeviceSnapshot& device = devices_[index];
            view.online = device.online;
            view.running = static_cast<std::uint32_t>(device.running.size());
            view.queued = static_cast<std::uint32_t>(device.queued + device.staging.size());
            view.idle = device.online && device.running.empty() && device.staging.empty() && device.queued == 0;
        }
        return view;
    }
    JobView job(JobId id) const override { return {id, job_.priority, Time{}, Time{}, {}}; }
    std::size_t readyCount() const override { return 1; }
    const std::string* excluded(JobId, DeviceIndex index) const override {
        return candidates_[index].excluded.empty() ? nullptr : &candidates_[index].excluded;
    }
    double runSeconds(JobId, DeviceIndex index) const override { return candidates_[index].run; }
    double dataSeconds(JobId, DeviceIndex index) const override { return candidates_[index].dataIn; }
    double freeInSeconds(DeviceIndex index) const override { return std::max(0.0, candidates_[index].freeIn); }

    void assign(JobId, DeviceIndex device, Decision made) override {
        if (decision) return;
        made.chosen = device;
        made.policy = policy_;
        decision = std::move(made);
    }
    Decision candidates(JobId id) const override {
        Decision made;
        made.job = id;
        made.policy = policy_;
        made.candidates = candidates_;
        return made;
    }

private:
    const JobSpec& job_;
    const std::vector<Candidate>& candidates_;
    const std::vector<DeviceSnapshot>& devices_;
    std::string policy_;
};

bool allExcluded(const std::vector<Candidate>& candidates) {
    return std::all_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return !c.excluded.empty(); });
}

}  // namespace

Placement placementBy(const std::string& policy, const JobSpec& job, const std::vector<Candidate>& candidates,
                      const std::vector<DeviceSnapshot>& devices) {
    Placement placement;
    const std::string id = policy.substr(0, policy.find(':'));
    if (candidates.empty() || allExcluded(candidates)) return placement;
    if (id == "round-robin") {
        placement.dependsOnTurn = true;
        return placement;
    }
    auto made = makePolicy(policy);
    if (!made) return placement;
    OneJob system(job, candidates, devices, id);
    const JobId jobId = job.id != 0 ? job.id : 1;
    const std::vector<JobId> jobs{jobId};
    (*made)->devicesChanged(system);
    (*made)->jobsSubmitted(jobs, system);
    (*made)->jobsReady(jobs, system);
    (*made)->schedule(system, system);
    placement.decision = std::move(system.decision);
    return placement;
}

}  // namespace heteroscope
