#include "sample_jobs.h"

#include "scheduler/history/decision_codec.h"

#include <atomic>
#include <cmath>
#include <limits>

using namespace heteroscope;
using Ids = std::vector<JobId>;

class HistoryStoreTest : public QObject {
    Q_OBJECT
private slots:
    void everyFieldOfAJobComesBack();
    void aJobWithNothingKnownComesBackEmpty();
    void numbersThatJsonLacksComeBack();
    void decisionBytesCutShortAreRefused();
    void committedIsCalledOnceARowIsSafe();
    void manyStatesOfOneJobEndAsTheLast();
    void anEarlierTryIsKept();
    void aTryLostWithItsDeviceIsKept();
    void numbersGoOnAfterTheLastSession();
    void numbersOfDeletedJobsAreNotGivenAgain();
    void whatADeadSessionLeft();
    void leftJobsStayUntilSettled();
    void comparisonComesBackWhole();
    void comparisonsAreRenamedAndDeleted();
    void deletedJobsAreGoneWithTheirOutputs();
    void sessionsCountTheirJobs();
};

static JobSnapshot fullJob() {
    JobSnapshot job = sampleJob(7, JobState::Failed);
    job.label = "stufe-ä, \"zwei\"";
    job.priority = -3;
    job.attempts = 2;
    job.reason = "launch failed on cpu-1";
    job.times = {sampleTime, sampleTime + 1, sampleTime + 2, sampleTime + 3, sampleTime + 4, sampleTime + 5, sampleTime + 6, sampleTime + 7};
    job.predictedSeconds = 0.125;
    job.waitSeconds = 0.1 + 0.2;
    job.stageInSeconds = 1e-9;
    job.runSeconds = 2.24;
    job.stageOutSeconds = 0.5;
    job.flops = 2e12;
    job.bytes = 48.0;
    job.error = Error{ErrorKind::BuildFailed, "mine.cl:3: expected ';'", "/home/a b/mine.cl", 3, "line one\nline two\n"};
    job.check.state = CheckResult::State::Failed;
    job.check.argument = "y";
    job.check.firstDifference = 1234567890123;
    job.check.expected = 1.5;
    job.check.found = 1.25;
    job.check.largestError = 0.2;
    job.check.message = "y[1234567890123] is 1.25, expected 1.5";
    job.outputs = {{"y", "float4", 4096, {1.0, -2.5, 1e300}, -2.5, 1e300, 0.5, 3, "outputs/7-y.npy"}, {"z", "uint", 0, {}, {}, {}, {}, 0, {}}};
    job.log = "warning: unused variable";
    job.after = {3, 5};
    auto decision = std::make_shared<Decision>();
    decision->job = 7;
    decision->policy = "mct";
    decision->chosen = 1;
    decision->at = sampleTime + 2;
    decision->note = "priority −3, the highest of 2 ready";
    decision->candidates = {{0, "no double precision", -1, -1, -1, -1, 0, 0}, {1, {}, 0.5, 0.25, 0.125, 0.875, 3, 0.875}};
    job.decision = decision;
    return job;
}

void HistoryStoreTest::everyFieldOfAJobComesBack() {
    QTemporaryDir folder;
    const JobSnapshot job = fullJob();
    {
        auto history = openHistory(folder.path());
        DeviceInfo cpu;
        for (const char* id : {"gpu-abcd", "cpu-0"}) {
            cpu.id = id;
            history->recordDevice(cpu);
        }
        history->recordJob(job, {});
    }
    HistoryReader reader(folder.path().toStdString());
    const auto detail = detailNow(reader, 7);
    QVERIFY(detail);
    const JobSnapshot& found = detail->job;
    QCOMPARE(found.label, job.label);
    QCOMPARE(found.kernel, job.kernel);
    QCOMPARE(found.parameters, job.parameters);
    QCOMPARE(found.device, job.device);
    QCOMPARE(found.runtime, job.runtime);
    QCOMPARE(found.policy, job.policy);
    QVERIFY(found.state == job.state);
    QCOMPARE(found.priority, job.priority);
    QCOMPARE(found.attempts, job.attempts);
    QCOMPARE(found.reason, job.reason);
    const JobTimes &t = found.times, &w = job.times;
    QCOMPARE((std::vector{t.submitted, t.ready, t.assigned, t.staging, t.staged, t.started, t.finished, t.ended}),
             (std::vector{w.submitted, w.ready, w.assigned, w.staging, w.staged, w.started, w.finished, w.ended}));
    QVERIFY(found.predictedSeconds == job.predictedSeconds && found.waitSeconds == job.waitSeconds &&
            found.stageInSeconds == job.stageInSeconds && found.runSeconds == job.runSeconds &&
            found.stageOutSeconds == job.stageOutSeconds);
    QVERIFY(found.flops == job.flops && found.bytes == job.bytes);
    QVERIFY(found.error == job.error);
    QVERIFY(found.check.state == job.check.state);
    QCOMPARE(found.check.argument, job.check.argument);
    QCOMPARE(found.check.firstDifference, job.check.firstDifference);
    QVERIFY(found.check.expected == 1.5 && found.check.found == 1.25 && found.check.largestError == 0.2);
    QCOMPARE(found.check.message, job.check.message);
    QCOMPARE(found.outputs.size(), 2u);
    const OutputSummary &y = found.outputs[0], &wanted = job.outputs[0];
    QVERIFY(y.name == wanted.name && y.type == wanted.type && y.count == wanted.count && y.firstValues == wanted.firstValues);
    QVERIFY(y.minimum == wanted.minimum && y.maximum == wanted.maximum && y.mean == wanted.mean);
    QVERIFY(y.nanCount == 3 && y.file == wanted.file);
    QVERIFY(!found.outputs[1].minimum && found.outputs[1].firstValues.empty());
    QCOMPARE(found.log, job.log);
    QCOMPARE(found.after, job.after);
    QVERIFY(found.decision);
    QCOMPARE(found.decision->policy, job.decision->policy);
    QCOMPARE(found.decision->note, job.decision->note);
    QCOMPARE(found.decision->at, job.decision->at);
    QCOMPARE(found.decision->candidates[0].excluded, std::string("no double precision"));
    const Candidate& chosen = found.decision->candidates[1];
    QVERIFY(chosen.freeIn == 0.5 && chosen.dataIn == 0.25 && chosen.run == 0.125 && chosen.finish == 0.875 && chosen.queued == 3 && chosen.score == 0.875);
    QCOMPARE(detail->deviceNames, (std::vector<std::string>{"gpu-abcd", "cpu-0"}));
    QVERIFY2(detail->explanation.find("cpu-0") != std::string::npos, detail->explanation.c_str());
}

void HistoryStoreTest::aJobWithNothingKnownComesBackEmpty() {
    QTemporaryDir folder;
    openHistory(folder.path())->recordJob(sampleJob(1, JobState::Waiting), {});
    HistoryReader reader(folder.path().toStdString());
    const auto detail = detailNow(reader, 1);
    QVERIFY(detail);
    QVERIFY(!detail->job.flops && !detail->job.bytes && !detail->job.error && !detail->job.decision);
    QVERIFY(detail->job.device.empty() && detail->job.policy.empty() && detail->specJson.empty());
    QCOMPARE(detail->job.predictedSeconds, -1.0);
    QCOMPARE(detail->job.times.started, 0);
    QVERIFY(!detailNow(reader, 2));
}

void HistoryStoreTest::numbersThatJsonLacksComeBack() {
    QTemporaryDir folder;
    JobSnapshot job = sampleJob(1);
    job.waitSeconds = std::nan("");  // SQLite would store NULL and refuse the row
    job.flops = HUGE_VAL;
    job.outputs = {{"y", "float", 3, {std::nan(""), HUGE_VAL, -HUGE_VAL}, {}, {}, {}, 1, {}}};
    job.log = "broken \xff utf-8 \x00 and NUL";
    job.check.message = "bad \xc3 byte";
    openHistory(folder.path())->recordJob(job, {});
    HistoryReader reader(folder.path().toStdString());
    const auto detail = detailNow(reader, 1);
    QVERIFY(detail);
    QVERIFY(!detail->job.flops);
    const auto& values = detail->job.outputs.at(0).firstValues;
    QVERIFY(std::isnan(values[0]) && values[1] == HUGE_VAL && values[2] == -HUGE_VAL);
    QCOMPARE(detail->job.log, job.log);
    QCOMPARE(detail->job.check.message, std::string("bad \xEF\xBF\xBD byte"));
}

void HistoryStoreTest::decisionBytesCutShortAreRefused() {
    const std::string bytes = history::encodeDecision(*fullJob().decision);
    QVERIFY(history::decodeDecision(bytes.data(), bytes.size()));
    for (std::size_t size = 0; size < bytes.size(); ++size) QVERIFY(!history::decodeDecision(bytes.data(), size));
    std::string claims = bytes;
    claims[0] = 9;  // another version
    QVERIFY(!history::decodeDecision(claims.data(), claims.size()));
    const std::string huge("\x01" "\0\0\0\0\0\0\0\0" "\xff\xff\xff\xff", 13);  // a name of 4 GiB
    QVERIFY(!history::decodeDecision(huge.data(), huge.size()));
}

void HistoryStoreTest::committedIsCalledOnceARowIsSafe() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    HistoryReader reader(folder.path().toStdString());
    std::promise<bool> there;
    history->recordJob(sampleJob(1), [&] { there.set_value(static_cast<bool>(detailNow(reader, 1))); });
    QVERIFY(there.get_future().get());
    history->flush();
    QCOMPARE(history->unwritten(), 0u);
}

void HistoryStoreTest::manyStatesOfOneJobEndAsTheLast() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    std::atomic<int> committed{0};
    constexpr JobId jobs = 2000;
    const auto states = {JobState::Waiting, JobState::Ready, JobState::Assigned, JobState::Staging, JobState::Running, JobState::Succeeded};
    for (JobId id = 1; id <= jobs; ++id)
        for (const JobState state : states) history->recordJob(sampleJob(id, state), [&] { ++committed; });
    history->flush();
    QCOMPARE(committed.load(), static_cast<int>(jobs * states.size()));
    HistoryReader reader(folder.path().toStdString());
    HistoryFilter filter;
    filter.states = {JobState::Succeeded};
    QCOMPARE(pageNow(reader, filter)->total, jobs);
    filter.states = {JobState::Waiting, JobState::Ready, JobState::Assigned, JobState::Staging, JobState::Running};
    QCOMPARE(pageNow(reader, filter)->total, 0u);
}

void HistoryStoreTest::anEarlierTryIsKept() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        JobSnapshot job = sampleJob(1, JobState::Failed);
        job.error = Error{ErrorKind::LaunchFailed, "first one"};
        history->recordJob(job, {});
        JobSnapshot again = sampleJob(1, JobState::Ready);
        again.attempts = 1;
        history->recordJob(again, {});
        JobSnapshot second = sampleJob(1, JobState::Running);
        second.device = "cpu-1";
        second.attempts = 2;
        history->recordJob(second, {});
        second.state = JobState::Succeeded;
        history->recordJob(second, {});
    }
    HistoryReader reader(folder.path().toStdString());
    const auto detail = detailNow(reader, 1);
    QVERIFY(detail);
    QVERIFY(detail->job.state == JobState::Succeeded && !detail->job.error);
    QCOMPARE(detail->job.device, std::string("cpu-1"));
    QCOMPARE(detail->earlierAttempts.size(), 1u);
    QVERIFY(detail->earlierAttempts[0].state == JobState::Failed);
    QCOMPARE(detail->earlierAttempts[0].error->message, std::string("first one"));
    QCOMPARE(detail->earlierAttempts[0].device, std::string("cpu-0"));
    QCOMPARE(detail->earlierAttempts[0].attempt, 1u);
}

void HistoryStoreTest::aTryLostWithItsDeviceIsKept() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        history->recordJob(sampleJob(1, JobState::Running), {});
        JobSnapshot second = sampleJob(1, JobState::Succeeded);
        second.device = "cpu-1";
        second.attempts = 2;
        history->recordJob(second, {});
    }
    HistoryReader reader(folder.path().toStdString());
    const auto detail = detailNow(reader, 1);
    QCOMPARE(detail->earlierAttempts.size(), 1u);
    QVERIFY(detail->earlierAttempts[0].state == JobState::Running);
    QCOMPARE(detail->earlierAttempts[0].device, std::string("cpu-0"));
}

void HistoryStoreTest::numbersGoOnAfterTheLastSession() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        QCOMPARE(history->firstFreeJobId(), JobId{1});
        history->recordJob(sampleJob(41), {});
    }
    QCOMPARE(openHistory(folder.path())->firstFreeJobId(), JobId{42});
}

void HistoryStoreTest::numbersOfDeletedJobsAreNotGivenAgain() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        for (JobId id = 1; id <= 9; ++id) history->recordJob(sampleJob(id), {});
        history->deleteJobs({8, 9});
    }
    QCOMPARE(openHistory(folder.path())->firstFreeJobId(), JobId{10});
}

void HistoryStoreTest::whatADeadSessionLeft() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        JobId id = 1;
        for (const JobState state : {JobState::Waiting, JobState::Ready, JobState::Assigned, JobState::Staging, JobState::Running, JobState::Succeeded})
            history->recordJob(sampleJob(id++, state), {});
    }
    std::vector<std::string> notices;
    auto history = openHistory(folder.path(), &notices);
    QCOMPARE(notices.size(), 1u);
    QVERIFY(notices[0].starts_with("2 jobs ran"));
    Ids left;
    for (const LeftJob& job : history->leftJobs()) left.push_back(job.id);
    QCOMPARE(left, (Ids{1, 2, 3}));
    QVERIFY(history->leftJobs()[2].state == JobState::Ready);
    HistoryReader reader(folder.path().toStdString());
    for (const JobId id : {JobId{4}, JobId{5}}) {
        const auto detail = detailNow(reader, id);
        QVERIFY(detail->job.state == JobState::Interrupted);
        QVERIFY(detail->job.times.ended > 0);
        QVERIFY(!detail->job.reason.empty());
    }
    QVERIFY(detailNow(reader, 6)->job.state == JobState::Succeeded);
}

void HistoryStoreTest::leftJobsStayUntilSettled() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        for (JobId id = 1; id <= 3; ++id) {
            JobSnapshot job = sampleJob(id, JobState::Waiting);
            job.after = {id + 10};
            history->recordJob(job, {});
        }
    }
    openHistory(folder.path());  // a session that does nothing about them
    {
        auto history = openHistory(folder.path());
        QCOMPARE(history->leftJobs().size(), 3u);
        QCOMPARE(history->leftJobs()[1].after, (Ids{12}));
        history->settleLeftJobs({1, 3}, "resumed as #44");
        QCOMPARE(history->leftJobs().size(), 1u);
    }
    auto history = openHistory(folder.path());
    QCOMPARE(history->leftJobs().size(), 1u);
    QCOMPARE(history->leftJobs()[0].id, JobId{2});
    HistoryReader reader(folder.path().toStdString());
    const auto settled = detailNow(reader, 3);
    QVERIFY(settled->job.state == JobState::Cancelled);
    QCOMPARE(settled->job.reason, std::string("resumed as #44"));
}

static Comparison sampleComparison() {
    Comparison comparison;
    comparison.name = "two stages";
    comparison.createdAt = sampleTime;
    comparison.jobs = 2;
    comparison.devices = {"cpu-0", "cpu-1"};
    comparison.lowerBoundSeconds = 1.25;
    comparison.complete = false;
    for (const char* policy : {"fifo", "mct"}) {
        PolicyRun run;
        run.policy = policy;
        run.seed = 7;
        run.repeat = 1;
        run.metrics = {2.5, 0.1, 0.2, 0.05, 1.5, 1.75, {0.5, 1.0 / 3}, 0.2, 0.8};
        run.schedule = {{1, "a", "saxpy", 0, 0.0, 0.1, 0.2, 1.1}, {2, "b", "matmul", 1, 0.0, 1.1, 1.2, 2.5}};
        run.failed = 1;
        run.firstError = "b: out of memory";
        comparison.runs.push_back(run);
    }
    return comparison;
}

void HistoryStoreTest::comparisonComesBackWhole() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    const Comparison wanted = sampleComparison();
    const std::int64_t id = history->recordComparison(wanted);
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    const auto found = readNow<Comparison>([&](auto done) { reader.comparison(id, done); });
    QVERIFY(found);
    QCOMPARE(found->id, id);
    QCOMPARE(found->name, wanted.name);
    QCOMPARE(found->createdAt, wanted.createdAt);
    QCOMPARE(found->devices, wanted.devices);
    QVERIFY(found->lowerBoundSeconds == 1.25 && !found->complete && !found->simulated && found->jobs == 2);
    QCOMPARE(found->runs.size(), 2u);
    const PolicyRun& run = found->runs[1];
    QVERIFY(run.policy == "mct" && run.seed == 7 && run.repeat == 1 && run.failed == 1 && run.firstError == "b: out of memory");
    QVERIFY(run.metrics.toMap() == wanted.runs[1].metrics.toMap());
    QCOMPARE(run.metrics.utilisation, wanted.runs[1].metrics.utilisation);
    QCOMPARE(run.schedule.size(), 2u);
    const ScheduledJob& bar = run.schedule[1];
    QVERIFY(bar.job == 2 && bar.label == "b" && bar.kernel == "matmul" && bar.device == 1);
    QVERIFY(bar.submitted == 0 && bar.ready == 1.1 && bar.start == 1.2 && bar.finish == 2.5);
    QVERIFY(!readNow<Comparison>([&](auto done) { reader.comparison(id + 1, done); }));
}

void HistoryStoreTest::comparisonsAreRenamedAndDeleted() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    const auto first = history->recordComparison(sampleComparison());
    const auto second = history->recordComparison(sampleComparison());
    QVERIFY(second > first);
    history->renameComparison(first, "Änderung");
    history->deleteComparison(second);
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    const auto rows = readNow<std::vector<ComparisonRow>>([&](auto done) { reader.comparisons(done); });
    QCOMPARE(rows->size(), 1u);
    QCOMPARE(rows->at(0).name, std::string("Änderung"));
    QCOMPARE(rows->at(0).policies, 2u);
    history.reset();
    QVERIFY(openHistory(folder.path())->recordComparison(sampleComparison()) > second);
}

void HistoryStoreTest::deletedJobsAreGoneWithTheirOutputs() {
    QTemporaryDir folder;
    QDir(folder.path()).mkdir(QStringLiteral("outputs"));
    const auto touch = [&](const QString& name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::WriteOnly);
    };
    QVERIFY(touch(QStringLiteral("outputs/1-y.npy")) && touch(QStringLiteral("mine.txt")));
    auto history = openHistory(folder.path());
    JobSnapshot job = sampleJob(1);
    job.outputs = {{"y", "float", 1, {}, {}, {}, {}, 0, folder.filePath(QStringLiteral("outputs/1-y.npy")).toStdString()},
                   {"z", "float", 1, {}, {}, {}, {}, 0, "outputs/../mine.txt"}};
    history->recordJob(job, {});
    history->recordJob(sampleJob(2), {});
    history->deleteJobs({1, 77});
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(idsOf(pageNow(reader, {})), (Ids{2}));
    QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("outputs/1-y.npy"))));
    QVERIFY(QFile::exists(folder.filePath(QStringLiteral("mine.txt"))));  // not ours to remove
    history->recordJob(sampleJob(3), {});  // shared texts were collected and must be made anew
    history->flush();
    QCOMPARE(pageNow(reader, {})->rows.at(0).parameters, sampleJob(3).parameters);
}

void HistoryStoreTest::sessionsCountTheirJobs() {
    QTemporaryDir folder;
    {
        auto history = openHistory(folder.path());
        for (JobId id = 1; id <= 5; ++id) history->recordJob(sampleJob(id), {});
        history->flush();
        history->recordJob(sampleJob(5), {});  // no new one
        history->deleteJobs({1});
    }
    auto history = openHistory(folder.path());
    history->recordJob(sampleJob(6), {});
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    const auto sessions = readNow<std::vector<SessionRow>>([&](auto done) { reader.sessions(done); });
    QCOMPARE(sessions->size(), 2u);
    QCOMPARE(sessions->at(0).jobs, 1u);
    QCOMPARE(sessions->at(0).endedAt, 0);
    QCOMPARE(sessions->at(1).jobs, 4u);
    QVERIFY(sessions->at(1).endedAt >= sessions->at(1).startedAt);
    HistoryFilter filter;
    filter.session = sessions->at(1).id;
    QCOMPARE(idsOf(pageNow(reader, filter)), (Ids{5, 4, 3, 2}));
}

QTEST_GUILESS_MAIN(HistoryStoreTest)
#include "tst_history_store.moc"
