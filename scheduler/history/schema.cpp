// The schema is a list of steps, never edited once released: a new version is a new step at the end. A fresh file
// goes through all of them, so an upgraded file and a fresh one cannot differ.
//
// jobs_filter covers every column that the filter bar can ask for and every column that the table sorts by. It is
// the only full index on jobs: one covering scan answers any combination of filters. It begins with the time of
// submission, so that the entries of one burst lie together at its end, which keeps writing quick (led by kernel or
// run time, every row would dirty a page of its own).

#include "scheduler/history/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <fstream>

namespace heteroscope::history {
namespace {

constexpr const char* version1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- alive_at: last commit of the session; ended_at: 0 while open, and for good when the program died.
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0,
  alive_at INTEGER NOT NULL, first_job INTEGER NOT NULL, jobs INTEGER NOT NULL DEFAULT 0);

CREATE TABLE devices(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL DEFAULT '',
  short_name TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '', facts TEXT NOT NULL DEFAULT '{}');
-- The DeviceIndex that decisions of a session speak of.
CREATE TABLE session_devices(
  session INTEGER NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, position INTEGER NOT NULL,
  device INTEGER NOT NULL REFERENCES devices(id), PRIMARY KEY(session, position)) WITHOUT ROWID;

CREATE TABLE kernels(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE policies(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE parameter_sets(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- Workload documents of one job each, shared by all jobs that differ in nothing but id, label and dependencies.
CREATE TABLE specs(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, document TEXT NOT NULL);
CREATE INDEX specs_hash ON specs(hash);
-- What text search looks through, in lower case; jobs alike share a row.
CREATE TABLE search_texts(id INTEGER PRIMARY KEY, folded TEXT NOT NULL);

-- Times are ns since the Unix epoch, 0: not reached. specs, parameter_sets and search_texts are collected after
-- deletions instead of being foreign keys, whose check would scan all jobs for each row that goes.
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions(id),
  state INTEGER NOT NULL, label TEXT NOT NULL, kernel INTEGER NOT NULL REFERENCES kernels(id),
  parameters INTEGER NOT NULL, text INTEGER NOT NULL, device INTEGER REFERENCES devices(id), runtime TEXT NOT NULL,
  policy INTEGER REFERENCES policies(id), priority INTEGER NOT NULL, attempts INTEGER NOT NULL, reason TEXT NOT NULL,
  submitted INTEGER NOT NULL, ready INTEGER NOT NULL, assigned INTEGER NOT NULL, staging INTEGER NOT NULL,
  staged INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER NOT NULL, ended INTEGER NOT NULL,
  predicted_s REAL NOT NULL, wait_s REAL NOT NULL, stage_in_s REAL NOT NULL, run_s REAL NOT NULL,
  stage_out_s REAL NOT NULL, flops REAL, bytes REAL,
  error_kind TEXT, error_message TEXT, error_file TEXT, error_line INTEGER, error_log TEXT,
  check_state INTEGER NOT NULL, check_detail TEXT, outputs TEXT, log TEXT NOT NULL,
  after TEXT, decision BLOB, spec INTEGER);
CREATE INDEX jobs_filter ON jobs(submitted, state, kernel, device, policy, text, wait_s, run_s);
CREATE INDEX jobs_unfinished ON jobs(state) WHERE state < 5;

CREATE TABLE comparisons(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, created_at INTEGER NOT NULL, jobs INTEGER NOT NULL,
  devices TEXT NOT NULL, simulated INTEGER NOT NULL, lower_bound_s REAL NOT NULL, complete INTEGER NOT NULL);
CREATE TABLE comparison_runs(
  id INTEGER PRIMARY KEY, comparison INTEGER NOT NULL REFERENCES comparisons(id) ON DELETE CASCADE,
  position INTEGER NOT NULL, policy TEXT NOT NULL, seed INTEGER NOT NULL, repeat INTEGER NOT NULL,
  metrics TEXT NOT NULL, failed INTEGER NOT NULL, first_error TEXT NOT NULL);
CREATE UNIQUE INDEX comparison_runs_position ON comparison_runs(comparison, position);
CREATE TABLE comparison_jobs(
  run INTEGER NOT NULL REFERENCES comparison_runs(id) ON DELETE CASCADE, position INTEGER NOT NULL,
  job INTEGER NOT NULL, label TEXT NOT NULL, kernel TEXT NOT NULL, device INTEGER NOT NULL, submitted_s REAL NOT NULL,
  ready_s REAL NOT NULL, start_s REAL NOT NULL, finish_s REAL NOT NULL, PRIMARY KEY(run, position)) WITHOUT ROWID;
)sql";

// Earlier tries of a job that was run again: the jobs row holds the last one.
constexpr const char* version2 = R"sql(
CREATE TABLE attempts(
  job INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE, attempt INTEGER NOT NULL, state INTEGER NOT NULL,
  device INTEGER REFERENCES devices(id), runtime TEXT NOT NULL, policy INTEGER REFERENCES policies(id),
  reason TEXT NOT NULL, assigned INTEGER NOT NULL, staging INTEGER NOT NULL, staged INTEGER NOT NULL,
  started INTEGER NOT NULL, finished INTEGER NOT NULL, ended INTEGER NOT NULL, run_s REAL NOT NULL,
  error_kind TEXT, error_message TEXT, error_file TEXT, error_line INTEGER, error_log TEXT,
  PRIMARY KEY(job, attempt)) WITHOUT ROWID;
)sql";

constexpr std::array steps{version1, version2};

int readPragma(SQLite::Database& database, const char* name) {
    return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

bool hasSqliteHeader(const std::filesystem::path& file) {
    std::array<char, 16> head{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(head.data(), head.size());
    return stream.gcount() == 16 && std::string(head.data(), 16) == std::string("SQLite format 3\0", 16);
}

FileVerdict inspectOpen(const std::filesystem::path& file, bool thorough) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, 2000);
    const int version = readPragma(database, "user_version");
    const int application = readPragma(database, "application_id");
    const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (empty && version == 0) return {};
    if (application != applicationId) return {FileState::Foreign, version, {}};
    if (version > schemaVersion()) return {FileState::Newer, version, {}};
    if (thorough) {
        const std::string found = database.execAndGet("PRAGMA quick_check(1)").getString();
        if (found != "ok") return {FileState::Corrupt, version, found};
    }
    return {FileState::Ours, version, {}};
}

}  // namespace

int schemaVersion() { return static_cast<int>(steps.size()); }

void upgrade(SQLite::Database& database, int version) {
    for (int next = readPragma(database, "user_version"); next < version; ++next) {
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        database.exec(steps[static_cast<std::size_t>(next)]);
        database.exec(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", applicationId, next + 1));
        transaction.commit();
    }
}

FileVerdict inspect(const std::filesystem::path& file, bool thorough) {
    std::error_code problem;
    const auto size = std::filesystem::file_size(file, problem);
    if (problem || size == 0) return {};
    if (!hasSqliteHeader(file) && std::ifstream(file)) return {FileState::Corrupt, 0, "file is not a database"};
    try {
        return inspectOpen(file, thorough);
    } catch (const SQLite::Exception& error) {
        if (!meansCorrupt(error.getErrorCode())) throw;
        return {FileState::Corrupt, 0, error.what()};
    }
}

Result<std::filesystem::path> keepAside(const std::filesystem::path& file) {
    const auto stamp = fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
    auto aside = file.parent_path() / fmt::format("history-{}.corrupt.db", stamp);
    for (int n = 2; std::filesystem::exists(aside); ++n)
        aside = file.parent_path() / fmt::format("history-{}-{}.corrupt.db", stamp, n);
    // The log first: a database without its log is sound, a log beside a fresh database is not.
    for (const char* suffix : {"-wal", "-shm", ""}) {
        std::error_code problem;
        const auto from = file.string() + suffix;
        if (!std::filesystem::exists(from)) continue;
        std::filesystem::rename(from, aside.string() + suffix, problem);
        if (problem)
            return Error{ErrorKind::Io, fmt::format("{} is corrupt and could not be kept aside: {}. Move it away by hand.",
                                                    from, problem.message())};
    }
    return aside;
}

void configureWriter(SQLite::Database& database) {
    database.exec("PRAGMA journal_mode=WAL");
    // FULL: a commit is on the disk before "succeeded" is shown, power cuts included. One sync a burst, so a burst
    // of 4096 rows costs as much as one row (see tests/bench/bench_history.cpp).
    database.exec("PRAGMA synchronous=FULL");
    database.exec("PRAGMA foreign_keys=ON");
    database.exec("PRAGMA cache_size=-32000");
    database.exec("PRAGMA wal_autocheckpoint=4000");
    database.exec("PRAGMA journal_size_limit=67108864");
}

void configureReader(SQLite::Database& database) {
    database.exec("PRAGMA query_only=ON");
    database.exec("PRAGMA cache_size=-16000");
}

bool meansCorrupt(int sqliteCode) {
    return (sqliteCode & 0xff) == SQLITE_CORRUPT || (sqliteCode & 0xff) == SQLITE_NOTADB;
}

Error describe(const std::filesystem::path& file, const SQLite::Exception& error) {
    const char* remedy = "";
    switch (error.getErrorCode() & 0xff) {
        case SQLITE_FULL: remedy = " Free some space on this disk."; break;
        case SQLITE_READONLY: case SQLITE_CANTOPEN: case SQLITE_PERM:
            remedy = " Make the folder writable, or choose another with --data-dir."; break;
        case SQLITE_BUSY: case SQLITE_LOCKED: remedy = " Another program holds a lock on it: close that program."; break;
        case SQLITE_IOERR: remedy = " Check the disk: it may be full, or gone."; break;
        default: break;
    }
    return Error{ErrorKind::Io, fmt::format("{}: {}.{}", file.string(), error.what(), remedy)};
}

}  // namespace heteroscope::history
