// A child process records a burst of 1,000 jobs and is killed at a moment that differs each time. What it had been
// told is committed must be there, what ran is interrupted, what waited is offered again.

#include "sample_jobs.h"

#include <SQLiteCpp/Database.h>

#include <QProcess>
#include <QRandomGenerator>

#include <cstdio>
#include <cstring>
#include <thread>

#include <unistd.h>

using namespace heteroscope;

namespace {

constexpr JobId burst = 1000;
constexpr JobId runningAtOnce = 4, waitingAtEnd = 100;

// Jobs run in order; the last hundred only wait. Each line on standard output names a job whose success is committed.
int recordUntilKilled(const QString& folder) {
    auto history = openHistory(folder);
    if (!history) return 1;
    const JobId first = history->firstFreeJobId();
    for (JobId i = 0; i < burst; ++i) history->recordJob(sampleJob(first + i, JobState::Waiting), {});
    for (JobId i = 0; i + waitingAtEnd < burst; ++i) {
        history->recordJob(sampleJob(first + i, JobState::Running), {});
        if (i < runningAtOnce) continue;
        const JobId done = first + i - runningAtOnce;
        history->recordJob(sampleJob(done), [done] {
            char line[32];
            const int size = std::snprintf(line, sizeof line, "%llu\n", static_cast<unsigned long long>(done));
            [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line, static_cast<std::size_t>(size));
        });
        if (i % 16 == 0) std::this_thread::yield();
    }
    history->flush();
    for (;;) ::pause();
}

}  // namespace

class HistoryKillTest : public QObject {
    Q_OBJECT
private slots:
    void nothingCommittedIsLost();
};

void HistoryKillTest::nothingCommittedIsLost() {
    const int kills = std::max(1, qEnvironmentVariableIntValue("HETEROSCOPE_KILLS") == 0 ? 20 : qEnvironmentVariableIntValue("HETEROSCOPE_KILLS"));
    QTemporaryDir folder;
    QRandomGenerator random(7);
    std::size_t interruptedEver = 0, leftEver = 0, committedEver = 0;
    for (int kill = 0; kill < kills; ++kill) {
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--record"), folder.path()});
        QVERIFY(child.waitForStarted());
        // From the first commit on, after a number of lines of its own that differs: 0 to all of them.
        const auto target = random.bounded(900);
        QByteArray output;
        while (output.count('\n') <= target && output.count('\n') < static_cast<int>(burst - waitingAtEnd - runningAtOnce) &&
               child.waitForReadyRead(20'000))
            output += child.readAllStandardOutput();
        child.kill();
        QVERIFY(child.waitForFinished());
        output += child.readAllStandardOutput();
        std::vector<JobId> committed;
        for (const QByteArray& line : output.split('\n'))
            if (!line.isEmpty()) committed.push_back(line.toULongLong());
        QVERIFY(!committed.empty());
        committedEver += committed.size();

        {
            SQLite::Database database(folder.filePath(QStringLiteral("history.db")).toStdString(), SQLite::OPEN_READWRITE);
            QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(), std::string("ok"));
            QCOMPARE(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
        }
        std::vector<std::string> notices;
        auto history = openHistory(folder.path(), &notices);
        QVERIFY(history);
        QVERIFY2(notices.empty() || notices[0].find("interrupted") != std::string::npos, notices.empty() ? "" : notices[0].c_str());
        HistoryReader reader(folder.path().toStdString());
        for (const JobId job : committed) {
            const auto detail = detailNow(reader, job);
            QVERIFY(detail && detail->job.state == JobState::Succeeded);
        }
        const auto count = [&](std::vector<JobState> states) {
            HistoryFilter filter;
            filter.states = std::move(states);
            filter.session = history->sessionId() - 1;
            return pageNow(reader, filter, 0, 1)->total;
        };
        QCOMPARE(count({JobState::Staging, JobState::Running, JobState::Assigned}), 0u);
        const auto interrupted = count({JobState::Interrupted});
        interruptedEver += interrupted;
        const auto left = history->leftJobs();
        QCOMPARE(left.size(), count({JobState::Waiting, JobState::Ready}));
        QCOMPARE(interrupted + left.size() + count({JobState::Succeeded}), count({}));
        leftEver += left.size();
        std::vector<JobId> ids;
        for (const LeftJob& job : left) ids.push_back(job.id);
        history->settleLeftJobs(ids, "dropped");
    }
    qInfo("%d kills: %zu committed, %zu interrupted, %zu left", kills, committedEver, interruptedEver, leftEver);
    QVERIFY(interruptedEver > 0 && leftEver > 0);
}

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--record") == 0) return recordUntilKilled(QString::fromUtf8(argv[2]));
    QCoreApplication application(argc, argv);
    HistoryKillTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_history_kill.moc"
