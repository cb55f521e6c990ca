// One queue, one thread. A row that changes again before it was written is replaced in its place in the queue, so a
// job that is submitted, runs and ends within one burst costs one insert; every `committed` that was waiting for it
// is called. A batch that cannot be written stays at the head of the queue until it can.

#include "scheduler/history/history.h"

#include "scheduler/history/schema.h"
#include "scheduler/history/store_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;
using history::StoreWriter;

constexpr std::size_t rowsPerTransaction = 4096;
constexpr std::size_t deletedAtOnce = 4096;
constexpr auto firstDelay = std::chrono::milliseconds(100);
constexpr auto longestDelay = std::chrono::milliseconds(5000);
// How often a program that wants to end tries once more to write what is left.
constexpr int triesAtTheEnd = 5;

/// A descriptor that closes itself; its flock goes with it, kill -9 included.
class LockFile {
public:
    LockFile() = default;
    explicit LockFile(int descriptor) : descriptor_(descriptor) {}
    LockFile(LockFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    LockFile& operator=(LockFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~LockFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

private:
    int descriptor_ = -1;
};

Error ioError(const fs::path& path, int code, const char* remedy) {
    return Error{ErrorKind::Io, fmt::format("{}: {}. {}", path.string(), std::generic_category().message(code), remedy)};
}

Status prepareFolder(const fs::path& folder) {
    constexpr auto remedy = "Make the folder writable, or choose another with --data-dir.";
    std::error_code problem;
    const bool existed = fs::exists(folder, problem);
    if (!existed) fs::create_directories(folder, problem);
    if (problem) return ioError(folder, problem.value(), remedy);
    if (!fs::is_directory(folder)) return ioError(folder, ENOTDIR, "Choose a folder with --data-dir.");
    // A folder of ours is private; one that the person made and named keeps the rights they gave it.
    if (!existed && ::chmod(folder.c_str(), S_IRWXU) != 0) return ioError(folder, errno, remedy);
    return {};
}

Result<LockFile> lockFolder(const fs::path& folder) {
    const fs::path path = folder / "history.lock";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return ioError(path, errno, "Make the folder writable, or choose another with --data-dir.");
    LockFile lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return Error{ErrorKind::Io, fmt::format("{}: another running program keeps its history here. Close it, or choose "
                                                "another folder with --data-dir.", folder.string())};
    return lock;
}

// The database itself is private even in a folder that others may read; -wal and -shm take its mode.
Status createPrivate(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return ioError(file, errno, "Make the folder writable, or choose another with --data-dir.");
    ::close(descriptor);
    return {};
}

Result<std::string> asideNotice(const fs::path& file, const std::string& problem) {
    const auto aside = history::keepAside(file);
    if (!aside) return aside.error();
    return fmt::format("The history was corrupt ({}) and is kept as {}; a fresh one was begun.", problem, aside->string());
}

// Reading every page of a large file takes seconds: small ones always, large ones after a death or a sign of damage.
constexpr std::uintmax_t alwaysCheckedBytes = 32u << 20;
bool needsThoroughLook(const fs::path& file) {
    std::error_code problem;
    const auto size = fs::file_size(file, problem);
    if (problem || size < alwaysCheckedBytes) return true;
    try {
        SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, 2000);
        return database.execAndGet("SELECT ended_at = 0 FROM sessions ORDER BY id DESC LIMIT 1").getInt() != 0;
    } catch (const SQLite::Exception&) {
        return true;
    }
}

struct JobRow {
    JobSnapshot job;
    std::vector<std::function<void()>> committed;
};
/// Any other change; what it returns are files to remove once it is committed.
using Change = std::function<std::vector<std::string>(StoreWriter&)>;
using Write = std::variant<JobRow, Change>;
using Batch = std::vector<Write>;

}  // namespace

struct History::Impl {
    fs::path folder, file;
    LockFile lock;
    std::unique_ptr<StoreWriter> store;  // writer thread, once started
    std::int64_t session = 0;
    JobId firstFree = 1;
    std::atomic<std::int64_t> lastComparison{0};

    mutable std::mutex mutex;
    std::condition_variable wake, written;
    Batch queue;                                      // guarded by mutex, as all below
    std::unordered_map<JobId, std::size_t> replaceable;  // job → the place of its row in the queue
    std::uint64_t enqueued = 0, done = 0;             // writes ever taken, ever settled
    bool stopping = false;
    std::function<void(std::optional<Error>)> onProblem;
    std::vector<LeftJob> left;

    std::vector<DeviceInfo> devices;  // writer thread: told again to a fresh file
    std::thread thread;

    std::uint64_t unwrittenNow() const {
        const std::lock_guard guard(mutex);
        return enqueued - done;
    }

    void push(Change change) {
        const std::lock_guard guard(mutex);
        queue.emplace_back(std::move(change));
        ++enqueued;
        replaceable.clear();  // what came before a deletion is not mixed with what comes after
        wake.notify_one();
    }

    void run();
    bool writeAll(Batch& batch);
    void writeSome(std::span<Write> some, std::size_t& at, std::vector<std::string>& files);
    bool writeUntilDone(std::span<Write> some);
    void settle(std::span<Write> some, const std::vector<std::string>& files);
    void report(std::optional<Error> problem);
    void reopen();
    bool keepDamaged(const std::string& cause);
    void removeOutputs(const std::vector<std::string>& files) const;
    bool waitBeforeRetry(std::chrono::milliseconds delay, int& triesLeft);
};

void History::Impl::report(std::optional<Error> problem) {
    std::function<void(std::optional<Error>)> listener;
    {
        const std::lock_guard guard(mutex);
        listener = onProblem;
    }
    if (listener) listener(std::move(problem));
}

void History::Impl::run() {
    for (;;) {
        Batch batch;
        std::unordered_map<JobId, std::size_t> places;  // freed outside the lock
        {
            std::unique_lock guard(mutex);
            wake.wait(guard, [this] { return stopping || !queue.empty(); });
            if (queue.empty()) return;
            batch.swap(queue);
            places.swap(replaceable);
        }
        if (!writeAll(batch)) return;
    }
}

// In transactions of at most rowsPerTransaction rows; a change other than a row is one of its own.
bool History::Impl::writeAll(Batch& batch) {
    for (std::size_t from = 0; from < batch.size();) {
        std::size_t to = from + 1;
        if (std::holds_alternative<JobRow>(batch[from]))
            while (to < batch.size() && to - from < rowsPerTransaction && std::holds_alternative<JobRow>(batch[to])) ++to;
        if (!writeUntilDone(std::span(batch).subspan(from, to - from))) {
            report(Error{ErrorKind::Io, fmt::format("{}: the last {} changes could not be written before the program ended.",
                                                    file.string(), unwrittenNow())});
            return false;
        }
        from = to;
    }
    return true;
}

void History::Impl::writeSome(std::span<Write> some, std::size_t& at, std::vector<std::string>& files) {
    if (!store) reopen();
    store->begin();
    for (at = 0; at < some.size(); ++at) {
        if (auto* row = std::get_if<JobRow>(&some[at])) store->writeJob(row->job);
        else files = std::get<Change>(some[at])(*store);
    }
    store->commit();
}

// False when the program ends and the rows still cannot be written.
bool History::Impl::writeUntilDone(std::span<Write> some) {
    auto delay = firstDelay;
    int triesLeft = triesAtTheEnd;
    bool told = false;
    for (;;) {
        std::size_t at = some.size();
        std::vector<std::string> files;
        std::optional<std::size_t> refused;
        try {
            writeSome(some, at, files);
            if (told) report(std::nullopt);
            settle(some, files);
            return true;
        } catch (const SQLite::Exception& error) {
            if (store) store->rollback();
            const int code = error.getErrorCode() & 0xff;
            if (history::meansCorrupt(code) && keepDamaged(error.what())) continue;
            const bool rowsFault = code == SQLITE_CONSTRAINT || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH;
            if (rowsFault && at < some.size()) refused = at;
            const Error problem = history::describe(file, error);
            if (refused) report(Error{ErrorKind::Io, "A row was refused and left out. " + problem.message});
            else if (!std::exchange(told, true)) report(problem);
        } catch (const std::exception& error) {
            if (store) store->rollback();
            if (at >= some.size()) throw;
            refused = at;
            report(Error{ErrorKind::Io, fmt::format("{}: a row could not be made and was left out: {}", file.string(), error.what())});
        }
        if (refused) {  // one row that can never be written must not keep all others from it
            return (*refused == 0 || writeUntilDone(some.first(*refused))) &&
                   (settle(some.subspan(*refused, 1), {}), true) &&
                   (*refused + 1 == some.size() || writeUntilDone(some.subspan(*refused + 1)));
        }
        if (!waitBeforeRetry(delay, triesLeft)) return false;
        delay = std::min(delay * 2, longestDelay);
    }
}

bool History::Impl::waitBeforeRetry(std::chrono::milliseconds delay, int& triesLeft) {
    std::unique_lock guard(mutex);
    if (stopping && --triesLeft <= 0) return false;
    if (stopping) delay = firstDelay;
    wake.wait_for(guard, delay, [this, was = stopping] { return stopping && !was; });
    return true;
}

void History::Impl::settle(std::span<Write> some, const std::vector<std::string>& files) {
    removeOutputs(files);
    for (Write& write : some)
        if (auto* row = std::get_if<JobRow>(&write))
            for (const auto& committed : row->committed) committed();
    const std::lock_guard guard(mutex);
    done += some.size();
    written.notify_all();
}

// A file that turns out damaged while we write: kept aside as at a start, and the session goes on in a fresh one.
bool History::Impl::keepDamaged(const std::string& cause) {
    store.reset();
    const auto notice = asideNotice(file, cause);
    report(notice ? Error{ErrorKind::Io, *notice} : notice.error());
    return static_cast<bool>(notice);
}

void History::Impl::reopen() {
    if (const Status made = createPrivate(file); !made) throw SQLite::Exception(made.error().message, SQLITE_CANTOPEN);
    auto fresh = std::make_unique<StoreWriter>(file);
    fresh->beginSession(firstFree, session);
    for (const DeviceInfo& device : devices) fresh->writeDevice(device);
    store = std::move(fresh);
}

// Only what lies in our own outputs folder: a row of an edited file must not name another victim.
void History::Impl::removeOutputs(const std::vector<std::string>& files) const {
    std::error_code ignored;
    const fs::path outputs = fs::weakly_canonical(folder / "outputs", ignored);
    for (const std::string& name : files) {
        const fs::path path = fs::weakly_canonical(fs::path(name).is_absolute() ? fs::path(name) : folder / name, ignored);
        const auto inside = path.lexically_relative(outputs);
        if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") fs::remove(path, ignored);
    }
}

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<History::Opened> History::open(const std::filesystem::path& folder) {
    if (const Status made = prepareFolder(folder); !made) return made.error();
    auto lock = lockFolder(folder);
    if (!lock) return lock.error();
    auto impl = std::make_unique<Impl>();
    impl->folder = folder;
    impl->file = folder / history::databaseName;
    impl->lock = std::move(*lock);
    Opened opened;
    try {
        const auto verdict = history::inspect(impl->file, needsThoroughLook(impl->file));
        if (verdict.state == history::FileState::Newer)
            return Error{ErrorKind::Io, fmt::format("{}: written by a newer program (schema {}; this one knows up to {}). Use the "
                                                    "newer program, or choose another folder with --data-dir.",
                                                    impl->file.string(), verdict.version, history::schemaVersion())};
        if (verdict.state == history::FileState::Foreign)
            return Error{ErrorKind::Io, fmt::format("{}: a database of another program. Move it away, or choose another folder "
                                                    "with --data-dir.", impl->file.string())};
        if (verdict.state == history::FileState::Corrupt) {
            auto notice = asideNotice(impl->file, verdict.problem);
            if (!notice) return notice.error();
            opened.notices.push_back(std::move(*notice));
        }
        if (const Status made = createPrivate(impl->file); !made) return made.error();
        impl->store = std::make_unique<StoreWriter>(impl->file);
        impl->store->begin();
        const std::size_t interrupted = impl->store->settleDeadSessions();
        impl->firstFree = impl->store->firstFreeJobId();
        impl->lastComparison = impl->store->lastComparisonId();
        impl->session = impl->store->beginSession(impl->firstFree);
        impl->left = impl->store->leftJobs();
        impl->store->commit();
        if (interrupted > 0)
            opened.notices.push_back(fmt::format("{} job{} ran when the program ended and {} marked as interrupted.", interrupted,
                                                 interrupted == 1 ? "" : "s", interrupted == 1 ? "is" : "are"));
    } catch (const SQLite::Exception& error) {
        return history::describe(impl->file, error);
    }
    Impl* raw = impl.get();
    raw->thread = std::thread([raw] { raw->run(); });
    opened.history.reset(new History(std::move(impl)));
    return opened;
}

History::~History() {
    {
        const std::lock_guard guard(impl_->mutex);
        impl_->stopping = true;
        impl_->wake.notify_one();
    }
    impl_->thread.join();
    try {
        if (impl_->store) impl_->store->endSession();
    } catch (const SQLite::Exception&) {
        // The next start finds the session without an end, which says what happened.
    }
}

JobId History::firstFreeJobId() const { return impl_->firstFree; }
std::int64_t History::sessionId() const { return impl_->session; }

void History::recordDevice(const DeviceInfo& device) {
    impl_->push([impl = impl_.get(), device](StoreWriter& store) -> std::vector<std::string> {
        store.writeDevice(device);
        const bool known = std::any_of(impl->devices.begin(), impl->devices.end(),
                                       [&device](const DeviceInfo& one) { return one.id == device.id; });
        if (!known) impl->devices.push_back(device);
        return {};
    });
}

void History::recordJob(JobSnapshot job, std::function<void()> committed) {
    Impl& impl = *impl_;
    const std::lock_guard guard(impl.mutex);
    if (const auto known = impl.replaceable.find(job.id); known != impl.replaceable.end()) {
        auto& row = std::get<JobRow>(impl.queue[known->second]);
        // A try that ended is a row of its own in attempts: it must reach the file before the next one begins.
        const bool nextTry = (isFinal(row.job.state) && !isFinal(job.state)) ||
                             (row.job.attempts > 0 && row.job.attempts != job.attempts);
        if (!nextTry) {
            if (!job.decision) job.decision = row.job.decision;
            if (!job.spec) job.spec = row.job.spec;
            row.job = std::move(job);
            if (committed) row.committed.push_back(std::move(committed));
            return;
        }
    }
    impl.replaceable[job.id] = impl.queue.size();
    ++impl.enqueued;
    JobRow row{std::move(job), {}};
    if (committed) row.committed.push_back(std::move(committed));
    impl.queue.emplace_back(std::move(row));
    impl.wake.notify_one();
}

std::int64_t History::recordComparison(const Comparison& comparison) {
    auto copy = std::make_shared<Comparison>(comparison);
    copy->id = ++impl_->lastComparison;
    if (copy->createdAt == 0) copy->createdAt = history::nowNs();
    impl_->push([copy](StoreWriter& store) -> std::vector<std::string> {
        store.writeComparison(*copy);
        return {};
    });
    return copy->id;
}

void History::renameComparison(std::int64_t id, std::string name) {
    impl_->push([id, name = std::move(name)](StoreWriter& store) -> std::vector<std::string> {
        store.renameComparison(id, name);
        return {};
    });
}

void History::deleteJobs(std::vector<JobId> jobs) {
    {
        const std::unordered_set<JobId> gone(jobs.begin(), jobs.end());
        const std::lock_guard guard(impl_->mutex);
        std::erase_if(impl_->left, [&gone](const LeftJob& job) { return gone.contains(job.id); });
    }
    // In parts, so that rows of running jobs need not wait for all of a large deletion.
    for (std::size_t from = 0; from < jobs.size(); from += deletedAtOnce) {
        const std::size_t to = std::min(jobs.size(), from + deletedAtOnce);
        std::vector<JobId> part(jobs.begin() + static_cast<std::ptrdiff_t>(from), jobs.begin() + static_cast<std::ptrdiff_t>(to));
        impl_->push([part = std::move(part), last = to == jobs.size()](StoreWriter& store) {
            auto files = store.deleteJobs(part);
            if (last) store.collectGarbage();
            return files;
        });
    }
}

void History::deleteComparison(std::int64_t id) {
    impl_->push([id](StoreWriter& store) -> std::vector<std::string> {
        store.deleteComparison(id);
        return {};
    });
}

void History::setOnProblem(std::function<void(std::optional<Error>)> onProblem) {
    const std::lock_guard guard(impl_->mutex);
    impl_->onProblem = std::move(onProblem);
}

std::vector<LeftJob> History::leftJobs() const {
    const std::lock_guard guard(impl_->mutex);
    return impl_->left;
}

void History::settleLeftJobs(std::vector<JobId> jobs, std::string reason) {
    {
        const std::unordered_set<JobId> settled(jobs.begin(), jobs.end());
        const std::lock_guard guard(impl_->mutex);
        std::erase_if(impl_->left, [&settled](const LeftJob& job) { return settled.contains(job.id); });
    }
    impl_->push([jobs = std::move(jobs), reason = std::move(reason)](StoreWriter& store) -> std::vector<std::string> {
        store.settleLeftJobs(jobs, reason);
        return {};
    });
}

std::size_t History::unwritten() const { return static_cast<std::size_t>(impl_->unwrittenNow()); }

void History::flush() {
    std::unique_lock guard(impl_->mutex);
    const std::uint64_t until = impl_->enqueued;
    impl_->written.wait(guard, [this, until] { return impl_->done >= until; });
}

}  // namespace heteroscope
