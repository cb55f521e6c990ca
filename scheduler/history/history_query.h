#pragma once

#include "scheduler/history/history_reader.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <optional>
#include <string>
#include <vector>

namespace heteroscope::history {

/// The numbers of the jobs that match a filter, in its order. One covering scan of jobs_filter; pages are then cut
/// from the list until somebody commits. Every call throws SQLite::Exception; one thread.
class HistoryQuery {
public:
    explicit HistoryQuery(SQLite::Database& database) : database_(database) {}

    HistoryRows page(const HistoryFilter& filter, std::uint64_t offset, std::uint64_t limit);
    /// All of them, for an export.
    const std::vector<std::int64_t>& matching(const HistoryFilter& filter);
    HistoryFacets facets();

private:
    std::optional<HistoryRows> pageWithoutFilter(const HistoryFilter& filter, std::uint64_t offset, std::uint64_t limit);
    std::vector<std::int64_t> collect(const HistoryFilter& filter);
    std::vector<HistoryRow> rows(const std::int64_t* from, const std::int64_t* to);
    std::int64_t dataVersion();

    SQLite::Database& database_;
    std::optional<HistoryFilter> cachedFilter_;
    std::int64_t cachedVersion_ = -1;
    std::vector<std::int64_t> cached_;
};

/// Reads one whole job. Nothing when there is none of that number.
std::optional<HistoryDetail> readDetail(SQLite::Database& database, JobId job);
std::vector<SessionRow> readSessions(SQLite::Database& database);
std::vector<ComparisonRow> readComparisons(SQLite::Database& database);
std::optional<Comparison> readComparison(SQLite::Database& database, std::int64_t id);

}  // namespace heteroscope::history
