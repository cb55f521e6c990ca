#include "ui/job_board.h"

#include <algorithm>

namespace heteroscope {

JobBoard::JobBoard(Services& services) : services_(services) {
    connect(&services_, &Services::updated, this, &JobBoard::apply);
    connect(&services_, &Services::devicesChanged, this, &JobBoard::readDevices);
    readDevices();
}

const JobSnapshot* JobBoard::find(JobId job) const {
    const auto it = jobs_.find(job);
    return it == jobs_.end() ? nullptr : &it->second;
}

int JobBoard::deviceIndex(const std::string& id) const {
    const auto it = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceInfo& d) { return d.id == id; });
    return it == devices_.end() ? -1 : static_cast<int>(it - devices_.begin());
}

QString JobBoard::deviceShortName(const std::string& id) const {
    const int index = deviceIndex(id);
    if (index < 0) return QString::fromStdString(id);
    const auto& device = devices_[static_cast<std::size_t>(index)];
    const auto alike = std::count_if(devices_.begin(), devices_.end(),
                                     [&](const DeviceInfo& d) { return d.shortName == device.shortName; });
    const QString name = QString::fromStdString(device.shortName);
    if (alike < 2) return name;
    // Two of a kind: what tells their ids apart ("cpu-0", "gpu-bfbb7738" → "0", "bfbb").
    const QString digits = QString::fromStdString(id).section(QLatin1Char('-'), -1).left(4);
    return name + QLatin1Char(' ') + digits;
}

void JobBoard::apply(const EngineUpdate& update) {
    latest_ = update;
    latest_.jobs.clear();
    std::vector<JobId> changed;
    changed.reserve(update.jobs.size());
    for (const auto& job : update.jobs) {
        jobs_.insert_or_assign(job.id, job);
        changed.push_back(job.id);
    }
    if (!changed.empty()) emit jobsChanged(changed);
    emit stateChanged();
}

void JobBoard::readDevices() {
    devices_ = services_.devices();
    emit devicesChanged();
}

}  // namespace heteroscope
