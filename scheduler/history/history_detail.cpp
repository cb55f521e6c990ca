#include "scheduler/history/decision_codec.h"
#include "scheduler/history/history_query.h"
#include "scheduler/history/job_codec.h"

namespace heteroscope::history {
namespace {

constexpr const char* detailSql = R"sql(
SELECT j.id, j.session, j.state, j.label, k.name, p.name, d.name, j.runtime, y.name, j.priority, j.attempts, j.reason,
  j.submitted, j.ready, j.assigned, j.staging, j.staged, j.started, j.finished, j.ended, j.predicted_s, j.wait_s,
  j.stage_in_s, j.run_s, j.stage_out_s, j.flops, j.bytes, j.error_kind, j.error_message, j.error_file, j.error_line,
  j.error_log, j.check_state, j.check_detail, j.outputs, j.log, j.after, j.decision, s.document
FROM jobs j LEFT JOIN kernels k ON k.id=j.kernel LEFT JOIN parameter_sets p ON p.id=j.parameters
LEFT JOIN devices d ON d.id=j.device LEFT JOIN policies y ON y.id=j.policy LEFT JOIN specs s ON s.id=j.spec
WHERE j.id=?)sql";

constexpr const char* attemptsSql = R"sql(
SELECT a.attempt, a.state, d.name, a.runtime, y.name, a.reason, a.assigned, a.staging, a.staged, a.started, a.finished,
  a.ended, a.run_s, a.error_kind, a.error_message, a.error_file, a.error_line, a.error_log
FROM attempts a LEFT JOIN devices d ON d.id=a.device LEFT JOIN policies y ON y.id=a.policy
WHERE a.job=?1 AND a.attempt < (SELECT attempts FROM jobs WHERE id=?1) + (SELECT state < 5 AND staging = 0 FROM jobs WHERE id=?1)
ORDER BY a.attempt)sql";

std::optional<double> maybe(SQLite::Statement& query, int column) {
    if (query.isColumnNull(column)) return std::nullopt;
    return query.getColumn(column).getDouble();
}

// Kind, message, file, line and log in five columns from `first`.
std::optional<Error> errorFrom(SQLite::Statement& query, int first) {
    if (query.isColumnNull(first)) return std::nullopt;
    Error error;
    error.kind = errorKindFromString(query.getColumn(first).getString()).value_or(ErrorKind::Unsupported);
    error.message = query.getColumn(first + 1).getString();
    error.file = query.getColumn(first + 2).getString();
    error.line = query.getColumn(first + 3).getInt();
    error.log = query.getColumn(first + 4).getString();
    return error;
}

JobTimes timesFrom(SQLite::Statement& query) {
    JobTimes t;
    int column = 12;
    for (std::int64_t* time : {&t.submitted, &t.ready, &t.assigned, &t.staging, &t.staged, &t.started, &t.finished, &t.ended})
        *time = query.getColumn(column++).getInt64();
    return t;
}

JobSnapshot jobFrom(SQLite::Statement& query) {
    JobSnapshot job;
    job.id = static_cast<JobId>(query.getColumn(0).getInt64());
    job.state = static_cast<JobState>(query.getColumn(2).getInt());
    job.label = query.getColumn(3).getString();
    job.kernel = query.getColumn(4).getString();
    job.parameters = query.getColumn(5).getString();
    job.device = query.getColumn(6).getString();
    job.runtime = query.getColumn(7).getString();
    job.policy = query.getColumn(8).getString();
    job.priority = query.getColumn(9).getInt();
    job.attempts = query.getColumn(10).getUInt();
    job.reason = query.getColumn(11).getString();
    job.times = timesFrom(query);
    job.predictedSeconds = query.getColumn(20).getDouble();
    job.waitSeconds = query.getColumn(21).getDouble();
    job.stageInSeconds = query.getColumn(22).getDouble();
    job.runSeconds = query.getColumn(23).getDouble();
    job.stageOutSeconds = query.getColumn(24).getDouble();
    job.flops = maybe(query, 25);
    job.bytes = maybe(query, 26);
    job.error = errorFrom(query, 27);
    job.check.state = static_cast<CheckResult::State>(query.getColumn(32).getInt());
    if (!query.isColumnNull(33)) checkFromJson(query.getColumn(33).getString(), job.check);
    if (!query.isColumnNull(34)) job.outputs = outputsFromJson(query.getColumn(34).getString());
    job.log = query.getColumn(35).getString();
    if (!query.isColumnNull(36)) job.after = jobIdsFromJson(query.getColumn(36).getString());
    if (!query.isColumnNull(37)) {
        const auto blob = query.getColumn(37);
        job.decision = decodeDecision(blob.getBlob(), static_cast<std::size_t>(blob.getBytes()));
    }
    return job;
}

std::vector<AttemptRow> attemptsOf(SQLite::Database& database, std::int64_t job) {
    std::vector<AttemptRow> rows;
    SQLite::Statement query(database, attemptsSql);
    query.bind(1, job);
    while (query.executeStep()) {
        AttemptRow row;
        row.attempt = query.getColumn(0).getUInt();
        row.state = static_cast<JobState>(query.getColumn(1).getInt());
        row.device = query.getColumn(2).getString();
        row.runtime = query.getColumn(3).getString();
        row.policy = query.getColumn(4).getString();
        row.reason = query.getColumn(5).getString();
        int column = 6;
        JobTimes& t = row.times;
        for (std::int64_t* time : {&t.assigned, &t.staging, &t.staged, &t.started, &t.finished, &t.ended})
            *time = query.getColumn(column++).getInt64();
        row.runSeconds = query.getColumn(12).getDouble();
        row.error = errorFrom(query, 13);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<std::string> deviceNamesOf(SQLite::Database& database, std::int64_t session) {
    std::vector<std::string> names;
    SQLite::Statement query(database, "SELECT s.position, d.name FROM session_devices s JOIN devices d ON d.id=s.device "
                                      "WHERE s.session=? AND s.position BETWEEN 0 AND 4095 ORDER BY s.position");
    query.bind(1, session);
    while (query.executeStep()) {
        names.resize(static_cast<std::size_t>(query.getColumn(0).getInt64()) + 1);
        names.back() = query.getColumn(1).getString();
    }
    return names;
}

std::vector<ScheduledJob> scheduleOf(SQLite::Database& database, std::int64_t run) {
    std::vector<ScheduledJob> schedule;
    SQLite::Statement query(database, "SELECT job, label, kernel, device, submitted_s, ready_s, start_s, finish_s "
                                      "FROM comparison_jobs WHERE run=? ORDER BY position");
    query.bind(1, run);
    while (query.executeStep()) {
        ScheduledJob job;
        job.job = static_cast<JobId>(query.getColumn(0).getInt64());
        job.label = query.getColumn(1).getString();
        job.kernel = query.getColumn(2).getString();
        job.device = static_cast<std::size_t>(query.getColumn(3).getInt64());
        job.submitted = query.getColumn(4).getDouble();
        job.ready = query.getColumn(5).getDouble();
        job.start = query.getColumn(6).getDouble();
        job.finish = query.getColumn(7).getDouble();
        schedule.push_back(std::move(job));
    }
    return schedule;
}

}  // namespace

std::optional<HistoryDetail> readDetail(SQLite::Database& database, JobId job) {
    SQLite::Statement query(database, detailSql);
    query.bind(1, static_cast<std::int64_t>(job));
    if (!query.executeStep()) return std::nullopt;
    HistoryDetail detail;
    detail.job = jobFrom(query);
    detail.session = query.getColumn(1).getInt64();
    if (!query.isColumnNull(38)) detail.specJson = specWithName(query.getColumn(38).getString(), detail.job.label, detail.job.id);
    detail.deviceNames = deviceNamesOf(database, detail.session);
    detail.earlierAttempts = attemptsOf(database, static_cast<std::int64_t>(job));
    if (detail.job.decision) {
        // A decision may name a device that no job of the session ever ran on and that was not recorded.
        for (const Candidate& candidate : detail.job.decision->candidates)
            while (candidate.device != noDevice && candidate.device < 4096 && detail.deviceNames.size() <= candidate.device)
                detail.deviceNames.push_back("device " + std::to_string(detail.deviceNames.size()));
        detail.explanation = explain(*detail.job.decision, detail.deviceNames);
    }
    return detail;
}

std::vector<SessionRow> readSessions(SQLite::Database& database) {
    std::vector<SessionRow> sessions;
    SQLite::Statement query(database, "SELECT id, started_at, ended_at, jobs FROM sessions ORDER BY id DESC");
    while (query.executeStep())
        sessions.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), query.getColumn(2).getInt64(),
                            static_cast<std::uint64_t>(std::max<std::int64_t>(0, query.getColumn(3).getInt64()))});
    return sessions;
}

std::vector<ComparisonRow> readComparisons(SQLite::Database& database) {
    std::vector<ComparisonRow> comparisons;
    SQLite::Statement query(database, "SELECT id, name, created_at, jobs, (SELECT count(DISTINCT policy) FROM comparison_runs r "
                                      "WHERE r.comparison=c.id) FROM comparisons c ORDER BY created_at DESC, id DESC");
    while (query.executeStep())
        comparisons.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString(), query.getColumn(2).getInt64(),
                               static_cast<std::size_t>(query.getColumn(3).getInt64()),
                               static_cast<std::size_t>(query.getColumn(4).getInt64())});
    return comparisons;
}

std::optional<Comparison> readComparison(SQLite::Database& database, std::int64_t id) {
    SQLite::Statement head(database, "SELECT name, created_at, jobs, devices, simulated, lower_bound_s, complete FROM comparisons WHERE id=?");
    head.bind(1, id);
    if (!head.executeStep()) return std::nullopt;
    Comparison comparison;
    comparison.id = id;
    comparison.name = head.getColumn(0).getString();
    comparison.createdAt = head.getColumn(1).getInt64();
    comparison.jobs = static_cast<std::size_t>(head.getColumn(2).getInt64());
    comparison.devices = namesFromJson(head.getColumn(3).getString());
    comparison.simulated = head.getColumn(4).getInt() != 0;
    comparison.lowerBoundSeconds = head.getColumn(5).getDouble();
    comparison.complete = head.getColumn(6).getInt() != 0;
    SQLite::Statement query(database, "SELECT id, policy, seed, repeat, metrics, failed, first_error FROM comparison_runs "
                                      "WHERE comparison=? ORDER BY position");
    query.bind(1, id);
    while (query.executeStep()) {
        PolicyRun run;
        run.policy = query.getColumn(1).getString();
        run.seed = static_cast<std::uint64_t>(query.getColumn(2).getInt64());
        run.repeat = query.getColumn(3).getInt();
        run.metrics = metricsFromJson(query.getColumn(4).getString());
        run.failed = static_cast<std::size_t>(query.getColumn(5).getInt64());
        run.firstError = query.getColumn(6).getString();
        run.schedule = scheduleOf(database, query.getColumn(0).getInt64());
        comparison.runs.push_back(std::move(run));
    }
    return comparison;
}

}  // namespace heteroscope::history
