#pragma once

#include "app/paths.h"
#include "devices/discovery.h"
#include "scheduler/comparison.h"
#include "scheduler/engine.h"
#include "scheduler/history/history.h"
#include "scheduler/history/history_reader.h"
#include "scheduler/kernel/own_source.h"
#include "scheduler/workload/workload.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace heteroscope {

/// What the process that holds a data folder owns: history, engine, devices, kernels. The window's session and the
/// commands that run jobs stand on it alike. No Qt, no event loop. Calls block; any thread once open() is through.
class Holder {
public:
    struct Options {
        Paths paths;
        std::string policy = "mct";
        bool startPaused = false;
    };

    explicit Holder(Options options);
    /// Waits for running jobs (Engine) and writes what is queued (History).
    ~Holder();

    /// Kernels, history, engine: all but the devices. A history that cannot be opened is a notice, not an error:
    /// jobs then run without being kept. Once, before anything else.
    void open();
    /// Looks for devices (seconds with some drivers). The first call looks, further ones wait for it.
    void ensureDevices();
    /// Looks again: what is new joins, what is gone leaves, what was lost is opened anew.
    void rescan();

    Engine& engine() { return *engine_; }
    HistoryReader& reader() { return *reader_; }
    History* history() { return history_.get(); }  ///< null when it could not be opened
    const Paths& paths() const { return options_.paths; }
    std::shared_ptr<const KernelCatalogue> kernels() const { return kernels_; }
    std::vector<std::shared_ptr<Device>> devices() const;
    std::vector<DeviceProblem> problems() const;
    const std::vector<DeviceProblem>& notices() const { return notices_; }  ///< of open()

    /// `jobs` are templates: ids are positions + 1 (or all 0) and `after` names those.
    Result<std::vector<JobId>> submit(std::vector<JobSpec> jobs);
    /// The entries of a source, from a build on the first device that takes it (`deviceId`: on that one).
    Result<Program> inspect(const ProgramSource& source, const std::string& deviceId = {});
    /// Runs the jobs of these history rows once more, under new ids and without their dependencies.
    Result<std::vector<JobId>> runAgain(const std::vector<JobId>& jobs);
    /// Runs, then stores it in history. One at a time: a second one is refused.
    Result<Comparison> compare(const ComparisonRequest& request, const std::function<bool()>& stop,
                               const std::function<void(const ComparisonProgress&)>& progress);
    bool comparing() const { return comparing_; }
    /// Stops a comparison that is under way. Any thread.
    void cancelComparison() { cancelComparison_ = true; }

    std::vector<LeftJob> leftJobs() const;
    /// Submits what a session that ended left waiting, with whatever it rests on, and settles those rows.
    /// The new ids.
    Result<std::vector<JobId>> resumeLeftJobs();
    /// Ends these as cancelled; all when none is named. How many there were.
    std::size_t dropLeftJobs(const std::vector<JobId>& jobs = {});

private:
    Result<JobSpec> specOf(const std::string& specJson) const;
    Result<std::vector<JobSpec>> leftSpecs(const std::vector<LeftJob>& left) const;

    Options options_;
    std::shared_ptr<const KernelCatalogue> kernels_;
    std::unique_ptr<History> history_;
    std::unique_ptr<HistoryReader> reader_;
    std::unique_ptr<Engine> engine_;
    std::vector<DeviceProblem> notices_;
    std::once_flag discoveredOnce_;
    std::mutex scanMutex_;  // one scan at a time
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<Device>> devices_;  // guarded by mutex_
    std::vector<DeviceProblem> problems_;           // guarded by mutex_
    std::atomic<bool> comparing_{false}, cancelComparison_{false};
};

/// What is compiled of a person's source, before its entry and arguments are known. Errors: those of reading it.
Result<ProgramSource> bareSource(const OwnSource& source);

/// "No compute device…": what is said where work needs a device and there is none.
Error noDeviceError(const std::vector<DeviceProblem>& problems);

}  // namespace heteroscope
