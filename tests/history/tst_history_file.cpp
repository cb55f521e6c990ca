#include "sample_jobs.h"

#include "scheduler/history/schema.h"

#include <SQLiteCpp/Statement.h>

#include <QDir>
#include <QRegularExpression>

#include <atomic>

#include <sys/resource.h>
#include <sys/stat.h>
#include <csignal>
#include <unistd.h>

using namespace heteroscope;

class HistoryFileTest : public QObject {
    Q_OBJECT
private slots:
    void aFolderOfOursIsPrivate();
    void aVersion1FileIsUpgraded();
    void aNewerSchemaIsLeftAlone();
    void aDatabaseOfAnotherProgramIsLeftAlone();
    void aDamagedFileIsKeptAside_data();
    void aDamagedFileIsKeptAside();
    void aBadPageIsKeptAside();
    void damageWhileRunningLosesNothingQueued();
    void aFolderThatIsAFileIsRefused();
    void aReadOnlyFolderIsRefused();
    void onlyOneWriterAtATime();
    void readersNeedNoHistory();
    void aFullDiskIsToldAndNothingIsLost();
    void aLockedDatabaseIsToldAndNothingIsLost();
};

static QString databaseOf(const QTemporaryDir& folder) { return folder.filePath(QStringLiteral("history.db")); }

static QByteArray readAll(const QString& name) {
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

static bool writeAll(const QString& name, const QByteArray& bytes) {
    QFile file(name);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

static QStringList keptAside(const QTemporaryDir& folder) {
    return QDir(folder.path()).entryList({QStringLiteral("history-*.corrupt.db")});
}

static void fill(const QTemporaryDir& folder, JobId jobs) {
    auto history = openHistory(folder.path());
    for (JobId id = 1; id <= jobs; ++id) history->recordJob(mixedJob(id), {});
}

static std::string integrity(const QString& file) {
    SQLite::Database database(file.toStdString(), SQLite::OPEN_READWRITE);
    return database.execAndGet("PRAGMA integrity_check").getString();
}

void HistoryFileTest::aFolderOfOursIsPrivate() {
    QTemporaryDir folder;
    const QString inner = folder.filePath(QStringLiteral("data/heteroscope ü"));
    QVERIFY(openHistory(inner));
    struct stat status{};
    QCOMPARE(::stat(inner.toUtf8().constData(), &status), 0);
    QCOMPARE(status.st_mode & 0777, 0700u);
    QCOMPARE(::stat((inner + QStringLiteral("/history.db")).toUtf8().constData(), &status), 0);
    QCOMPARE(status.st_mode & 0777, 0600u);
}

void HistoryFileTest::aVersion1FileIsUpgraded() {
    QTemporaryDir folder;
    {
        SQLite::Database old(databaseOf(folder).toStdString(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        history::upgrade(old, 1);
        QVERIFY(!old.tableExists("attempts"));
        old.exec("INSERT INTO sessions VALUES(1, 5, 6, 6, 1, 1)");
        old.exec("INSERT INTO kernels VALUES(1, 'matmul')");
        old.exec("INSERT INTO parameter_sets VALUES(1, 'n=8')");
        old.exec("INSERT INTO search_texts VALUES(1, 'matmul')");
        old.exec("INSERT INTO jobs(id, session, state, label, kernel, parameters, text, runtime, priority, attempts, reason, "
                 "submitted, ready, assigned, staging, staged, started, finished, ended, predicted_s, wait_s, stage_in_s, run_s, "
                 "stage_out_s, check_state, log) VALUES(12,1,5,'',1,1,1,'',0,1,'',1,2,3,4,5,6,7,8,0,0,0,0.5,0,0,'')");
    }
    {
        auto history = openHistory(folder.path());
        QVERIFY(history);
        QCOMPARE(history->firstFreeJobId(), JobId{13});
    }
    SQLite::Database now(databaseOf(folder).toStdString());
    QCOMPARE(now.execAndGet("PRAGMA user_version").getInt(), history::schemaVersion());
    QCOMPARE(now.execAndGet("PRAGMA application_id").getInt(), history::applicationId);
    QVERIFY(now.tableExists("attempts"));
    QCOMPARE(integrity(databaseOf(folder)), std::string("ok"));
    QVERIFY(keptAside(folder).isEmpty());
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(detailNow(reader, 12)->job.kernel, std::string("matmul"));
}

void HistoryFileTest::aNewerSchemaIsLeftAlone() {
    QTemporaryDir folder;
    fill(folder, 3);
    {
        SQLite::Database database(databaseOf(folder).toStdString(), SQLite::OPEN_READWRITE);
        database.exec("PRAGMA user_version=9");
    }
    const QByteArray before = readAll(databaseOf(folder));
    const auto opened = History::open(folder.path().toStdString());
    QVERIFY(!opened);
    QVERIFY(opened.error().kind == ErrorKind::Io);
    const QString message = QString::fromStdString(opened.error().message);
    QVERIFY2(message.contains(QStringLiteral("schema 9")) && message.contains(QString::number(history::schemaVersion())), qPrintable(message));
    QCOMPARE(readAll(databaseOf(folder)), before);
    QVERIFY(keptAside(folder).isEmpty());
    HistoryReader reader(folder.path().toStdString());
    QVERIFY(!pageNow(reader, {}));
}

void HistoryFileTest::aDatabaseOfAnotherProgramIsLeftAlone() {
    QTemporaryDir folder;
    {
        SQLite::Database other(databaseOf(folder).toStdString(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        other.exec("CREATE TABLE songs(title); INSERT INTO songs VALUES('x')");
    }
    const QByteArray before = readAll(databaseOf(folder));
    const auto opened = History::open(folder.path().toStdString());
    QVERIFY(!opened);
    QVERIFY(QString::fromStdString(opened.error().message).contains(QStringLiteral("another program")));
    QCOMPARE(readAll(databaseOf(folder)), before);
}

void HistoryFileTest::aDamagedFileIsKeptAside_data() {
    QTest::addColumn<QString>("damage");
    for (const char* damage : {"garbage", "one byte", "truncated", "header only", "zeros"})
        QTest::newRow(damage) << QString::fromLatin1(damage);
}

void HistoryFileTest::aDamagedFileIsKeptAside() {
    QFETCH(QString, damage);
    QTemporaryDir folder;
    fill(folder, 500);
    const QByteArray sound = readAll(databaseOf(folder));
    QVERIFY(sound.size() > 40'000);
    QByteArray bad = QByteArray("this is no database at all\n").repeated(400);
    if (damage == QStringLiteral("one byte")) bad = "x";
    if (damage == QStringLiteral("truncated")) bad = sound.left(sound.size() / 2 + 123);
    if (damage == QStringLiteral("header only")) bad = sound.left(100);
    if (damage == QStringLiteral("zeros")) bad = QByteArray(8192, '\0');
    QVERIFY(writeAll(databaseOf(folder), bad));
    std::vector<std::string> notices;
    auto history = openHistory(folder.path(), &notices);
    QVERIFY(history);
    QCOMPARE(notices.size(), 1u);
    const QStringList aside = keptAside(folder);
    QCOMPARE(aside.size(), 1);
    QVERIFY(QRegularExpression(QStringLiteral("^history-\\d{8}-\\d{6}\\.corrupt\\.db$")).match(aside[0]).hasMatch());
    QVERIFY(QString::fromStdString(notices[0]).contains(aside[0]));
    QCOMPARE(readAll(folder.filePath(aside[0])), bad);
    history->recordJob(sampleJob(1), {});
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(pageNow(reader, {})->total, 1u);
}

void HistoryFileTest::aBadPageIsKeptAside() {
    QTemporaryDir folder;
    fill(folder, 2000);
    QByteArray bytes = readAll(databaseOf(folder));
    const qsizetype page = 4096 * (bytes.size() / 4096 / 2);
    bytes.replace(page, 4096, QByteArray(4096, '\x5a'));
    QVERIFY(writeAll(databaseOf(folder), bytes));
    std::vector<std::string> notices;
    QVERIFY(openHistory(folder.path(), &notices));
    QCOMPARE(notices.size(), 1u);
    QCOMPARE(keptAside(folder).size(), 1);
    QCOMPARE(readAll(folder.filePath(keptAside(folder)[0])), bytes);
}

void HistoryFileTest::damageWhileRunningLosesNothingQueued() {
    QTemporaryDir folder;
    fill(folder, 3000);
    auto history = openHistory(folder.path());
    std::atomic<int> problems{0};
    history->setOnProblem([&](std::optional<Error> problem) { problems += problem.has_value(); });
    {   // every page but the first, under the writer's feet
        QFile file(databaseOf(folder));
        QVERIFY(file.open(QIODevice::ReadWrite));
        file.seek(4096);
        file.write(QByteArray(static_cast<int>(file.size()) - 4096, '\x5a'));
    }
    for (JobId id = 3001; id <= 3100; ++id) history->recordJob(mixedJob(id), {});
    history->flush();
    QCOMPARE(problems.load(), 1);
    QCOMPARE(keptAside(folder).size(), 1);
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(pageNow(reader, {})->total, 100u);
}

void HistoryFileTest::aFolderThatIsAFileIsRefused() {
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("file"));
    QVERIFY(writeAll(file, "x"));
    for (const QString& path : {file, file + QStringLiteral("/data")}) {
        const auto opened = History::open(path.toStdString());
        QVERIFY(!opened);
        QVERIFY(opened.error().kind == ErrorKind::Io);
        QVERIFY(QString::fromStdString(opened.error().message).startsWith(path));
    }
}

void HistoryFileTest::aReadOnlyFolderIsRefused() {
    if (::geteuid() == 0) QSKIP("root may write everywhere");
    QTemporaryDir folder;
    fill(folder, 1);
    ::chmod(folder.path().toUtf8().constData(), 0500);
    const auto opened = History::open(folder.path().toStdString());
    ::chmod(folder.path().toUtf8().constData(), 0700);
    QVERIFY(!opened);
    QVERIFY(QString::fromStdString(opened.error().message).contains(QStringLiteral("writable")));
}

void HistoryFileTest::onlyOneWriterAtATime() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    const auto second = History::open(folder.path().toStdString());
    QVERIFY(!second);
    QVERIFY(QString::fromStdString(second.error().message).contains(QStringLiteral("another running program")));
    history.reset();
    QVERIFY(openHistory(folder.path()));
}

void HistoryFileTest::readersNeedNoHistory() {
    QTemporaryDir folder;
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(pageNow(reader, {})->total, 0u);
    QVERIFY(!detailNow(reader, 1));
    QVERIFY(!QFile::exists(databaseOf(folder)));
    fill(folder, 2);  // it begins while the reader is there
    QCOMPARE(pageNow(reader, {})->total, 2u);
}

// A file size limit is the full disk that a test can have without mounting anything.
void HistoryFileTest::aFullDiskIsToldAndNothingIsLost() {
    std::signal(SIGXFSZ, SIG_IGN);
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    std::promise<Error> told;
    std::promise<void> mended;
    std::atomic<int> times{0};
    history->setOnProblem([&](std::optional<Error> problem) {
        if (!problem) return mended.set_value();
        if (++times == 1) told.set_value(*problem);
    });
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{512 * 1024, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::atomic<JobId> committed{0};
    constexpr JobId jobs = 9000;
    for (JobId id = 1; id <= jobs; ++id) history->recordJob(mixedJob(id), [&] { ++committed; });
    auto first = told.get_future();
    const bool wasTold = first.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    const std::size_t waiting = history->unwritten();
    ::setrlimit(RLIMIT_FSIZE, &before);
    QVERIFY(wasTold);
    QVERIFY(QString::fromStdString(first.get().message).contains(databaseOf(folder)));
    QVERIFY(waiting > 0);
    QVERIFY(mended.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    history->flush();
    QCOMPARE(times.load(), 1);
    QCOMPARE(committed.load(), jobs);
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(pageNow(reader, {})->total, jobs);
    QCOMPARE(integrity(databaseOf(folder)), std::string("ok"));
}

void HistoryFileTest::aLockedDatabaseIsToldAndNothingIsLost() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    std::promise<Error> told;
    std::promise<void> mended;
    history->setOnProblem([&](std::optional<Error> problem) {
        problem ? told.set_value(*problem) : mended.set_value();
    });
    auto other = std::make_unique<SQLite::Database>(databaseOf(folder).toStdString(), SQLite::OPEN_READWRITE);
    other->exec("BEGIN IMMEDIATE");
    history->recordJob(sampleJob(1), {});
    auto first = told.get_future();
    QVERIFY(first.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    QVERIFY(QString::fromStdString(first.get().message).contains(QStringLiteral("lock")));
    other.reset();
    QVERIFY(mended.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(pageNow(reader, {})->total, 1u);
}

QTEST_GUILESS_MAIN(HistoryFileTest)
#include "tst_history_file.moc"
