#pragma once

#include "devices/device_info.h"
#include "scheduler/comparison.h"
#include "scheduler/engine.h"
#include "scheduler/history/history.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace heteroscope::history {

std::int64_t nowNs();  ///< since the Unix epoch

/// Text → row number of a small table, remembered so that a row costs no query. Forgotten when a transaction is
/// rolled back, because the numbers given in it are then void.
class NameTable {
public:
    NameTable(SQLite::Database& database, const std::string& table);
    std::int64_t idOf(const std::string& name);
    void forget();

private:
    SQLite::Database& database_;
    SQLite::Statement find_, insert_;
    std::unordered_map<std::string, std::int64_t> known_;
};

/// The database as the one writer sees it: prepared statements over an open, upgraded file. Every call throws
/// SQLite::Exception; one thread.
class StoreWriter {
public:
    explicit StoreWriter(const std::filesystem::path& file);

    /// Inserts a session; `wanted` keeps its number when a fresh file takes over in mid-session.
    std::int64_t beginSession(JobId firstJob, std::int64_t wanted = 0);
    void endSession();
    /// Ends what dead sessions left running and readies what they left placed. Returns the number interrupted.
    std::size_t settleDeadSessions();
    std::vector<LeftJob> leftJobs();
    JobId firstFreeJobId();
    std::int64_t lastComparisonId();

    void begin();
    void commit();
    void rollback() noexcept;

    void writeJob(const JobSnapshot& job);
    void writeDevice(const DeviceInfo& device);
    void writeComparison(const Comparison& comparison);
    void renameComparison(std::int64_t id, const std::string& name);
    void deleteComparison(std::int64_t id);
    /// Returns the kept outputs' files, to be removed once the transaction is committed.
    std::vector<std::string> deleteJobs(const std::vector<JobId>& jobs);
    /// Drops shared texts that no job uses any more. Scans all jobs.
    void collectGarbage();
    void settleLeftJobs(const std::vector<JobId>& jobs, const std::string& reason);

private:
    void archiveAttempt(const JobSnapshot& job);
    void bindJob(const JobSnapshot& job);
    void bindError(const JobSnapshot& job);
    std::int64_t textOf(const JobSnapshot& job);
    std::optional<std::int64_t> specOf(const JobSnapshot& job);
    std::int64_t storeSpec(const JobSpec& spec);
    void learnDevice(const Decision& decision, const std::string& device);
    void placeDevice(std::int64_t position, const std::string& device);
    void forget();

    SQLite::Database database_;
    NameTable kernels_, parameterSets_, policies_, devices_;
    SQLite::Statement job_, archive_, text_, spec_, findSpec_;
    std::unordered_map<std::string, std::int64_t> texts_, specs_;
    std::map<std::int64_t, std::string> positions_;  // DeviceIndex → id, as stored for this session
    std::int64_t nextPosition_ = 0;
    std::int64_t session_ = 0;
    std::int64_t newJobs_ = 0;  // of this transaction
    bool inTransaction_ = false;
};

}  // namespace heteroscope::history
