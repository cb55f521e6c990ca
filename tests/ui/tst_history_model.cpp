#include "tests/history/sample_jobs.h"
#include "fake_services.h"
#include "ui/history/history_filter_bar.h"
#include "ui/history/history_model.h"
#include "ui/history/history_tree.h"
#include "ui/job_board.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDateEdit>
#include <QLineEdit>
#include <QSignalSpy>

using namespace heteroscope;

// Over a real store: what the model shows is what the database holds.
class HistoryModelTest : public QObject {
    Q_OBJECT
private slots:
    void init();
    void rowsComeInPages();
    void nothingIsFetchedThatNobodySees();
    void newJobsComeOnTop();
    void fewerRowsThanBefore();
    void sortsInTheDatabase();
    void anAnswerOfAnOldFilterIsDropped();
    void farPagesAreForgotten();
    void textsOfARow();
    void groupsByDate();
    void filterBarSaysWhatItShows();
    void customDatesWorkEitherWayRound();

private:
    void fill(JobId first, JobId last);
    bool loadAt(HistoryModel& model, int row);

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<History> history_;
    std::unique_ptr<HistoryReader> reader_;
    std::unique_ptr<FakeServices> services_;
    std::unique_ptr<JobBoard> board_;
};

void HistoryModelTest::init() {
    board_.reset();
    reader_.reset();
    history_.reset();
    folder_ = std::make_unique<QTemporaryDir>();
    history_ = openHistory(folder_->path());
    reader_ = std::make_unique<HistoryReader>(folder_->path().toStdString());
    services_ = std::make_unique<FakeServices>();
    services_->setDevices({FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("cpu-1", "Xeon")});
    board_ = std::make_unique<JobBoard>(*services_);
    emit services_->devicesChanged();
}

void HistoryModelTest::fill(JobId first, JobId last) {
    for (JobId id = first; id <= last; ++id) history_->recordJob(mixedJob(id), {});
    history_->flush();
}

// Asks as a view does, and waits for the answer.
bool HistoryModelTest::loadAt(HistoryModel& model, int row) {
    return QTest::qWaitFor([&] {
        (void)model.index(row, 0).data();
        return model.index(row, 0).data(HistoryModel::LoadedRole).toBool();
    });
}

void HistoryModelTest::rowsComeInPages() {
    fill(1, 1000);
    HistoryModel model(*board_);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 1000);
    QCOMPARE(model.jobAt(0), JobId{1000});
    QVERIFY(model.loaded());
    for (const int row : {999, 500, 256, 255}) {
        QVERIFY(loadAt(model, row));
        QCOMPARE(model.jobAt(row), static_cast<JobId>(1000 - row));
    }
    QCOMPARE(model.rowOf(1), 999);
}

void HistoryModelTest::nothingIsFetchedThatNobodySees() {
    fill(1, 2000);
    HistoryModel model(*board_);
    QSignalSpy answers(&model, &HistoryModel::answered);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 2000);
    QVERIFY(loadAt(model, 1700));
    QCOMPARE(answers.count(), 2);
    QVERIFY(!model.index(1000, 0).data(HistoryModel::LoadedRole).toBool());
    QVERIFY(!model.index(1000, HistoryModel::StateColumn).data(Qt::ToolTipRole).isValid());
    QCOMPARE(model.jobAt(1000), JobId{0});
}

void HistoryModelTest::newJobsComeOnTop() {
    fill(1, 300);
    HistoryModel model(*board_);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 300);
    const QPersistentModelIndex selected(model.index(4, 0));
    QCOMPARE(model.jobAt(4), JobId{296});
    fill(301, 310);
    model.refresh();
    QTRY_COMPARE(model.rowCount(), 310);
    QCOMPARE(selected.row(), 14);
    QCOMPARE(model.jobAt(14), JobId{296});
    QCOMPARE(model.jobAt(0), JobId{310});
    QVERIFY(loadAt(model, 309));
    QCOMPARE(model.jobAt(309), JobId{1});
}

void HistoryModelTest::fewerRowsThanBefore() {
    fill(1, 600);
    HistoryModel model(*board_);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 600);
    history_->deleteJobs({600, 599, 1});
    history_->flush();
    model.refresh();
    QTRY_COMPARE(model.rowCount(), 597);
    QCOMPARE(model.jobAt(0), JobId{598});
}

void HistoryModelTest::sortsInTheDatabase() {
    fill(1, 500);
    HistoryModel model(*board_);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 500);
    JobId longest = 1;
    for (JobId id = 1; id <= 500; ++id)
        if (mixedJob(id).runSeconds > mixedJob(longest).runSeconds) longest = id;
    model.sort(HistoryModel::RunColumn, Qt::DescendingOrder);
    QTRY_COMPARE(model.jobAt(0), longest);
    model.sort(HistoryModel::JobColumn, Qt::AscendingOrder);
    QTRY_COMPARE(model.jobAt(0), JobId{1});
    const HistoryFilter before = model.filter();
    model.sort(HistoryModel::CheckColumn, Qt::AscendingOrder);  // has no order
    QVERIFY(model.filter() == before);
}

void HistoryModelTest::anAnswerOfAnOldFilterIsDropped() {
    fill(1, 400);
    HistoryModel model(*board_);
    QSignalSpy failures(&model, &HistoryModel::failed);
    model.setReader(reader_.get());
    HistoryFilter filter;
    for (const char* text : {"m", "ma", "mat", "matm", "matmul"}) {  // typed quickly
        filter.text = text;
        model.setFilter(filter);
    }
    QTRY_COMPARE(model.rowCount(), 100);
    QTest::qWait(0);
    QCOMPARE(model.rowCount(), 100);
    QCOMPARE(model.index(0, HistoryModel::KernelColumn).data().toString(), QStringLiteral("matmul"));
    QCOMPARE(failures.count(), 0);
    filter.text = "no such thing";
    model.setFilter(filter);
    QTRY_COMPARE(model.rowCount(), 0);
    QVERIFY(model.loaded());
}

void HistoryModelTest::farPagesAreForgotten() {
    constexpr int pages = 90;
    fill(1, pages * HistoryModel::pageRows);
    HistoryModel model(*board_);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), static_cast<int>(pages * HistoryModel::pageRows));
    for (int page = 0; page < pages; ++page) QVERIFY(loadAt(model, page * static_cast<int>(HistoryModel::pageRows)));
    QVERIFY(!model.index(0, 0).data(HistoryModel::LoadedRole).toBool());
    QVERIFY(loadAt(model, 0));  // and come back when looked at
    QCOMPARE(model.jobAt(0), static_cast<JobId>(pages * HistoryModel::pageRows));
}

void HistoryModelTest::textsOfARow() {
    JobSnapshot job = mixedJob(50);
    job.check.state = CheckResult::State::Passed;
    job.waitSeconds = 0.412;
    history_->recordJob(job, {});
    JobSnapshot waiting = sampleJob(51, JobState::Waiting);
    waiting.times.submitted = 0;
    history_->recordJob(waiting, {});
    history_->flush();
    HistoryModel model(*board_);
    model.setReader(reader_.get());
    QTRY_COMPARE(model.rowCount(), 2);
    const auto cell = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(cell(1, HistoryModel::StateColumn), QStringLiteral("failed"));
    QCOMPARE(cell(1, HistoryModel::JobColumn), QStringLiteral("50"));
    QCOMPARE(cell(1, HistoryModel::DeviceColumn), QStringLiteral("EPYC"));
    QCOMPARE(cell(1, HistoryModel::WaitedColumn), QStringLiteral("412\u2009ms"));
    QCOMPARE(cell(1, HistoryModel::CheckColumn), QStringLiteral("passed"));
    QCOMPARE(model.index(1, 0).data(HistoryModel::SeriesRole).toInt(), 0);
    QVERIFY(model.index(1, 0).data(Qt::ToolTipRole).toString().startsWith(QStringLiteral("CL_OUT_OF_RESOURCES")));
    for (const int column : {HistoryModel::DeviceColumn, HistoryModel::PolicyColumn, HistoryModel::SubmittedColumn,
                             HistoryModel::WaitedColumn, HistoryModel::RunColumn, HistoryModel::CheckColumn})
        QCOMPARE(cell(0, column), QStringLiteral("—"));
}

void HistoryModelTest::groupsByDate() {
    const QDate today(2026, 11, 26);  // a Thursday
    QCOMPARE(historyGroup(today, today), QStringLiteral("Today, Thu 26 Nov"));
    QCOMPARE(historyGroup(today.addDays(-1), today), QStringLiteral("Wed 25 Nov"));
    QCOMPARE(historyGroup(today.addDays(-6), today), QStringLiteral("Fri 20 Nov"));
    QCOMPARE(historyGroup(today.addDays(-7), today), QStringLiteral("Week of 16 Nov"));
    QCOMPARE(historyGroup(QDate(2026, 9, 3), today), QStringLiteral("September"));
    QCOMPARE(historyGroup(QDate(2025, 12, 31), today), QStringLiteral("December 2025"));
}

void HistoryModelTest::filterBarSaysWhatItShows() {
    HistoryFilterBar bar;
    QVERIFY(!bar.active());
    bar.setFacets({{"matmul", "saxpy"}, {"cpu-0"}, {"mct"}, 3, 4});
    QSignalSpy changes(&bar, &HistoryFilterBar::changed);
    auto* kernel = bar.findChild<QComboBox*>(QStringLiteral("historyKernel"));
    kernel->setCurrentIndex(2);
    QCOMPARE(changes.count(), 1);
    QCOMPARE(bar.filter().kernel, std::string("saxpy"));
    bar.setFacets({{"matmul"}, {}, {}, 1, 1});  // its jobs were deleted: the choice stays until cleared
    QCOMPARE(bar.filter().kernel, std::string("saxpy"));
    bar.findChild<QLineEdit*>(QStringLiteral("historySearch"))->setText(QStringLiteral("  a b "));
    QTRY_COMPARE(changes.count(), 2);
    QCOMPARE(bar.filter().text, std::string("a b"));
    bar.clear();
    QCOMPARE(changes.count(), 3);
    QVERIFY(!bar.active());
}

void HistoryModelTest::customDatesWorkEitherWayRound() {
    HistoryFilterBar bar;
    bar.findChild<QComboBox*>(QStringLiteral("historyRange"))->setCurrentIndex(4);
    bar.findChild<QDateEdit*>(QStringLiteral("historyFrom"))->setDate({2026, 11, 26});
    bar.findChild<QDateEdit*>(QStringLiteral("historyTo"))->setDate({2026, 11, 24});
    const HistoryFilter filter = bar.filter();
    QCOMPARE(*filter.since, QDate(2026, 11, 24).startOfDay().toMSecsSinceEpoch() * 1'000'000);
    QCOMPARE(*filter.until, QDate(2026, 11, 27).startOfDay().toMSecsSinceEpoch() * 1'000'000);
}

QTEST_MAIN(HistoryModelTest)
#include "tst_history_model.moc"
