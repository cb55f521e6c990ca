#pragma once

#include "ui/services.h"

#include <QObject>

#include <map>
#include <unordered_map>

namespace heteroscope {

/// The session's jobs as the window knows them: the one copy that Queue, Monitor and the status bar read. Fed by
/// Services::updated; window's thread.
class JobBoard : public QObject {
    Q_OBJECT
public:
    explicit JobBoard(Services& services);

    const std::map<JobId, JobSnapshot>& jobs() const { return jobs_; }
    const JobSnapshot* find(JobId job) const;
    const EngineUpdate& latest() const { return latest_; }  ///< its `jobs` are empty: see jobs()
    /// Position of a device in the session, for its one series colour; -1 when unknown.
    int deviceIndex(const std::string& id) const;
    QString deviceShortName(const std::string& id) const;  ///< "H200"; the id when unknown; two alike get their ids' digits

signals:
    void jobsChanged(const std::vector<heteroscope::JobId>& jobs);  ///< new or changed
    void stateChanged();  ///< counts, devices, policy, pause: see latest()
    void devicesChanged();

private:
    void apply(const EngineUpdate& update);
    void readDevices();

    Services& services_;
    std::map<JobId, JobSnapshot> jobs_;
    EngineUpdate latest_;
    std::vector<DeviceInfo> devices_;
};

}  // namespace heteroscope
