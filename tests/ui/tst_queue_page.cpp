#include "fake_services.h"
#include "queue_samples.h"
#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/job_pane.h"
#include "ui/queue/queue_page.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace heteroscope;

Q_DECLARE_METATYPE(QList<quint64>)

class TestQueuePage : public QObject {
    Q_OBJECT
    std::unique_ptr<FakeServices> services_;
    std::unique_ptr<JobBoard> board_;
    std::unique_ptr<QueuePage> page_;

    void makePage() {
        board_ = std::make_unique<JobBoard>(*services_);
        page_ = std::make_unique<QueuePage>(PageContext{*services_, *board_});
        page_->resize(1216, 700);
        page_->show();
    }
    QTableView* table() const { return page_->findChild<QTableView*>(QStringLiteral("queueTable")); }
    QStringList cells(int column) const {
        QStringList all;
        for (int row = 0; row < table()->model()->rowCount(); ++row) all << table()->model()->index(row, column).data().toString();
        return all;
    }
    void click(const QString& button) {
        auto* widget = page_->findChild<QAbstractButton*>(button);
        QVERIFY2(widget && widget->isVisible(), qPrintable(button));
        QTest::mouseClick(widget, Qt::LeftButton);
    }
    QAction* action(const char* name) const { return page_->findChild<QAction*>(QLatin1String(name)); }
    void selectRow(int row, Qt::KeyboardModifiers modifiers = {}) {
        const QRect rect = table()->visualRect(table()->model()->index(row, 1));
        QTest::mouseClick(table()->viewport(), Qt::LeftButton, modifiers, rect.center());
    }
    std::vector<JobSnapshot> mixed() const {
        return {sampleJob(1, JobState::Running, "matmul", "n=512"), sampleJob(2, JobState::Ready), sampleJob(3, JobState::Succeeded),
                sampleJob(4, JobState::Failed), sampleJob(5, JobState::Waiting)};
    }
    /// Jobs of a one-argument kernel on a device that finishes nothing by itself.
    std::shared_ptr<FakeDevice> startHeldEngine() {
        auto device = std::make_shared<FakeDevice>(FakeServices::describe("cpu-0", "EPYC"));
        services_->startEngine({}, {device});
        return device;
    }
    static KernelPtr kernel() {
        auto made = std::make_shared<Kernel>();
        made->id = "touch";
        KernelParameter n;
        n.name = "n";
        n.defaultValue = 16;
        made->parameters = {n};
        KernelArgument x;
        x.name = "x";
        x.kind = KernelArgument::Kind::Buffer;
        x.count = "n";
        x.access = Access::ReadWrite;
        made->arguments = {x};
        made->range.global = {"n"};
        KernelVariant variant;
        variant.entry = "touch";
        variant.source.text = "kernel void touch(global float* x) { x[0] = 1; }";
        variant.source.file = "touch.cl";
        made->variants = {variant};
        return made;
    }
    void submit(std::size_t count) {
        std::vector<JobSpec> jobs(count);
        for (auto& job : jobs) job.kernel = kernel();
        bool done = false;
        services_->submit(jobs, this, [&](Result<std::vector<JobId>> answer) {
            QVERIFY2(answer, answer ? "" : answer.error().message.c_str());
            done = true;
        });
        QTRY_VERIFY(done);
        QTRY_COMPARE(table()->model()->rowCount(), static_cast<int>(count));
    }
    QString stateOf(JobId id) const { return format::stateName(board_->find(id)->state); }

private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("heteroscope-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_queue_page"));
        Theme::apply(*qApp, Theme::Mode::Light);
    }
    void init() {
        QSettings().clear();
        services_ = std::make_unique<FakeServices>();
        services_->deviceList = {FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("gpu-0", "H200", {}, DeviceKind::Gpu)};
    }
    void cleanup() {
        // A test that failed half way must not wait for launches that it held.
        for (const auto& device : services_->openDevices())
            if (auto* fake = dynamic_cast<FakeDevice*>(device.get())) fake->autoComplete(true);
        page_.reset();
        board_.reset();
        services_.reset();
    }

    void emptyQueueOffersWhatFillsIt() {
        services_->samples = {QStringLiteral("/s/squares.workload.json")};
        makePage();
        QSignalSpy add(page_.get(), &Page::addJobsRequested);
        click(QStringLiteral("emptyAdd"));
        QCOMPARE(add.size(), 1);
        QVERIFY(page_->findChild<QAbstractButton*>(QStringLiteral("emptyOpen"))->isVisible());
        auto* samples = page_->findChild<QToolButton*>(QStringLiteral("emptySamples"));
        QVERIFY(samples->isVisible());
        QSignalSpy notice(page_.get(), &Page::noticeRequested);
        emit samples->menu()->aboutToShow();
        QCOMPARE(samples->menu()->actions().size(), 1);
        samples->menu()->actions().first()->trigger();  // that file does not exist
        QTRY_COMPARE(notice.size(), 1);
        QVERIFY(notice[0][0].toString().contains(QStringLiteral("squares.workload.json")));
        QVERIFY(!table()->isVisible());
        emit services_->updated(sampleUpdate(mixed()));
        QTRY_VERIFY(table()->isVisible());
        QVERIFY(!samples->isVisible());
    }

    void chipsShowCountsAndFilter() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        auto* all = page_->findChild<QAbstractButton*>(QStringLiteral("chipAll"));
        QCOMPARE(all->text(), QStringLiteral("All 5"));
        QVERIFY(all->isChecked());
        QVERIFY(!page_->findChild<QAbstractButton*>(QStringLiteral("chip-cancelled"))->isVisible());
        click(QStringLiteral("chip-failed"));
        QCOMPARE(cells(1), QStringList{QStringLiteral("4")});
        QVERIFY(!all->isChecked());
        click(QStringLiteral("chip-running"));
        QCOMPARE(cells(1), QStringList{QStringLiteral("1")});
        click(QStringLiteral("chip-running"));  // again: all
        QCOMPARE(cells(1).size(), 5);
        click(QStringLiteral("chip-failed"));
        click(QStringLiteral("chipAll"));
        QCOMPARE(cells(1), (QStringList{QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("5"), QStringLiteral("4"), QStringLiteral("3")}));
        page_->setStateFilter({JobState::Ready, JobState::Waiting, JobState::Assigned});
        QCOMPARE(cells(1), (QStringList{QStringLiteral("2"), QStringLiteral("5")}));
        QCOMPARE(page_->subtitle(), QStringLiteral("5 jobs"));
    }

    void searchNarrowsAndSaysWhenNothingMatches() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        page_->focusSearch();
        auto* search = page_->findChild<QLineEdit*>(QStringLiteral("queueSearch"));
        QTest::keyClicks(search, QStringLiteral("matmul"));
        QTRY_COMPARE(cells(1), QStringList{QStringLiteral("1")});
        QTest::keyClicks(search, QStringLiteral(" nowhere"));
        QTRY_COMPARE(cells(1).size(), 0);
        click(QStringLiteral("showAll"));
        QTRY_COMPARE(cells(1).size(), 5);
    }

    void selectionAndPaneSurviveUpdatesAndResets() {
        makePage();
        std::vector<JobSnapshot> all;
        for (JobId id = 1; id <= 400; ++id) all.push_back(sampleJob(id, JobState::Ready));
        emit services_->updated(sampleUpdate(all));
        page_->showJob(200);
        QTRY_COMPARE(page_->findChild<JobPane*>()->job(), JobId(200));
        QVERIFY(page_->findChild<JobPane*>()->isVisible());
        for (JobId id = 2; id <= 400; id += 2) all[id - 1].state = JobState::Succeeded;  // scattered: moves rows
        emit services_->updated(sampleUpdate(all));
        QCOMPARE(page_->selectedJobs(), std::vector<JobId>{200});
        QTRY_COMPARE(page_->findChild<TokenLabel*>(QStringLiteral("paneState"))->text(), QStringLiteral("succeeded"));
        page_->setStateFilter({JobState::Succeeded});  // resets the table
        QCOMPARE(page_->selectedJobs(), std::vector<JobId>{200});
        QCOMPARE(cells(1).size(), 200);
        for (JobId id = 2; id <= 400; id += 2) all[id - 1].state = JobState::Failed;
        all[199].state = JobState::Succeeded;
        emit services_->updated(sampleUpdate(all));  // 199 rows leave, scattered: another reset
        QCOMPARE(cells(1), QStringList{QStringLiteral("200")});
        QCOMPARE(page_->selectedJobs(), std::vector<JobId>{200});
    }

    void showJobTakesOffAFilterThatHidesIt() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        page_->setStateFilter({JobState::Failed});
        page_->showJob(3);
        QCOMPARE(page_->selectedJobs(), std::vector<JobId>{3});
        QCOMPARE(cells(1).size(), 5);
        page_->showJob(4711);  // of another session
        QCOMPARE(page_->selectedJobs(), std::vector<JobId>{3});
    }

    void numbersInReasonsAreLinks() {
        makePage();
        auto jobs = mixed();
        jobs[4].reason = "#2 comes first";
        emit services_->updated(sampleUpdate(jobs));
        const QRect cell = table()->visualRect(table()->model()->index(2, 4));
        QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, QPoint(cell.left() + 12, cell.center().y()));
        QTRY_COMPARE(page_->selectedJobs(), std::vector<JobId>{2});
    }

    void actionsFitTheSelection() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        QVERIFY(!action("cancelJobs")->isEnabled());
        QVERIFY(!action("copyJobs")->isEnabled());
        selectRow(4);  // succeeded
        QVERIFY(action("copyJobs")->isEnabled() && action("compareJobs")->isEnabled());
        QVERIFY(!action("retryJobs")->isEnabled());  // no engine yet
        QSignalSpy compare(page_.get(), &Page::compareJobsRequested);
        selectRow(3, Qt::ControlModifier);
        action("compareJobs")->trigger();
        QCOMPARE(compare.size(), 1);
        QCOMPARE(compare[0][0].value<QList<quint64>>(), (QList<quint64>{4, 3}));
        action("copyJobs")->trigger();
        const QStringList lines = QGuiApplication::clipboard()->text().trimmed().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[0].startsWith(QStringLiteral("State\tJob\tKernel")));
        QVERIFY(lines[2].startsWith(QStringLiteral("succeeded\t3\tsaxpy n=1024 a=2.5\tEPYC")));
        action("runJobsAgain")->trigger();
        QCOMPARE(services_->ranAgain, (std::vector<JobId>{4, 3}));
    }

    void outlookSaysWhenTheQueueWillBeEmpty() {
        makePage();
        auto update = sampleUpdate(mixed());
        const auto said = [this] { return page_->findChild<TokenLabel*>(QStringLiteral("queueOutlook"))->text(); };
        update.emptyInSeconds = 14.2;
        emit services_->updated(update);
        QCOMPARE(said(), QStringLiteral("queue empty in 14.2\u2009s"));
        update.emptyInSeconds = -1;
        emit services_->updated(update);
        QCOMPARE(said(), QStringLiteral("when the queue will be empty is not known yet"));
        update.paused = true;
        emit services_->updated(update);
        QCOMPARE(said(), QStringLiteral("queue is paused"));
        emit services_->updated(sampleUpdate({sampleJob(1, JobState::Succeeded)}));
        QCOMPARE(said(), QString());
    }

    void prioritiesAndCancelReachTheEngine() {
        const auto device = startHeldEngine();
        makePage();
        submit(4);
        QVERIFY(device->waitForLaunches(1));
        QTRY_COMPARE(stateOf(1), QStringLiteral("running"));
        // The last in the queue: raised, set, lowered, then cancelled with the Delete key.
        page_->showJob(4);
        QTest::keyClick(table(), Qt::Key_Up, Qt::ControlModifier);
        QTRY_COMPARE(board_->find(4)->priority, 1);
        action("setPriority")->trigger();
        auto* ask = page_->findChild<QInputDialog*>();
        QVERIFY(ask);
        ask->setIntValue(7);
        ask->accept();
        page_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(page_.get()));
        QTRY_COMPARE(board_->find(4)->priority, 7);
        action("lowerPriority")->trigger();
        QTRY_COMPARE(board_->find(4)->priority, 6);
        QTest::keyClick(table(), Qt::Key_Delete);
        QTRY_COMPARE(stateOf(4), QStringLiteral("cancelled"));
        QVERIFY(page_->findChild<QMessageBox*>() == nullptr);
        // A running one is asked about first; "Keep them" keeps it.
        page_->showJob(1);
        QTest::keyClick(table(), Qt::Key_Delete);
        auto* box = page_->findChild<QMessageBox*>();
        QVERIFY(box && box->text().contains(QStringLiteral("#1")));
        box->reject();
        QCOMPARE(stateOf(1), QStringLiteral("running"));
        QTRY_VERIFY(page_->findChild<QMessageBox*>() == nullptr);
        page_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(page_.get()));
        QTest::keyClick(table(), Qt::Key_Delete);
        box = page_->findChild<QMessageBox*>();
        QVERIFY(box);
        QAbstractButton* yes = nullptr;
        for (QAbstractButton* button : box->buttons())
            if (box->buttonRole(button) == QMessageBox::AcceptRole) yes = button;
        QTest::mouseClick(yes, Qt::LeftButton);
        device->autoComplete(true);
        QTRY_COMPARE(stateOf(1), QStringLiteral("cancelled"));
        QVERIFY(!board_->find(1)->reason.empty());
        // Retry of what was cancelled.
        page_->showJob(4);
        QTRY_VERIFY(action("retryJobs")->isEnabled());
        action("retryJobs")->trigger();
        QTRY_COMPARE(stateOf(4), QStringLiteral("succeeded"));
    }

    void savedQueueOpensAgain() {
        const auto device = startHeldEngine();
        services_->catalogue = std::make_shared<const KernelCatalogue>(KernelCatalogue::load({PROJECT_DIR "/kernels"}));
        makePage();
        std::vector<JobSpec> jobs(3);
        for (auto& job : jobs) {
            job.kernel = services_->catalogue->find("saxpy");
            job.parameters = {{"n", 128}};
            job.priority = 3;
        }
        jobs[1].after = {1};
        bool done = false;
        services_->submit(jobs, this, [&](const Result<std::vector<JobId>>&) { done = true; });
        QTRY_VERIFY(done);
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("größe a.workload.json"));
        QSignalSpy notice(page_.get(), &Page::noticeRequested);
        page_->saveWorkload(file, {2, 3});  // 2 waits for 1, which is left out
        QTRY_COMPARE(notice.size(), 1);
        QCOMPARE(notice[0][0].toString(), QStringLiteral("2 jobs saved in %1.").arg(file));
        const auto read = readWorkload(file.toStdString(), *services_->catalogue);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(read->jobs.size(), std::size_t(2));
        QCOMPARE(read->jobs[0].priority, 3);
        QCOMPARE(read->jobs[0].parameters.at("n"), 128.0);
        page_->openWorkload(file);
        QTRY_COMPARE(table()->model()->rowCount(), 5);
        page_->saveWorkload(folder.filePath(QStringLiteral("no/such/folder.workload.json")), {2});
        QTRY_COMPARE(notice.size(), 2);
        QVERIFY(notice[1][0].toString().startsWith(QStringLiteral("Not saved: ")));
        device->autoComplete(true);
    }

    void stateIsRemembered() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        table()->sortByColumn(1, Qt::DescendingOrder);
        table()->setColumnWidth(3, 177);
        page_->saveState();
        page_.reset();
        board_.reset();
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        QCOMPARE(table()->columnWidth(3), 177);
        QCOMPARE(cells(1), (QStringList{QStringLiteral("5"), QStringLiteral("4"), QStringLiteral("3"), QStringLiteral("2"), QStringLiteral("1")}));
    }

    void columnsGiveWayWhereThereIsNoRoom() {
        makePage();
        emit services_->updated(sampleUpdate(mixed()));
        QVERIFY(!table()->isColumnHidden(6));
        QVERIFY(table()->isColumnHidden(9));
        page_->showJob(3);  // its pane takes some
        QVERIFY(table()->isColumnHidden(6) || table()->width() >= 800);
        page_->resize(960, 600);
        QTRY_VERIFY(table()->isColumnHidden(6) && table()->isColumnHidden(5));
        page_->resize(1700, 700);
        QTRY_VERIFY(!table()->isColumnHidden(9) && !table()->isColumnHidden(6));
    }
};

QTEST_MAIN(TestQueuePage)
#include "tst_queue_page.moc"
