#pragma once

#include "devices/telemetry/telemetry.h"
#include "scheduler/comparison.h"
#include "scheduler/engine.h"
#include "scheduler/history/history.h"
#include "scheduler/history/history_reader.h"
#include "scheduler/kernel/own_source.h"
#include "scheduler/workload/workload.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

namespace heteroscope {

/// What the window may ask of the program; implemented in app/. Window's thread only. Every call returns at once;
/// callbacks and signals come on the window's thread (a callback may be dropped when its `context` is gone).
class Services : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Null until started(). Engine calls that only queue (cancel, pause, setPriority, retry, setPolicy, preview,
    /// predict) may be made from the window's thread; submit() may not: use submit() below.
    virtual Engine* engine() = 0;
    /// Null until started(). Its callbacks come on its own thread: see ui/ask.h for a way back.
    virtual HistoryReader* history() = 0;
    virtual std::shared_ptr<const KernelCatalogue> kernels() = 0;  ///< empty until started()
    virtual std::vector<DeviceInfo> devices() = 0;
    virtual std::vector<DeviceProblem> problems() = 0;  ///< of discovery
    virtual bool discovering() = 0;
    virtual QString dataFolder() = 0;
    virtual QStringList sampleWorkloads() = 0;  ///< files shipped with the program

    /// `jobs` are templates: ids are positions + 1 (or all 0), `after` names those. Real ids are given inside.
    virtual void submit(std::vector<JobSpec> jobs, QObject* context,
                        std::function<void(Result<std::vector<JobId>>)> done) = 0;
    virtual void loadWorkload(QString file, QObject* context, std::function<void(Result<Workload>)> done) = 0;
    virtual void loadOwnSource(OwnSource source, QObject* context, std::function<void(Result<KernelPtr>)> done) = 0;
    /// The entries of a person's .cl file, from a build on the first device that takes it.
    virtual void inspectSource(QString file, QStringList options, QStringList includes, QObject* context,
                               std::function<void(Result<Program>)> done) = 0;
    /// Runs the job of a history row once more (the same spec under a new id).
    virtual void runAgain(std::vector<JobId> jobs, QObject* context,
                          std::function<void(Result<std::vector<JobId>>)> done) = 0;
    /// Runs, then stores it in history; the result carries its id. One at a time.
    virtual void compare(ComparisonRequest request, QObject* context,
                         std::function<void(ComparisonProgress)> progress,
                         std::function<void(Result<Comparison>)> done) = 0;
    virtual void cancelComparison() = 0;
    virtual bool comparing() = 0;
    virtual void renameComparison(std::int64_t id, QString name) = 0;
    virtual void deleteComparison(std::int64_t id) = 0;
    virtual void deleteJobs(std::vector<JobId> jobs) = 0;

    virtual std::vector<LeftJob> leftJobs() = 0;  ///< waiting jobs of a session that ended
    virtual void resumeLeftJobs() = 0;
    virtual void dropLeftJobs() = 0;
    virtual void rescan() = 0;  ///< looks for devices again

signals:
    void started();
    void startFailed(const QString& reason);  ///< the window stays, says it, offers a way out
    void updated(const heteroscope::EngineUpdate& update);
    void telemetryTaken(const std::vector<heteroscope::TelemetryFrame>& frames);
    void devicesChanged();
    void leftJobsChanged();
    void noticeRaised(const QString& text, const QString& remedy);  ///< for the strip under the header
    void filesRequested(const QStringList& files);  ///< a second start handed them over; the window raises itself
};

}  // namespace heteroscope
