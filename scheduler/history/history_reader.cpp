// Two lanes, each a thread with a connection and a queue: one for what a person waits for, one for exports, which may
// take minutes. A connection is opened when first asked and again when the file was replaced (a damaged one is kept
// aside under another name and a fresh one begun, maybe by another process).

#include "scheduler/history/history_reader.h"

#include "scheduler/history/history_export.h"
#include "scheduler/history/history_query.h"
#include "scheduler/history/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;
constexpr int busyMilliseconds = 2'000;

/// A read-only connection that follows its file.
class Connection {
public:
    explicit Connection(fs::path file) : file_(std::move(file)) {}

    /// Null when there is no history yet. Throws SQLite::Exception.
    SQLite::Database* get() {
        struct stat now{};
        if (::stat(file_.c_str(), &now) != 0 || now.st_size == 0) {
            close();
            return nullptr;
        }
        if (database_ && (now.st_ino != inode_ || now.st_dev != device_)) close();
        if (!database_) open(now);
        return &*database_;
    }
    history::HistoryQuery& query() { return *query_; }
    const fs::path& file() const { return file_; }
    void close() {
        query_.reset();
        database_.reset();
    }

private:
    void open(const struct stat& now) {
        // Read-write, because a reader of a WAL file takes part in its shared memory; query_only keeps it from writing.
        auto database = std::make_unique<SQLite::Database>(file_.string(), SQLite::OPEN_READWRITE, busyMilliseconds);
        history::configureReader(*database);
        const int version = database->execAndGet("PRAGMA user_version").getInt();
        if (version != history::schemaVersion())
            throw SQLite::Exception(fmt::format("its schema is {}, this program reads {}", version, history::schemaVersion()),
                                    SQLITE_MISMATCH);
        database_ = std::move(database);
        query_ = std::make_unique<history::HistoryQuery>(*database_);
        inode_ = now.st_ino;
        device_ = now.st_dev;
    }

    fs::path file_;
    std::unique_ptr<SQLite::Database> database_;
    std::unique_ptr<history::HistoryQuery> query_;
    ino_t inode_ = 0;
    dev_t device_ = 0;
};

struct Request {
    std::function<void(Connection&)> answer;
    std::optional<HistoryFilter> page;       // of page requests
    std::function<void()> superseded = {};
};

/// A thread that answers one request after the other.
class Lane {
public:
    explicit Lane(const fs::path& file) : connection_(file), thread_([this] { run(); }) {}
    ~Lane() {
        {
            const std::lock_guard guard(mutex_);
            stopping_ = true;
            queue_.clear();
        }
        wake_.notify_one();
        thread_.join();
    }

    void ask(Request request) {
        std::vector<Request> dropped;
        {
            const std::lock_guard guard(mutex_);
            if (request.page) takeSuperseded(*request.page, dropped);
            queue_.push_back(std::move(request));
            // The older ones are answered on the lane's thread like all others.
            for (Request& old : dropped) queue_.push_front({[done = std::move(old.superseded)](Connection&) { done(); }, {}, {}});
        }
        wake_.notify_one();
    }
    bool stopping() const { return stopping_; }

private:
    void takeSuperseded(const HistoryFilter& filter, std::vector<Request>& dropped) {
        for (auto at = queue_.begin(); at != queue_.end();) {
            if (at->page && *at->page != filter) {
                dropped.push_back(std::move(*at));
                at = queue_.erase(at);
            } else {
                ++at;
            }
        }
    }

    void run() {
        for (;;) {
            Request request;
            {
                std::unique_lock guard(mutex_);
                wake_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
                if (stopping_) return;
                request = std::move(queue_.front());
                queue_.pop_front();
            }
            request.answer(connection_);
        }
    }

    Connection connection_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Request> queue_;  // guarded by mutex_
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

/// Runs `read` in one snapshot of the database; `nothing` stands for a folder without history.
template <class T, class Read>
Result<T> readFrom(Connection& connection, T nothing, Read read) {
    try {
        SQLite::Database* database = connection.get();
        if (!database) return nothing;
        database->exec("BEGIN");
        try {
            Result<T> answer = read(*database);
            database->exec("COMMIT");
            return answer;
        } catch (...) {
            sqlite3_exec(database->getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
            throw;
        }
    } catch (const SQLite::Exception& error) {
        if (history::meansCorrupt(error.getErrorCode())) connection.close();
        return history::describe(connection.file(), error);
    }
}

}  // namespace

struct HistoryReader::Impl {
    explicit Impl(const fs::path& folder) : file(folder / history::databaseName), reads(file), exports(file) {}
    fs::path file;
    Lane reads, exports;
};

HistoryReader::HistoryReader(std::filesystem::path folder) : impl_(std::make_unique<Impl>(folder)) {}
HistoryReader::~HistoryReader() = default;

void HistoryReader::page(HistoryFilter filter, std::uint64_t offset, std::uint64_t limit,
                         std::function<void(Result<HistoryRows>)> done) {
    auto answer = [filter, offset, limit, done](Connection& connection) {
        done(readFrom<HistoryRows>(connection, {}, [&](SQLite::Database&) { return connection.query().page(filter, offset, limit); }));
    };
    auto superseded = [done] { done(Error{ErrorKind::Cancelled, "Another filter was asked for meanwhile."}); };
    impl_->reads.ask({std::move(answer), std::move(filter), std::move(superseded)});
}

void HistoryReader::detail(JobId job, std::function<void(Result<HistoryDetail>)> done) {
    impl_->reads.ask({[job, done = std::move(done)](Connection& connection) {
        const Error missing{ErrorKind::InvalidInput, fmt::format("Job #{} is not in the history.", job)};
        auto found = readFrom<std::optional<HistoryDetail>>(connection, std::nullopt, [job](SQLite::Database& database) {
            return history::readDetail(database, job);
        });
        if (!found) return done(found.error());
        *found ? done(std::move(**found)) : done(missing);
    }, {}});
}

void HistoryReader::sessions(std::function<void(Result<std::vector<SessionRow>>)> done) {
    impl_->reads.ask({[done = std::move(done)](Connection& connection) {
        done(readFrom<std::vector<SessionRow>>(connection, {}, history::readSessions));
    }, {}});
}

void HistoryReader::comparisons(std::function<void(Result<std::vector<ComparisonRow>>)> done) {
    impl_->reads.ask({[done = std::move(done)](Connection& connection) {
        done(readFrom<std::vector<ComparisonRow>>(connection, {}, history::readComparisons));
    }, {}});
}

void HistoryReader::comparison(std::int64_t id, std::function<void(Result<Comparison>)> done) {
    impl_->reads.ask({[id, done = std::move(done)](Connection& connection) {
        auto found = readFrom<std::optional<Comparison>>(connection, std::nullopt, [id](SQLite::Database& database) {
            return history::readComparison(database, id);
        });
        if (!found) return done(found.error());
        if (*found) return done(std::move(**found));
        done(Error{ErrorKind::InvalidInput, fmt::format("Comparison {} is not in the history.", id)});
    }, {}});
}

void HistoryReader::facets(std::function<void(Result<HistoryFacets>)> done) {
    impl_->reads.ask({[done = std::move(done)](Connection& connection) {
        auto facets = readFrom<HistoryFacets>(connection, {}, [&](SQLite::Database&) { return connection.query().facets(); });
        for (const char* suffix : {"", "-wal"}) {
            std::error_code absent;
            const auto size = fs::file_size(connection.file().string() + suffix, absent);
            if (facets && !absent) facets->bytes += size;
        }
        done(std::move(facets));
    }, {}});
}

void HistoryReader::exportTo(HistoryFilter filter, std::filesystem::path file, std::function<bool(std::uint64_t)> progress,
                             std::function<void(Status)> done) {
    impl_->exports.ask({[impl = impl_.get(), filter = std::move(filter), file = std::move(file), progress = std::move(progress),
                         done = std::move(done)](Connection& connection) {
        const auto goOn = [&](std::uint64_t rows) {
            if (impl->exports.stopping()) return false;
            return !progress || progress(rows);
        };
        // No transaction around it: an export of minutes must not keep the writer's log from being folded in.
        try {
            SQLite::Database* database = connection.get();
            if (!database) return done(Error{ErrorKind::InvalidInput, "There is no history yet to export."});
            const Status status = history::exportJobs(*database, filter, file, goOn);
            done(status);
        } catch (const SQLite::Exception& error) {
            done(history::describe(connection.file(), error));
        }
    }, {}});
}

}  // namespace heteroscope
