#include "fake_services.h"
#include "queue_samples.h"
#include "ui/job_board.h"
#include "ui/queue/job_delegate.h"
#include "ui/queue/job_filter_model.h"
#include "ui/queue/job_table_model.h"

#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <QSignalSpy>
#include <QTest>

#include <random>

using namespace heteroscope;

namespace {

std::vector<JobId> shown(const JobFilterModel& rows, const JobTableModel& jobs) {
    std::vector<JobId> ids;
    for (int row = 0; row < rows.rowCount(); ++row) ids.push_back(jobs.job(rows.sourceRow(row)).id);
    return ids;
}

using Ids = std::vector<JobId>;

}  // namespace

class TestQueueModels : public QObject {
    Q_OBJECT
    FakeServices services_;

private slots:
    void init() { services_.deviceList = {FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("gpu-0", "H200", {}, DeviceKind::Gpu)}; }

    void newJobsComeInOneInsertionAndChangedOnesInPlace() {
        JobBoard board(services_);
        JobTableModel jobs(board);
        QAbstractItemModelTester tester(&jobs, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy inserted(&jobs, &QAbstractItemModel::rowsInserted), changed(&jobs, &QAbstractItemModel::dataChanged),
            reset(&jobs, &QAbstractItemModel::modelReset), updated(&jobs, &JobTableModel::rowsUpdated);
        std::vector<JobSnapshot> all;
        for (JobId id = 1; id <= 50; ++id) all.push_back(sampleJob(id, JobState::Ready));
        emit services_.updated(sampleUpdate(all));
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(jobs.rowCount(), 50);
        all[9].state = JobState::Running;
        all[10].state = JobState::Running;
        all[40].state = JobState::Failed;
        emit services_.updated(sampleUpdate({all[9], all[10], all[40]}, all));
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(reset.size(), 0);
        QCOMPARE(changed.size(), 2);  // rows 9 and 10 are neighbours
        QCOMPARE(updated.size(), 2);
        QCOMPARE(updated[1][0].value<std::vector<int>>(), (std::vector<int>{9, 10, 40}));
        QCOMPARE(jobs.index(9, JobTableModel::StateColumn).data().toString(), QStringLiteral("running"));
        QCOMPARE(jobs.rowOf(41), 40);
        QCOMPARE(jobs.rowOf(4711), -1);
    }

    void cellsSayWhatTheSnapshotHolds() {
        JobBoard board(services_);
        JobTableModel jobs(board);
        JobSnapshot done = sampleJob(7, JobState::Succeeded);
        done.priority = -3;
        done.check.state = CheckResult::State::Passed;
        JobSnapshot failed = sampleJob(8, JobState::Failed);
        failed.error = Error{ErrorKind::BuildFailed, "spmv.cl does not build\nsecond line", "spmv.cl", 41};
        JobSnapshot waiting = sampleJob(9, JobState::Waiting);
        waiting.reason = "waits for #7";
        emit services_.updated(sampleUpdate({done, failed, waiting}));
        const auto cell = [&](int row, int column) { return jobs.index(row, column).data().toString(); };
        QCOMPARE(cell(0, JobTableModel::JobColumn), QStringLiteral("7"));
        QCOMPARE(cell(0, JobTableModel::KernelColumn), QStringLiteral("saxpy"));
        QCOMPARE(jobs.index(0, 0).data(JobTableModel::ParametersRole).toString(), QStringLiteral("n=1024 a=2.5"));
        QCOMPARE(cell(0, JobTableModel::DeviceColumn), QStringLiteral("EPYC"));
        QCOMPARE(jobs.index(0, 0).data(JobTableModel::SeriesRole).toInt(), 0);
        QCOMPARE(cell(1, JobTableModel::DeviceColumn), QStringLiteral("H200"));
        QCOMPARE(cell(0, JobTableModel::ProgressColumn), QStringLiteral("check passed"));
        QCOMPARE(cell(0, JobTableModel::PriorityColumn), QStringLiteral("-3"));
        QCOMPARE(cell(0, JobTableModel::WaitedColumn), QStringLiteral("918\u2009ms"));
        QCOMPARE(cell(0, JobTableModel::RunColumn), QStringLiteral("452\u2009ms"));
        QCOMPARE(cell(0, JobTableModel::CheckColumn), QStringLiteral("passed"));
        QCOMPARE(cell(1, JobTableModel::ProgressColumn), QStringLiteral("spmv.cl does not build"));
        QVERIFY(jobs.index(1, JobTableModel::ProgressColumn).data(Qt::ForegroundRole).isValid());
        QCOMPARE(cell(2, JobTableModel::DeviceColumn), QStringLiteral("—"));
        QCOMPARE(cell(2, JobTableModel::RunColumn), QStringLiteral("—"));
        QCOMPARE(cell(2, JobTableModel::ProgressColumn), QStringLiteral("waits for #7"));
    }

    void progressFollowsThePrediction_data() {
        QTest::addColumn<double>("predicted");
        QTest::addColumn<qint64>("elapsedNs");
        QTest::addColumn<double>("ratio");
        QTest::addColumn<QString>("text");
        QTest::newRow("half way") << 4.0 << qint64(2'000'000'000) << 0.5 << QStringLiteral("2.00\u2009s left");
        QTest::newRow("over it") << 1.0 << qint64(1'500'000'000) << 0.99 << QStringLiteral("500\u2009ms over its prediction");
        QTest::newRow("not predicted") << -1.0 << qint64(1'500'000'000) << -1.0 << QStringLiteral("run time not known yet");
    }
    void progressFollowsThePrediction() {
        QFETCH(double, predicted);
        QFETCH(qint64, elapsedNs);
        JobSnapshot job = sampleJob(1, JobState::Running);
        job.times.started = 1'000;
        job.predictedSeconds = predicted;
        const JobProgress progress = progressOf(job, 1'000 + elapsedNs);
        QTEST(progress.ratio, "ratio");
        QTEST(progress.text, "text");
    }

    void filtersByStateAndText() {
        JobBoard board(services_);
        JobTableModel jobs(board);
        JobFilterModel rows(jobs);
        JobSnapshot labelled = sampleJob(3, JobState::Waiting, "matmul", "n=512");
        labelled.label = "Größe-A";
        emit services_.updated(sampleUpdate({sampleJob(1, JobState::Running, "matmul", "n=4096"), sampleJob(2, JobState::Failed),
                                             labelled, sampleJob(12, JobState::Succeeded, "stencil", "n=12")}));
        rows.sort(JobTableModel::JobColumn, Qt::AscendingOrder);
        rows.setStates({JobState::Running, JobState::Waiting});
        QCOMPARE(shown(rows, jobs), (Ids{1, 3}));
        rows.setText(QStringLiteral("4096 MATMUL"));
        QCOMPARE(shown(rows, jobs), (Ids{1}));
        rows.setStates({});
        rows.setText(QStringLiteral("#12"));
        QCOMPARE(shown(rows, jobs), (Ids{12}));
        rows.setText(QStringLiteral("h200"));  // short name of gpu-0
        QCOMPARE(shown(rows, jobs), (Ids{2, 12}));
        rows.setText(QStringLiteral("Größe"));
        QCOMPARE(shown(rows, jobs), (Ids{3}));
        rows.setText(QStringLiteral("  "));
        QCOMPARE(rows.rowCount(), 4);
    }

    void sortsByWhatPeopleMean() {
        JobBoard board(services_);
        JobTableModel jobs(board);
        JobFilterModel rows(jobs);
        emit services_.updated(sampleUpdate({sampleJob(1, JobState::Succeeded, "matmul", "n=4096"), sampleJob(2, JobState::Waiting, "matmul", "n=512"),
                                             sampleJob(3, JobState::Running, "saxpy", "n=1"), sampleJob(4, JobState::Succeeded, "Black", "n=1"),
                                             sampleJob(5, JobState::Waiting, "matmul", "n=512")}));
        rows.sort(JobTableModel::KernelColumn, Qt::AscendingOrder);
        QCOMPARE(shown(rows, jobs), (Ids{4, 2, 5, 1, 3}));
        // What runs first, then what comes in the order of the queue, then what is over with the latest first.
        rows.sort(JobTableModel::StateColumn, Qt::AscendingOrder);
        QCOMPARE(shown(rows, jobs), (Ids{3, 2, 5, 4, 1}));
        rows.sort(JobTableModel::JobColumn, Qt::DescendingOrder);
        QCOMPARE(shown(rows, jobs), (Ids{5, 4, 3, 2, 1}));
    }

    /// Random updates under every kind of filter and order: the proxy equals what one gets from scratch, obeys the
    /// rules of models, and every selected row follows its job.
    void staysRightOverManyUpdates_data() {
        QTest::addColumn<int>("column");
        QTest::addColumn<bool>("filtered");
        QTest::addColumn<int>("batch");
        QTest::newRow("by state, all") << int(JobTableModel::StateColumn) << false << 12;
        QTest::newRow("by state, some") << int(JobTableModel::StateColumn) << true << 12;
        QTest::newRow("by priority, some") << int(JobTableModel::PriorityColumn) << true << 5;
        QTest::newRow("large batches, resets") << int(JobTableModel::StateColumn) << true << 400;
    }
    void staysRightOverManyUpdates() {
        QFETCH(int, column);
        QFETCH(bool, filtered);
        QFETCH(int, batch);
        JobBoard board(services_);
        JobTableModel jobs(board);
        JobFilterModel rows(jobs);
        QAbstractItemModelTester tester(&rows, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const std::vector<JobState> wanted{JobState::Running, JobState::Ready, JobState::Failed};
        if (filtered) rows.setStates(wanted);
        rows.sort(column, Qt::DescendingOrder);
        rows.sort(column, Qt::AscendingOrder);
        std::mt19937 random(4711);
        std::map<JobId, JobSnapshot> truth;
        QPersistentModelIndex followed;
        JobId followedJob = 0;
        for (int round = 0; round < 60; ++round) {
            std::map<JobId, JobSnapshot> changed;
            for (int i = 0; i < batch; ++i) {
                const JobId id = 1 + random() % (truth.size() + 3);
                JobSnapshot job = sampleJob(id, static_cast<JobState>(random() % jobStateCount));
                job.priority = static_cast<int>(random() % 5);
                changed.insert_or_assign(id, job);
                truth.insert_or_assign(id, job);
            }
            std::vector<JobSnapshot> list, all;
            for (auto& [id, job] : changed) list.push_back(job);
            for (auto& [id, job] : truth) all.push_back(job);
            emit services_.updated(sampleUpdate(list, all));
            JobFilterModel fresh(jobs);
            if (filtered) fresh.setStates(wanted);
            fresh.sort(column, Qt::DescendingOrder);
            fresh.sort(column, Qt::AscendingOrder);
            QCOMPARE(shown(rows, jobs), shown(fresh, jobs));
            for (int row = 0; row < rows.rowCount(); ++row) QCOMPARE(rows.rowOfSource(rows.sourceRow(row)), row);
            if (followed.isValid()) QCOMPARE(jobs.job(rows.sourceRow(followed.row())).id, followedJob);
            else if (rows.rowCount() > 0) {
                followed = rows.index(rows.rowCount() / 2, 0);
                followedJob = jobs.job(rows.sourceRow(followed.row())).id;
            }
        }
        QVERIFY(truth.size() > 30);
    }

    void linksStandWhereTheirTextStands() {
        const QFont font;
        const auto links = jobLinks(QStringLiteral("waits for #12, #7"), QRect(100, 0, 400, 28), font);
        QCOMPARE(links.size(), std::size_t(2));
        QCOMPARE(links[0].job, JobId(12));
        QCOMPARE(links[0].place.left(), 100 + QFontMetricsF(font).horizontalAdvance(QStringLiteral("waits for ")));
        QCOMPARE(links[1].job, JobId(7));
        QVERIFY(jobLinks(QStringLiteral("waits for #12"), QRect(0, 0, 20, 28), font).empty());  // cut off
    }
};

QTEST_MAIN(TestQueueModels)
#include "tst_queue_models.moc"
