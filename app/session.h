#pragma once

#include "app/data_lock.h"
#include "app/holder.h"
#include "app/instance.h"
#include "ui/services.h"

#include <QThreadPool>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace heteroscope {

/// The window's services: a Holder opened behind the window, telemetry, and the socket that other commands reach this
/// process by. What blocks (SQLite, OpenCL, files) runs on threads of its own; answers come back to the window's
/// thread. Window's thread.
class Session : public Services {
    Q_OBJECT
public:
    Session(Paths paths, std::string policy, QObject* parent = nullptr);
    ~Session() override;

    /// Takes the data folder and starts behind the window. While a command has the folder it says so and waits for it.
    void start();
    /// Ends everything within a few seconds, or else leaves the process with `exitStatus`. Nothing may be asked after.
    void shutdown(int exitStatus);
    Holder& holder() { return *holder_; }  ///< after started()

    Engine* engine() override;
    HistoryReader* history() override;
    std::shared_ptr<const KernelCatalogue> kernels() override;
    std::vector<DeviceInfo> devices() override { return devices_; }
    std::vector<DeviceProblem> problems() override { return problems_; }
    bool discovering() override { return discovering_; }
    QString dataFolder() override;
    QStringList sampleWorkloads() override;

    void submit(std::vector<JobSpec> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) override;
    void loadWorkload(QString file, QObject* context, std::function<void(Result<Workload>)> done) override;
    void loadOwnSource(OwnSource source, QObject* context, std::function<void(Result<KernelPtr>)> done) override;
    void inspectSource(QString file, QStringList options, QStringList includes, QObject* context,
                       std::function<void(Result<Program>)> done) override;
    void runAgain(std::vector<JobId> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) override;
    void compare(ComparisonRequest request, QObject* context, std::function<void(ComparisonProgress)> progress,
                 std::function<void(Result<Comparison>)> done) override;
    void cancelComparison() override;
    bool comparing() override;
    void renameComparison(std::int64_t id, QString name) override;
    void deleteComparison(std::int64_t id) override;
    void deleteJobs(std::vector<JobId> jobs) override;

    std::vector<LeftJob> leftJobs() override { return leftJobs_; }
    void resumeLeftJobs() override;
    void dropLeftJobs() override;
    void rescan() override;

private:
    void takeFolder();
    void open();             // starter's thread
    void beginWork();        // window's thread, when open() is through
    void takeDevices(bool whole);
    void refreshLeftJobs();  // any worker
    void onWindow(std::function<void()> then);

    /// `work` on a worker, its result to `done` on the window's thread unless `context` is gone by then.
    template <class T>
    void ask(QObject* context, std::function<Result<T>()> work, std::function<void(Result<T>)> done);

    Paths paths_;
    std::string policy_;
    std::optional<DataLock> lock_;
    std::unique_ptr<Holder> holder_;
    std::unique_ptr<InstanceServer> server_;
    std::unique_ptr<TelemetrySampler> sampler_;
    std::shared_ptr<void> observing_;
    QThreadPool workers_;
    std::thread starter_;
    QTimer retry_;
    bool saidHeld_ = false, started_ = false, discovering_ = true, closed_ = false;
    std::vector<DeviceInfo> devices_;
    std::vector<DeviceProblem> problems_;
    std::vector<LeftJob> leftJobs_;
};

}  // namespace heteroscope
