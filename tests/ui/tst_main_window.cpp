#include "fake_services.h"
#include "ui/main_window.h"
#include "ui/queue/add_jobs_dialog.h"
#include "ui/widgets/header_bar.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/notice_strip.h"
#include "ui/widgets/status_line.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryFile>
#include <QTest>
#include <QUrl>

using namespace heteroscope;

namespace {

QPushButton* button(const QWidget& in, const QString& text) {
    for (auto* each : in.findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible()) return each;
    return nullptr;
}

}  // namespace

class MainWindowTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("heteroscope-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_main_window"));
        Theme::apply(*qApp, Theme::Mode::Light);
    }
    void init() { QSettings().clear(); }

    void isWholeBeforeAnythingWasAsked() {
        FakeServices services;
        services.discoveringNow = true;
        MainWindow window(services);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QCOMPARE(window.pages().size(), 5);
        const QStringList titles{QStringLiteral("Monitor"), QStringLiteral("Queue"), QStringLiteral("Compare"), QStringLiteral("History"), QStringLiteral("Devices")};
        for (int i = 0; i < 5; ++i) QCOMPARE(window.pages()[i]->title(), titles[i]);
        QVERIFY(!window.findChild<HeaderBar*>()->policyBox()->isEnabled());
    }

    void keysSwitchPages() {
        FakeServices services;
        MainWindow window(services);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        for (int i = 4; i >= 0; --i) {
            QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_1 + i), Qt::ControlModifier);
            QCOMPARE(window.currentPage(), i);
        }
    }

    void policyAndPauseReachTheEngine() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC")};
        MainWindow window(services);
        window.show();
        services.startEngine();
        auto* header = window.findChild<HeaderBar*>();
        QTRY_VERIFY(header->policyBox()->isEnabled());
        QTRY_COMPARE(header->policyBox()->currentText(), QStringLiteral("mct"));
        const int fifo = header->policyBox()->findText(QStringLiteral("fifo"));
        QVERIFY(fifo >= 0);
        header->policyBox()->setCurrentIndex(fifo);
        emit header->policyBox()->textActivated(QStringLiteral("fifo"));
        QTRY_COMPARE(QString::fromStdString(services.liveEngine->policy()), QStringLiteral("fifo"));
        QTest::mouseClick(header->pauseButton(), Qt::LeftButton);
        QTRY_VERIFY(services.liveEngine->paused());
        QTRY_COMPARE(header->pauseButton()->accessibleName(), QStringLiteral("Resume the queue"));
        QTest::mouseClick(header->pauseButton(), Qt::LeftButton);
        QTRY_VERIFY(!services.liveEngine->paused());
    }

    void countsAreLinksToTheQueue() {
        FakeServices services;
        MainWindow window(services);
        window.show();
        EngineUpdate update;
        update.counts[static_cast<std::size_t>(JobState::Waiting)] = 29;
        update.counts[static_cast<std::size_t>(JobState::Ready)] = 12;
        update.counts[static_cast<std::size_t>(JobState::Succeeded)] = 1204;
        emit services.updated(update);
        QStringList shown;
        for (auto* link : window.findChild<StatusLine*>()->findChildren<LinkButton*>())
            if (link->isVisible()) shown << link->text();
        QCOMPARE(shown, (QStringList{QStringLiteral("41 queued"), QStringLiteral("1,204 done")}));
        window.showPage(MainWindow::MonitorIndex);
        window.findChild<StatusLine*>()->link(2)->click();
        QCOMPARE(window.currentPage(), static_cast<int>(MainWindow::QueueIndex));
    }

    void problemsShowTheirRemedyUntilDismissed() {
        FakeServices services;
        services.problemList = {{"No OpenCL platform.", "sudo apt install pocl-opencl-icd"}};
        {
            MainWindow window(services);
            window.show();
            QCOMPARE(window.notices().count(), 1);
            QTest::mouseClick(button(window.notices(), QStringLiteral("Rescan")), Qt::LeftButton);
            QCOMPARE(services.rescans, 1);
            QCOMPARE(window.notices().count(), 1);
            QTest::mouseClick(button(window.notices(), QStringLiteral("Dismiss")), Qt::LeftButton);
            QCOMPARE(window.notices().count(), 0);
        }
        MainWindow again(services);
        QCOMPARE(again.notices().count(), 0);  // a person said it once
    }

    void lostDeviceComesAndGoes() {
        FakeServices services;
        MainWindow window(services);
        EngineUpdate update;
        update.problems = {{"cpu-1 was lost.", "Rescan."}};
        emit services.updated(update);
        emit services.updated(update);
        QCOMPARE(window.notices().count(), 1);
        update.problems.clear();
        emit services.updated(update);
        QCOMPARE(window.notices().count(), 0);
    }

    void leftJobsAreResumedOrDroppedAfterAQuestion() {
        FakeServices services;
        services.left = {LeftJob{7, JobState::Waiting, "saxpy", "{}", {}}, LeftJob{8, JobState::Waiting, "saxpy", "{}", {}}};
        MainWindow window(services);
        window.show();
        emit services.leftJobsChanged();
        QCOMPARE(window.notices().notices().front().text, QStringLiteral("2 jobs were left by a session that ended."));
        QTest::mouseClick(button(window.notices(), QStringLiteral("Drop…")), Qt::LeftButton);
        QCOMPARE(services.drops, 0);
        QTest::mouseClick(button(window.notices(), QStringLiteral("Keep")), Qt::LeftButton);
        QTest::mouseClick(button(window.notices(), QStringLiteral("Drop…")), Qt::LeftButton);
        QTest::mouseClick(button(window.notices(), QStringLiteral("Drop")), Qt::LeftButton);
        QCOMPARE(services.drops, 1);
        QCOMPARE(window.notices().count(), 0);
    }

    void startFailureIsSaid() {
        FakeServices services;
        MainWindow window(services);
        emit services.startFailed(QStringLiteral("/data: read-only file system"));
        QCOMPARE(window.notices().notices().front().remedy, QStringLiteral("/data: read-only file system"));
    }

    void droppedSourceOpensAddJobs() {
        FakeServices services;
        MainWindow window(services);
        window.show();
        QTemporaryFile file(QDir::tempPath() + QStringLiteral("/mine-XXXXXX.cl"));
        QVERIFY(file.open());
        file.write("__kernel void k(__global float* x) { x[get_global_id(0)] = 1; }\n");
        file.close();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file.fileName())});
        QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &drop);
        QVERIFY(window.findChild<AddJobsDialog*>());
        window.openFiles({QStringLiteral("/nowhere/x.workload.json")});
        QVERIFY(window.notices().notices().front().text.contains(QStringLiteral("/nowhere/x.workload.json")));
    }

    void pageAndThemeAreRemembered() {
        FakeServices services;
        {
            MainWindow window(services);
            window.show();
            window.showPage(MainWindow::DevicesIndex);
            window.chooseTheme(Theme::Mode::Dark);
            window.close();
        }
        Theme::apply(*qApp, Theme::Mode::Light);
        MainWindow window(services);
        QCOMPARE(window.currentPage(), static_cast<int>(MainWindow::DevicesIndex));
        QVERIFY(Theme::isDark());
        QCOMPARE(MainWindow::chosenTheme(), Theme::Mode::Dark);
        Theme::apply(*qApp, Theme::Mode::Light);
    }

    void everyPageShowsInBothThemesAndSizes() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC", "cpu"), FakeServices::describe("cpu-1", "EPYC", "cpu")};
        MainWindow window(services);
        window.show();
        services.startEngine();
        for (const auto mode : {Theme::Mode::Dark, Theme::Mode::Light}) {
            window.chooseTheme(mode);
            for (const QSize size : {QSize(1024, 640), QSize(1600, 1000)}) {
                window.resize(size);
                for (int page = 0; page < window.pages().size(); ++page) {
                    window.showPage(page);
                    QCoreApplication::processEvents();
                    const QImage picture = window.grab().toImage();
                    QVERIFY(picture.width() >= size.width());
                    QCOMPARE(picture.pixelColor(picture.width() - 3, 20), Theme::color(Token::Card));  // the header reaches the edge
                }
            }
        }
    }
};

QTEST_MAIN(MainWindowTest)
#include "tst_main_window.moc"
