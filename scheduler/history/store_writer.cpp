#include "scheduler/history/store_writer.h"

#include "scheduler/history/decision_codec.h"
#include "scheduler/history/job_codec.h"
#include "scheduler/history/schema.h"
#include "scheduler/workload/workload.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cmath>

namespace heteroscope::history {
namespace {

// Bounds of the caches: a queue of jobs that are all different must not grow the process without end.
constexpr std::size_t mostKnown = 50'000;
constexpr int busyMilliseconds = 2'000;

constexpr const char* upsertJob = R"sql(
INSERT INTO jobs(id, session, state, label, kernel, parameters, text, device, runtime, policy, priority, attempts,
  reason, submitted, ready, assigned, staging, staged, started, finished, ended, predicted_s, wait_s, stage_in_s, run_s,
  stage_out_s, flops, bytes, error_kind, error_message, error_file, error_line, error_log, check_state, check_detail,
  outputs, log, after, decision, spec)
VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,
  ?31,?32,?33,?34,?35,?36,?37,?38,?39,?40)
ON CONFLICT(id) DO UPDATE SET state=excluded.state, label=excluded.label, kernel=excluded.kernel,
  parameters=excluded.parameters, text=excluded.text, device=excluded.device, runtime=excluded.runtime,
  policy=excluded.policy, priority=excluded.priority, attempts=excluded.attempts, reason=excluded.reason,
  submitted=excluded.submitted, ready=excluded.ready, assigned=excluded.assigned, staging=excluded.staging,
  staged=excluded.staged, started=excluded.started, finished=excluded.finished, ended=excluded.ended,
  predicted_s=excluded.predicted_s, wait_s=excluded.wait_s, stage_in_s=excluded.stage_in_s, run_s=excluded.run_s,
  stage_out_s=excluded.stage_out_s, flops=excluded.flops, bytes=excluded.bytes, error_kind=excluded.error_kind,
  error_message=excluded.error_message, error_file=excluded.error_file, error_line=excluded.error_line,
  error_log=excluded.error_log, check_state=excluded.check_state, check_detail=excluded.check_detail,
  outputs=excluded.outputs, log=excluded.log, after=excluded.after,
  decision=coalesce(excluded.decision, decision), spec=coalesce(excluded.spec, spec))sql";

// A try is over when its row is final, or when a later one has begun (its device was lost).
constexpr const char* archiveSql = R"sql(
INSERT OR REPLACE INTO attempts SELECT id, max(attempts, 1), state, device, runtime, policy, reason, assigned, staging,
  staged, started, finished, ended, run_s, error_kind, error_message, error_file, error_line, error_log
FROM jobs WHERE id=?1 AND ((?3 AND state BETWEEN 5 AND 9 AND staging > 0) OR (attempts < ?2 AND staging > 0)))sql";

void bindText(SQLite::Statement& statement, int index, const std::string& text) {
    statement.bindNoCopy(index, text);
}
void bindOptional(SQLite::Statement& statement, int index, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) statement.bind(index, *value);
    else statement.bind(index);
}
// SQLite stores NaN as NULL, which these columns refuse.
void bindSeconds(SQLite::Statement& statement, int index, double seconds) {
    statement.bind(index, std::isfinite(seconds) ? seconds : -1.0);
}

std::string specKey(const JobSpec& spec) {
    std::string key = fmt::format("{}|{}|{}|{}|{}|{}{}|{}|{}", static_cast<const void*>(spec.kernel.get()), spec.priority,
                                  spec.device, spec.group, spec.seed, spec.check, spec.keepOutputs, spec.arrival.count(),
                                  spec.timeout.count());
    for (const auto& [name, value] : spec.parameters) fmt::format_to(std::back_inserter(key), "|{}={}", name, value);
    for (const auto& [name, binding] : spec.bindings)
        fmt::format_to(std::back_inserter(key), "|{}:{},{},{},{},{}", name, static_cast<const void*>(binding.data.get()),
                       static_cast<int>(binding.access), binding.first, binding.count.value_or(0) + (binding.count ? 1 : 0),
                       binding.newVersion);
    for (const auto& [name, file] : spec.save) fmt::format_to(std::back_inserter(key), "|{}>{}", name, file.string());
    return key;
}

std::int64_t hashOf(const std::string& text) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return static_cast<std::int64_t>(hash);
}

std::int64_t number(JobId job) { return static_cast<std::int64_t>(job); }

}  // namespace

std::int64_t nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

NameTable::NameTable(SQLite::Database& database, const std::string& table)
    : database_(database),
      find_(database, "SELECT id FROM " + table + " WHERE name=?"),
      insert_(database, "INSERT INTO " + table + "(name) VALUES(?)") {}

void NameTable::forget() {
    find_.tryReset();
    insert_.tryReset();
    known_.clear();
}

std::int64_t NameTable::idOf(const std::string& name) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (known_.size() >= mostKnown) known_.clear();
    std::int64_t id = 0;
    find_.bindNoCopy(1, name);
    if (find_.executeStep()) id = find_.getColumn(0).getInt64();
    find_.reset();
    if (id == 0) {
        insert_.bindNoCopy(1, name);
        insert_.exec();
        insert_.reset();
        id = database_.getLastInsertRowid();
    }
    known_.emplace(name, id);
    return id;
}

namespace {
SQLite::Database openForWriting(const std::filesystem::path& file) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, busyMilliseconds);
    configureWriter(database);
    upgrade(database);
    return database;
}
}  // namespace

StoreWriter::StoreWriter(const std::filesystem::path& file)
    : database_(openForWriting(file)),
      kernels_(database_, "kernels"),
      parameterSets_(database_, "parameter_sets"),
      policies_(database_, "policies"),
      devices_(database_, "devices"),
      job_(database_, upsertJob),
      archive_(database_, archiveSql),
      text_(database_, "INSERT INTO search_texts(folded) VALUES(?)"),
      spec_(database_, "INSERT INTO specs(hash, document) VALUES(?,?)"),
      findSpec_(database_, "SELECT id FROM specs WHERE hash=? AND document=?") {}

std::int64_t StoreWriter::beginSession(JobId firstJob, std::int64_t wanted) {
    SQLite::Statement insert(database_, "INSERT INTO sessions(id, started_at, alive_at, first_job) VALUES(?1,?2,?3,?4) "
                                        "ON CONFLICT(id) DO UPDATE SET alive_at=excluded.alive_at");
    if (wanted > 0) insert.bind(1, wanted);
    insert.bind(2, nowNs());
    insert.bind(3, nowNs());
    insert.bind(4, number(firstJob));
    insert.exec();
    session_ = wanted > 0 ? wanted : database_.getLastInsertRowid();
    positions_.clear();
    nextPosition_ = 0;
    return session_;
}

void StoreWriter::endSession() {
    SQLite::Statement update(database_, "UPDATE sessions SET ended_at=?1, alive_at=?1 WHERE id=?2");
    update.bind(1, nowNs());
    update.bind(2, session_);
    update.exec();
}

std::size_t StoreWriter::settleDeadSessions() {
    // The moment it ended is not known better than the last commit of its session.
    SQLite::Statement running(database_, R"sql(
UPDATE jobs SET state=9, reason='the program ended while it ran', ended=max(staging, staged, started, finished,
  (SELECT alive_at FROM sessions WHERE sessions.id=jobs.session)) WHERE state IN (3, 4) AND state < 5)sql");
    const int interrupted = running.exec();
    database_.exec("UPDATE jobs SET state=1, device=NULL, assigned=0, reason='left by a session that ended' "
                   "WHERE state=2 AND state < 5");
    return static_cast<std::size_t>(interrupted);
}

std::vector<LeftJob> StoreWriter::leftJobs() {
    std::vector<LeftJob> left;
    SQLite::Statement query(database_, R"sql(
SELECT j.id, j.state, k.name, j.label, s.document, j.after FROM jobs j JOIN kernels k ON k.id=j.kernel
LEFT JOIN specs s ON s.id=j.spec WHERE j.state < 5 AND j.state <= 1 AND j.session <> ? ORDER BY j.id)sql");
    query.bind(1, session_);
    while (query.executeStep()) {
        LeftJob job;
        job.id = static_cast<JobId>(query.getColumn(0).getInt64());
        job.state = static_cast<JobState>(query.getColumn(1).getInt());
        job.kernel = query.getColumn(2).getString();
        if (!query.isColumnNull(4))
            job.specJson = specWithName(query.getColumn(4).getString(), query.getColumn(3).getString(), job.id);
        job.after = jobIdsFromJson(query.getColumn(5).getString());
        left.push_back(std::move(job));
    }
    return left;
}

JobId StoreWriter::firstFreeJobId() {
    // The floor survives the deletion of the newest jobs: a number that people saw is not given again.
    return static_cast<JobId>(database_.execAndGet(
        "SELECT 1 + max(ifnull((SELECT max(id) FROM jobs), 0), ifnull((SELECT value FROM meta WHERE key='last_job'), 0))")
                                  .getInt64());
}

std::int64_t StoreWriter::lastComparisonId() {
    return database_.execAndGet("SELECT max(ifnull((SELECT max(id) FROM comparisons), 0), "
                                "ifnull((SELECT value FROM meta WHERE key='last_comparison'), 0))").getInt64();
}

void StoreWriter::begin() {
    database_.exec("BEGIN IMMEDIATE");
    inTransaction_ = true;
    newJobs_ = 0;
}

void StoreWriter::commit() {
    SQLite::Statement alive(database_, "UPDATE sessions SET alive_at=?, jobs=jobs+? WHERE id=?");
    alive.bind(1, nowNs());
    alive.bind(2, newJobs_);
    alive.bind(3, session_);
    alive.exec();
    database_.exec("COMMIT");
    inTransaction_ = false;
}

void StoreWriter::rollback() noexcept {
    for (SQLite::Statement* statement : {&job_, &archive_, &text_, &spec_, &findSpec_}) statement->tryReset();
    if (inTransaction_) sqlite3_exec(database_.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
    inTransaction_ = false;
    forget();
}

void StoreWriter::forget() {
    for (NameTable* table : {&kernels_, &parameterSets_, &policies_, &devices_}) table->forget();
    texts_.clear();
    specs_.clear();
    positions_.clear();
}

void StoreWriter::writeJob(const JobSnapshot& job) {
    if (job.attempts > 0) archiveAttempt(job);
    if (job.decision && !job.device.empty()) learnDevice(*job.decision, job.device);
    bindJob(job);
    sqlite3_set_last_insert_rowid(database_.getHandle(), 0);
    job_.exec();
    job_.reset();
    // An update leaves the last inserted row alone: this is how a new row is told from a known one.
    if (database_.getLastInsertRowid() == number(job.id)) ++newJobs_;
}

void StoreWriter::archiveAttempt(const JobSnapshot& job) {
    const bool goesOn = !isFinal(job.state);
    if (!goesOn && job.attempts < 2) return;
    archive_.bind(1, number(job.id));
    archive_.bind(2, job.attempts);
    archive_.bind(3, goesOn ? 1 : 0);
    archive_.exec();
    archive_.reset();
}

void StoreWriter::bindJob(const JobSnapshot& job) {
    SQLite::Statement& row = job_;
    row.clearBindings();
    row.bind(1, number(job.id));
    row.bind(2, session_);
    row.bind(3, static_cast<int>(job.state));
    bindText(row, 4, job.label);
    row.bind(5, kernels_.idOf(job.kernel));
    row.bind(6, parameterSets_.idOf(job.parameters));
    row.bind(7, textOf(job));
    if (!job.device.empty()) row.bind(8, devices_.idOf(job.device));
    bindText(row, 9, job.runtime);
    if (!job.policy.empty()) row.bind(10, policies_.idOf(job.policy));
    row.bind(11, job.priority);
    row.bind(12, job.attempts);
    bindText(row, 13, job.reason);
    const JobTimes& t = job.times;
    int at = 14;
    for (const std::int64_t time : {t.submitted, t.ready, t.assigned, t.staging, t.staged, t.started, t.finished, t.ended})
        row.bind(at++, time);
    for (const double seconds : {job.predictedSeconds, job.waitSeconds, job.stageInSeconds, job.runSeconds, job.stageOutSeconds})
        bindSeconds(row, at++, seconds);
    bindOptional(row, 27, job.flops);
    bindOptional(row, 28, job.bytes);
    bindError(job);
    row.bind(34, static_cast<int>(job.check.state));
    if (job.check.state != CheckResult::State::None || !job.check.message.empty()) row.bind(35, checkToJson(job.check));
    if (!job.outputs.empty()) row.bind(36, outputsToJson(job.outputs));
    bindText(row, 37, job.log);
    if (!job.after.empty()) row.bind(38, jobIdsToJson(job.after));
    if (job.decision) {
        const std::string bytes = encodeDecision(*job.decision);
        row.bind(39, static_cast<const void*>(bytes.data()), static_cast<int>(bytes.size()));
    }
    if (const auto spec = specOf(job)) row.bind(40, *spec);
}

void StoreWriter::bindError(const JobSnapshot& job) {
    if (!job.error) return;
    job_.bind(29, std::string(toString(job.error->kind)));
    bindText(job_, 30, job.error->message);
    bindText(job_, 31, job.error->file);
    job_.bind(32, job.error->line);
    bindText(job_, 33, job.error->log);
}

std::int64_t StoreWriter::textOf(const JobSnapshot& job) {
    std::string text = job.kernel + '\n' + job.parameters + '\n' + job.label;
    if (job.error) text += '\n' + job.error->message;
    text = folded(std::move(text));
    if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
    if (texts_.size() >= mostKnown) texts_.clear();  // a text stored twice costs room, nothing else
    text_.bindNoCopy(1, text);
    text_.exec();
    text_.reset();
    return texts_.emplace(std::move(text), database_.getLastInsertRowid()).first->second;
}

std::optional<std::int64_t> StoreWriter::specOf(const JobSnapshot& job) {
    if (!job.spec || !job.spec->kernel) return std::nullopt;
    std::string key = specKey(*job.spec);
    if (const auto known = specs_.find(key); known != specs_.end()) return known->second;
    if (specs_.size() >= mostKnown) specs_.clear();
    return specs_.emplace(std::move(key), storeSpec(*job.spec)).first->second;
}

std::int64_t StoreWriter::storeSpec(const JobSpec& spec) {
    JobSpec anonymous = spec;
    anonymous.id = 0;
    anonymous.label.clear();
    anonymous.after.clear();
    const std::string document = jobsToWorkloadJson({std::move(anonymous)}, spec.kernel->id);
    const std::int64_t hash = hashOf(document);
    findSpec_.bind(1, hash);
    findSpec_.bindNoCopy(2, document);
    std::int64_t id = findSpec_.executeStep() ? findSpec_.getColumn(0).getInt64() : 0;
    findSpec_.reset();
    if (id != 0) return id;
    spec_.bind(1, hash);
    spec_.bindNoCopy(2, document);
    spec_.exec();
    spec_.reset();
    return database_.getLastInsertRowid();
}

void StoreWriter::writeDevice(const DeviceInfo& device) {
    SQLite::Statement insert(database_, R"sql(
INSERT INTO devices(name, title, short_name, kind, facts) VALUES(?,?,?,?,?)
ON CONFLICT(name) DO UPDATE SET title=excluded.title, short_name=excluded.short_name, kind=excluded.kind, facts=excluded.facts)sql");
    insert.bind(1, device.id);
    insert.bind(2, device.name);
    insert.bind(3, device.shortName);
    insert.bind(4, std::string(toString(device.kind)));
    insert.bind(5, deviceFactsToJson(device));
    insert.exec();
    for (const auto& [position, name] : positions_)
        if (name == device.id) return;
    placeDevice(nextPosition_, device.id);
}

void StoreWriter::learnDevice(const Decision& decision, const std::string& device) {
    if (decision.chosen == noDevice) return;
    const auto known = positions_.find(decision.chosen);
    if (known == positions_.end() || known->second != device) placeDevice(decision.chosen, device);
}

void StoreWriter::placeDevice(std::int64_t position, const std::string& device) {
    SQLite::Statement insert(database_, "INSERT OR REPLACE INTO session_devices(session, position, device) VALUES(?,?,?)");
    insert.bind(1, session_);
    insert.bind(2, position);
    insert.bind(3, devices_.idOf(device));
    insert.exec();
    positions_[position] = device;
    nextPosition_ = std::max(nextPosition_, position + 1);
}

void StoreWriter::writeComparison(const Comparison& comparison) {
    SQLite::Statement head(database_, R"sql(
INSERT OR REPLACE INTO comparisons(id, name, created_at, jobs, devices, simulated, lower_bound_s, complete) VALUES(?,?,?,?,?,?,?,?))sql");
    head.bind(1, comparison.id);
    head.bind(2, comparison.name);
    head.bind(3, comparison.createdAt);
    head.bind(4, static_cast<std::int64_t>(comparison.jobs));
    head.bind(5, namesToJson(comparison.devices));
    head.bind(6, comparison.simulated ? 1 : 0);
    bindSeconds(head, 7, comparison.lowerBoundSeconds);
    head.bind(8, comparison.complete ? 1 : 0);
    head.exec();
    SQLite::Statement run(database_, R"sql(
INSERT INTO comparison_runs(comparison, position, policy, seed, repeat, metrics, failed, first_error) VALUES(?,?,?,?,?,?,?,?))sql");
    SQLite::Statement bar(database_, R"sql(
INSERT INTO comparison_jobs(run, position, job, label, kernel, device, submitted_s, ready_s, start_s, finish_s)
VALUES(?,?,?,?,?,?,?,?,?,?))sql");
    std::int64_t position = 0;
    for (const PolicyRun& one : comparison.runs) {
        run.bind(1, comparison.id);
        run.bind(2, position++);
        run.bind(3, one.policy);
        run.bind(4, static_cast<std::int64_t>(one.seed));
        run.bind(5, one.repeat);
        run.bind(6, metricsToJson(one.metrics));
        run.bind(7, static_cast<std::int64_t>(one.failed));
        run.bind(8, one.firstError);
        run.exec();
        run.reset();
        const std::int64_t runId = database_.getLastInsertRowid();
        std::int64_t place = 0;
        for (const ScheduledJob& job : one.schedule) {
            bar.bind(1, runId);
            bar.bind(2, place++);
            bar.bind(3, number(job.job));
            bar.bindNoCopy(4, job.label);
            bar.bindNoCopy(5, job.kernel);
            bar.bind(6, static_cast<std::int64_t>(job.device));
            bindSeconds(bar, 7, job.submitted);
            bindSeconds(bar, 8, job.ready);
            bindSeconds(bar, 9, job.start);
            bindSeconds(bar, 10, job.finish);
            bar.exec();
            bar.reset();
        }
    }
}

void StoreWriter::renameComparison(std::int64_t id, const std::string& name) {
    SQLite::Statement update(database_, "UPDATE comparisons SET name=? WHERE id=?");
    update.bind(1, name);
    update.bind(2, id);
    update.exec();
}

void StoreWriter::deleteComparison(std::int64_t id) {
    database_.exec("INSERT OR REPLACE INTO meta VALUES('last_comparison', (SELECT max(ifnull((SELECT max(id) FROM comparisons), 0), "
                   "ifnull((SELECT value FROM meta WHERE key='last_comparison'), 0))))");
    SQLite::Statement remove(database_, "DELETE FROM comparisons WHERE id=?");
    remove.bind(1, id);
    remove.exec();
}

std::vector<std::string> StoreWriter::deleteJobs(const std::vector<JobId>& jobs) {
    database_.exec("INSERT OR REPLACE INTO meta VALUES('last_job', (SELECT max(ifnull((SELECT max(id) FROM jobs), 0), "
                   "ifnull((SELECT value FROM meta WHERE key='last_job'), 0))))");
    SQLite::Statement look(database_, "SELECT session, outputs FROM jobs WHERE id=?");
    SQLite::Statement remove(database_, "DELETE FROM jobs WHERE id=?");
    std::map<std::int64_t, std::int64_t> perSession;
    std::vector<std::string> files;
    for (const JobId job : jobs) {
        look.bind(1, number(job));
        if (look.executeStep()) {
            ++perSession[look.getColumn(0).getInt64()];
            for (const OutputSummary& output : outputsFromJson(look.getColumn(1).getString()))
                if (!output.file.empty()) files.push_back(output.file);
        }
        look.reset();
        remove.bind(1, number(job));
        remove.exec();
        remove.reset();
    }
    SQLite::Statement count(database_, "UPDATE sessions SET jobs=jobs-? WHERE id=?");
    for (const auto& [session, gone] : perSession) {
        count.bind(1, gone);
        count.bind(2, session);
        count.exec();
        count.reset();
    }
    return files;
}

void StoreWriter::collectGarbage() {
    database_.exec("DELETE FROM search_texts WHERE id NOT IN (SELECT text FROM jobs)");
    database_.exec("DELETE FROM parameter_sets WHERE id NOT IN (SELECT parameters FROM jobs)");
    database_.exec("DELETE FROM specs WHERE id NOT IN (SELECT spec FROM jobs WHERE spec IS NOT NULL)");
    forget();
}

void StoreWriter::settleLeftJobs(const std::vector<JobId>& jobs, const std::string& reason) {
    SQLite::Statement update(database_, "UPDATE jobs SET state=7, reason=?, ended=? WHERE id=? AND state < 5");
    update.bind(1, reason);
    update.bind(2, nowNs());
    for (const JobId job : jobs) {
        update.bind(3, number(job));
        update.exec();
        update.reset();
    }
}

}  // namespace heteroscope::history
