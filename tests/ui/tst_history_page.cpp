#include "tests/history/sample_jobs.h"
#include "fake_services.h"
#include "ui/history/history_filter_bar.h"
#include "ui/history/history_model.h"
#include "ui/history/history_page.h"
#include "ui/history/history_tree.h"
#include "ui/job_board.h"
#include "ui/job_pane.h"
#include "ui/widgets/token_label.h"

#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

using namespace heteroscope;

class HistoryPageTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void showsWhatIsStored();
    void filtersByEveryControl();
    void aSessionIsChosenInTheTree();
    void aComparisonOpensByDoubleClick();
    void oneJobWhole();
    void showJobFindsAnyJob();
    void deletesAfterAsking();
    void runsAgain();
    void exportsWhatItShows();
    void emptyStatesOfferTheWayOut();
    void withoutHistoryItSaysSo();
    void widthsAreRemembered();
    void pictures();

private:
    void open();
    template <class T>
    T* child(const char* name) const {
        auto* found = page_->findChild<T*>(QString::fromLatin1(name));
        if (!found) qFatal("no %s", name);
        return found;
    }
    QTableView* table() const { return child<QTableView>("historyTable"); }
    QString summary() const { return child<TokenLabel>("historySummary")->text(); }

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<FakeServices> services_;
    std::unique_ptr<JobBoard> board_;
    std::unique_ptr<HistoryPage> page_;
};

static JobSnapshot recentJob(JobId id, std::int64_t now) {
    JobSnapshot job = mixedJob(id);
    const std::int64_t shift = now - static_cast<std::int64_t>(600 - id) * 20 * second - job.times.submitted;
    JobTimes& t = job.times;
    for (std::int64_t* time : {&t.submitted, &t.ready, &t.assigned, &t.staging, &t.staged, &t.started, &t.finished, &t.ended})
        if (*time != 0) *time += shift;
    t.started = t.staged = t.submitted + static_cast<std::int64_t>(job.waitSeconds * 1e9);
    t.finished = t.ended = t.started + static_cast<std::int64_t>(job.runSeconds * 1e9);
    job.check.state = id % 3 == 0 ? CheckResult::State::Passed : CheckResult::State::None;
    return job;
}

void HistoryPageTest::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("heteroscope-test"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_history_page"));
    Theme::apply(*qApp, Theme::Mode::Light);
}

void HistoryPageTest::init() {
    QSettings().clear();
    folder_ = std::make_unique<QTemporaryDir>();
    services_ = std::make_unique<FakeServices>();
    services_->store = openHistory(folder_->path());
    services_->setDevices({FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("cpu-1", "Xeon")});
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    for (JobId id = 1; id <= 600; ++id) services_->store->recordJob(recentJob(id, now), {});
    Comparison comparison;
    comparison.name = "image pipeline";
    comparison.jobs = 5;
    comparison.runs = {PolicyRun{}, PolicyRun{}};
    comparison.runs[0].policy = "mct";
    comparison.runs[1].policy = "fifo";
    services_->store->recordComparison(comparison);
    services_->store->flush();
    services_->reader = std::make_shared<HistoryReader>(folder_->path().toStdString());
}

void HistoryPageTest::open() {
    board_ = std::make_unique<JobBoard>(*services_);
    emit services_->devicesChanged();
    page_ = std::make_unique<HistoryPage>(PageContext{*services_, *board_});
    page_->resize(1216, 724);
    page_->show();
    QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
}

void HistoryPageTest::cleanup() {
    page_.reset();
    board_.reset();
    services_.reset();
}

void HistoryPageTest::showsWhatIsStored() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    QCOMPARE(summary(), QStringLiteral("600 jobs"));
    QTRY_VERIFY(child<TokenLabel>("historyFoot")->text().startsWith(QStringLiteral("600 jobs, ")));
    const auto last = [&] {
        table()->scrollToBottom();
        return table()->model()->index(599, 0).data(HistoryModel::JobIdRole).toULongLong();
    };
    QTRY_COMPARE(last(), 1u);
}

void HistoryPageTest::filtersByEveryControl() {
    open();
    QTRY_COMPARE(child<QComboBox>("historyKernel")->count(), 5);
    const auto rows = [&] { return table()->model()->rowCount(); };
    child<QComboBox>("historyKernel")->setCurrentText(QStringLiteral("matmul"));
    QTRY_COMPARE(rows(), 150);
    QTRY_COMPARE(summary(), QStringLiteral("150 of 600 jobs"));
    child<QComboBox>("historyDevice")->setCurrentText(QStringLiteral("cpu-1"));
    QTRY_COMPARE(rows(), 150);
    child<QComboBox>("historyPolicy")->setCurrentText(QStringLiteral("mct"));
    QTRY_COMPARE(rows(), 50);
    child<QLineEdit>("historySearch")->setFocus();
    QTest::keyClicks(child<QLineEdit>("historySearch"), QStringLiteral("n=2048"));
    QTRY_VERIFY(rows() < 50 && rows() > 0);
    QTest::mouseClick(child<QWidget>("historyClear"), Qt::LeftButton);
    QTRY_COMPARE(rows(), 600);
    for (QAction* action : child<QToolButton>("historyState")->menu()->actions())
        if (action->data().toInt() == static_cast<int>(JobState::Failed)) action->trigger();
    QTRY_COMPARE(rows(), 12);
    child<QComboBox>("historyRange")->setCurrentIndex(2);
    QTRY_COMPARE(rows(), 12);
}

void HistoryPageTest::aSessionIsChosenInTheTree() {
    services_->store.reset();
    services_->store = openHistory(folder_->path());
    services_->store->recordJob(sampleJob(601), {});
    services_->store->flush();
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 601);
    auto* tree = child<HistoryTree>("historyTree");
    QTRY_VERIFY((tree->selectSession(2), tree->currentSession() == 2));
    QTRY_COMPARE(table()->model()->rowCount(), 1);
    tree->selectSession(1);
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    tree->selectAll();
    QTRY_COMPARE(table()->model()->rowCount(), 601);
}

void HistoryPageTest::aComparisonOpensByDoubleClick() {
    open();
    auto* tree = child<HistoryTree>("historyTree");
    QSignalSpy opened(page_.get(), &Page::openComparisonRequested);
    const auto find = [&] {
        return tree->model()->match(tree->model()->index(0, 0), Qt::DisplayRole, QStringLiteral("image pipeline"), 1,
                                    Qt::MatchContains | Qt::MatchRecursive);
    };
    QTRY_COMPARE(find().size(), 1);
    const QRect place = tree->visualRect(find().first());
    QVERIFY(place.isValid());
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, place.center());
    QTest::mouseDClick(tree->viewport(), Qt::LeftButton, {}, place.center());
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toLongLong(), 1);
    child<QLineEdit>("historyTreeSearch")->setText(QStringLiteral("nothing like it"));
    QVERIFY(tree->isRowHidden(1, {}));
}

void HistoryPageTest::oneJobWhole() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    auto* pane = page_->findChild<JobPane*>();
    QVERIFY(!pane->isVisible());
    table()->setFocus();
    table()->selectRow(0);
    QTRY_VERIFY(pane->isVisible());
    QCOMPARE(pane->job(), JobId{600});
    QTRY_VERIFY(table()->isColumnHidden(HistoryModel::PolicyColumn));  // the pane took its room
    QTest::keyClick(table(), Qt::Key_Down);
    QTRY_COMPARE(pane->job(), JobId{599});
    QVERIFY(pane->asText().contains(QStringLiteral("transpose")));
    QTest::keyClick(table(), Qt::Key_Escape);
    QVERIFY(!pane->isVisible());
    QTRY_VERIFY(!table()->isColumnHidden(HistoryModel::PolicyColumn));
    QTest::keyClick(table(), Qt::Key_Return);
    QTRY_VERIFY(pane->isVisible());
}

void HistoryPageTest::showJobFindsAnyJob() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    page_->showJob(3);
    QTRY_COMPARE(page_->selectedJobs(), (std::vector<JobId>{3}));
    QTRY_COMPARE(page_->findChild<JobPane*>()->job(), JobId{3});
}

void HistoryPageTest::deletesAfterAsking() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    QVERIFY(!child<QAction>("historyDelete")->isEnabled());
    table()->selectRow(1);
    child<QAction>("historyDelete")->trigger();
    auto* box = page_->findChild<QMessageBox*>(QStringLiteral("historyDeleteBox"));
    QVERIFY(box);
    QCOMPARE(services_->deletedJobs.size(), 0u);
    QVERIFY(box->text().contains(QStringLiteral("#599")));
    QTest::mouseClick(box->findChild<QPushButton*>(QStringLiteral("historyDeleteConfirm")), Qt::LeftButton);
    QCOMPARE(services_->deletedJobs, (std::vector<JobId>{599}));
}

void HistoryPageTest::runsAgain() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    table()->selectionModel()->select(table()->model()->index(2, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    table()->selectionModel()->select(table()->model()->index(0, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    QSignalSpy notices(page_.get(), &Page::noticeRequested);
    child<QAction>("historyRunAgain")->trigger();
    QCOMPARE(services_->ranAgain, (std::vector<JobId>{600, 598}));
    QTRY_COMPARE(notices.count(), 1);  // the fake has no engine: it says why it did not
    QVERIFY(notices[0][0].toString().contains(QStringLiteral("no engine")));
}

void HistoryPageTest::exportsWhatItShows() {
    open();
    QTRY_COMPARE(child<QComboBox>("historyKernel")->count(), 5);
    child<QComboBox>("historyKernel")->setCurrentText(QStringLiteral("saxpy"));
    QTRY_COMPARE(table()->model()->rowCount(), 150);
    QSignalSpy notices(page_.get(), &Page::noticeRequested);
    const QString file = folder_->filePath(QStringLiteral("out.csv"));
    page_->exportTo(file);
    QTRY_COMPARE(notices.count(), 1);
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    QCOMPARE(written.readAll().count('\n'), 151);
    page_->exportTo(folder_->filePath(QStringLiteral("missing/out.csv")));
    QTRY_COMPARE(notices.count(), 2);
    QVERIFY(notices[1][0].toString().startsWith(QStringLiteral("Not exported: ")));
}

void HistoryPageTest::emptyStatesOfferTheWayOut() {
    open();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    child<QLineEdit>("historySearch")->setText(QStringLiteral("no job of that kind"));
    QTRY_COMPARE(table()->model()->rowCount(), 0);
    auto* clear = child<QPushButton>("historyClearAll");
    QTRY_VERIFY(clear->isVisible());
    QTest::mouseClick(clear, Qt::LeftButton);
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    QTRY_VERIFY(table()->isVisible());
    page_.reset();
    QTemporaryDir fresh;
    services_->reader = std::make_shared<HistoryReader>(fresh.path().toStdString());
    open();
    QSignalSpy add(page_.get(), &Page::addJobsRequested);
    QTRY_VERIFY(child<QPushButton>("historyAddJobs")->isVisible());
    QTest::mouseClick(child<QPushButton>("historyAddJobs"), Qt::LeftButton);
    QCOMPARE(add.count(), 1);
}

void HistoryPageTest::withoutHistoryItSaysSo() {
    auto reader = std::exchange(services_->reader, nullptr);
    open();
    QVERIFY(!table()->isVisible());
    services_->reader = reader;
    emit services_->started();
    QTRY_COMPARE(table()->model()->rowCount(), 600);
    QTRY_VERIFY(table()->isVisible());
}

void HistoryPageTest::widthsAreRemembered() {
    open();
    table()->setColumnWidth(HistoryModel::DeviceColumn, 133);
    table()->sortByColumn(HistoryModel::RunColumn, Qt::AscendingOrder);
    page_->saveState();
    page_.reset();
    open();
    QCOMPARE(table()->columnWidth(HistoryModel::DeviceColumn), 133);
    QTRY_VERIFY(table()->model()->index(0, 0).data(HistoryModel::LoadedRole).toBool());
    QCOMPARE(table()->horizontalHeader()->sortIndicatorSection(), static_cast<int>(HistoryModel::RunColumn));
}

// Written where HETEROSCOPE_PICTURES says, to be looked at.
void HistoryPageTest::pictures() {
    const QString folder = qEnvironmentVariable("HETEROSCOPE_PICTURES");
    for (const auto& [mode, name] : {std::pair{Theme::Mode::Light, "light"}, std::pair{Theme::Mode::Dark, "dark"}}) {
        Theme::apply(*qApp, mode);
        open();
        QTRY_COMPARE(table()->model()->rowCount(), 600);
        table()->selectRow(3);
        QTRY_VERIFY(page_->findChild<JobPane*>()->isVisible());
        QTRY_VERIFY(page_->findChild<JobPane*>()->width() >= 300 && table()->width() < 700);
        QTRY_VERIFY(child<HistoryTree>("historyTree")->model()->rowCount() > 1);
        const QPixmap picture = page_->grab();
        QCOMPARE(picture.size(), QSize(1216, 724));
        if (!folder.isEmpty()) QVERIFY(picture.save(folder + QStringLiteral("/history-%1.png").arg(QLatin1String(name))));
        page_->findChild<JobPane*>()->closeRequested();
        if (!folder.isEmpty()) QVERIFY(page_->grab().save(folder + QStringLiteral("/history-wide-%1.png").arg(QLatin1String(name))));
    }
    Theme::apply(*qApp, Theme::Mode::Light);
}

QTEST_MAIN(HistoryPageTest)
#include "tst_history_page.moc"
