#pragma once

#include "devices/device_info.h"
#include "devices/error.h"
#include "scheduler/comparison.h"
#include "scheduler/engine.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

/// A job left by a session that ended before it did.
struct LeftJob {
    JobId id = 0;
    JobState state = JobState::Waiting;
    std::string kernel;
    std::string specJson;  ///< a workload document of this one job, see workload.h; read again to resume
    std::vector<JobId> after;
};

/// The one writer of the database: a queue of small writes, a thread and connection of its own, one transaction a
/// burst. Any thread; returns at once. A failed write reaches `onProblem` and is tried again until the folder can
/// be written (nothing queued is dropped).
class History : public JobRecorder {
public:
    struct Opened {
        std::unique_ptr<History> history;
        std::vector<std::string> notices;  ///< "…was corrupt and is kept as history-….corrupt.db; a fresh one was begun"
    };
    /// Creates or upgrades `folder`/history.db (WAL, foreign keys, schema version, stepwise), begins a session and
    /// marks what a dead session left running as interrupted. Blocks. A corrupt file is kept aside under another
    /// name. Errors: Io with path and cause (read-only, full, newer schema than ours).
    static Result<Opened> open(const std::filesystem::path& folder);
    ~History() override;  ///< writes what is queued, ends the session

    JobId firstFreeJobId() const override;
    std::int64_t sessionId() const;

    void recordDevice(const DeviceInfo& device);
    /// `committed` runs on the writer thread after the transaction.
    void recordJob(JobSnapshot job, std::function<void()> committed) override;
    /// Returns the id at once; rows follow.
    std::int64_t recordComparison(const Comparison& comparison);
    void renameComparison(std::int64_t id, std::string name);
    void deleteJobs(std::vector<JobId> jobs);
    void deleteComparison(std::int64_t id);
    void setOnProblem(std::function<void(std::optional<Error>)> onProblem);  ///< none: it works again

    /// Waiting and ready jobs of sessions that ended; they stay so until resumed or dropped.
    std::vector<LeftJob> leftJobs() const;
    /// They end as cancelled ("dropped" by the person, or "resumed as #…").
    void settleLeftJobs(std::vector<JobId> jobs, std::string reason);

    std::size_t unwritten() const override;
    void flush();  ///< waits until everything recorded before is committed

private:
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace heteroscope
