#include "fake_services.h"
#include "ui/devices/device_text.h"
#include "ui/devices/devices_page.h"
#include "ui/monitor/bands_view.h"
#include "ui/monitor/device_card.h"
#include "ui/monitor/metric_chart.h"
#include "ui/monitor/monitor_page.h"
#include "ui/monitor/readings_row.h"
#include "ui/theme.h"

#include <QApplication>
#include <QChart>
#include <QClipboard>
#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QTest>

using namespace heteroscope;

namespace {

TelemetryFrame frame(const std::string& device, std::int64_t atMs, double utilisation) {
    TelemetryFrame out;
    out.device = device;
    out.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(atMs));
    out.readings = {{metric::utilisation, {ReadingState::Known, utilisation, "ratio", "test", std::chrono::steady_clock::now()}},
                    {metric::power, {ReadingState::NoPermission, 0, "W", "/sys/class/powercap/x/energy_uj", {}}}};
    return out;
}

template <class T>
bool hasText(const QWidget& page, const QString& part) {
    for (const auto* each : page.findChildren<T*>())
        if (each->isVisible() && each->text().contains(part)) return true;
    return false;
}

QPushButton* button(const QWidget& page, const QString& text) {
    for (auto* each : page.findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible()) return each;
    return nullptr;
}

}  // namespace

class MonitorTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("heteroscope-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_monitor"));
        Theme::apply(*qApp, Theme::Mode::Light);
    }

    void devicesOfOneProcessorShareACard() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC", "cpu"), FakeServices::describe("cpu-1", "EPYC", "cpu"),
                               FakeServices::describe("gpu-1", "H200", {}, DeviceKind::Gpu)};
        JobBoard board(services);
        MonitorPage page({services, board}, nullptr);
        QCOMPARE(page.cards().size(), std::size_t{2});
        QVERIFY(page.cards()[0]->watches("cpu-0") && page.cards()[0]->watches("cpu-1"));
        QVERIFY(page.cards()[1]->watches("gpu-1"));
        QCOMPARE(page.subtitle(), QStringLiteral("3 devices"));
    }

    void bandsAndChartShareTheirAxis() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC")};
        JobBoard board(services);
        MonitorPage page({services, board}, nullptr);
        page.resize(1216, 700);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
        EngineUpdate update;
        JobSnapshot job;
        job.id = 5;
        job.kernel = "matmul";
        job.device = "cpu-0";
        job.state = JobState::Succeeded;
        job.times.started = (now - 120'000) * 1'000'000;
        job.times.finished = job.times.ended = (now - 60'000) * 1'000'000;
        update.jobs = {job};
        emit services.updated(update);
        emit services.telemetryTaken({frame("cpu-0", now - 1000, 0.25)});
        emit services.telemetryTaken({frame("cpu-0", now, 0.5)});
        page.setRange(1);
        page.refreshNow();
        const auto& card = *page.cards().front();
        const PlotGeometry plot = card.chart().geometryOfPlot();
        const auto& boxes = card.bandsView().boxes(0);
        QCOMPARE(boxes.size(), std::size_t{1});
        QVERIFY(std::abs(boxes[0].left - plot.x(static_cast<double>(now - 120'000))) < 0.01);
        QVERIFY(std::abs(boxes[0].right - plot.x(static_cast<double>(now - 60'000))) < 0.01);
        // And where Qt Charts itself puts a point, after the range has moved.
        page.refreshNow();
        QCoreApplication::processEvents();
        const PlotGeometry moved = card.chart().geometryOfPlot();
        auto* chart = card.chart().chart();
        const QPointF drawn = chart->mapToPosition(QPointF(static_cast<double>(now - 60'000), 0.5), chart->series().constLast());
        QVERIFY2(std::abs(drawn.x() - moved.x(static_cast<double>(now - 60'000))) < 0.5, qPrintable(QString::number(drawn.x())));
        QVERIFY(moved.left == 48.0);
        QCOMPARE(card.bandsView().x(), card.chart().x());  // both start at the same pixel
        QCOMPARE(card.bandsView().width(), card.chart().width());
        QCOMPARE(card.readings().readings()[0].value, QStringLiteral("50"));
        QCOMPARE(card.readings().readings()[2].state, QStringLiteral("no permission"));
        QVERIFY(card.wordsAt(static_cast<double>(now)).startsWith(QStringLiteral("EPYC 50")));
        QVERIFY(card.wordsAt(static_cast<double>(now - 90'000)).contains(QStringLiteral("matmul #5")));
    }

    void freezeHoldsTheTimeAxis() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC")};
        JobBoard board(services);
        MonitorPage page({services, board}, nullptr);
        page.resize(1000, 600);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QTest::keyClick(&page, Qt::Key_Space);
        QVERIFY(page.isFrozen());
        page.refreshNow();
        const double end = page.cards().front()->chart().geometryOfPlot().toMs;
        QTRY_VERIFY(QDateTime::currentMSecsSinceEpoch() > static_cast<qint64>(end) + 5);
        page.refreshNow();
        QCOMPARE(page.cards().front()->chart().geometryOfPlot().toMs, end);
        QTest::keyClick(&page, Qt::Key_Space);
        QVERIFY(!page.isFrozen());
        page.refreshNow();
        QVERIFY(page.cards().front()->chart().geometryOfPlot().toMs > end);
    }

    void noDeviceShowsTheRemedyOfThisMachine() {
        FakeServices services;
        services.problemList = {{"No OpenCL platform is installed.", "sudo apt install pocl-opencl-icd"}};
        JobBoard board(services);
        MonitorPage page({services, board}, nullptr);
        page.resize(1000, 600);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QVERIFY(hasText<QLabel>(page, QStringLiteral("sudo apt install pocl-opencl-icd")));
        auto* rescan = button(page, QStringLiteral("Rescan"));
        QVERIFY(rescan);
        QTest::mouseClick(rescan, Qt::LeftButton);
        QCOMPARE(services.rescans, 1);
        services.setDevices({FakeServices::describe("cpu-0", "EPYC")});
        QCOMPARE(page.cards().size(), std::size_t{1});
        QVERIFY(!button(page, QStringLiteral("Rescan")));
    }

    void hiddenPageDrawsNothing() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC")};
        JobBoard board(services);
        MonitorPage page({services, board}, nullptr);
        emit services.telemetryTaken({frame("cpu-0", QDateTime::currentMSecsSinceEpoch(), 0.5)});
        QCOMPARE(page.cards().front()->readings().readings()[0].value, QStringLiteral("—"));  // not refreshed
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QCOMPARE(page.cards().front()->readings().readings()[0].value, QStringLiteral("50"));  // but kept
    }

    void devicesPageTellsEverything() {
        FakeServices services;
        auto device = FakeServices::describe("cpu-0", "EPYC");
        device.localMemoryBytes = 512 * 1024;
        device.clockMegahertz.reset();
        device.extensions = {"cl_khr_fp64", "cl_khr_spir"};
        services.deviceList = {device};
        services.problemList = {{"No NVIDIA driver.", "Install nvidia-driver."}};
        JobBoard board(services);
        DevicesPage page({services, board}, nullptr);
        page.resize(1000, 700);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QVERIFY(hasText<QLabel>(page, QStringLiteral("512") + QChar(0x2009) + QStringLiteral("KiB")));
        QVERIFY(hasText<QLabel>(page, QStringLiteral("Install nvidia-driver.")));
        QVERIFY(deviceFacts(device).contains({QStringLiteral("Clock"), QStringLiteral("—")}));
        QVERIFY(deviceText(device).contains(QStringLiteral("cl_khr_fp64 cl_khr_spir")));
        const auto json = QJsonDocument::fromJson(page.reportJson().toUtf8()).object();
        const auto first = json[QStringLiteral("devices")].toArray().at(0).toObject();
        QCOMPARE(first[QStringLiteral("local_memory_bytes")].toInteger(), 512 * 1024);
        QVERIFY(first[QStringLiteral("clock_mhz")].isNull());
        QCOMPARE(json[QStringLiteral("problems")].toArray().at(0).toObject()[QStringLiteral("fix")].toString(), QStringLiteral("Install nvidia-driver."));
        QTest::mouseClick(button(page, QStringLiteral("Rescan")), Qt::LeftButton);
        QCOMPARE(services.rescans, 1);
    }
};

QTEST_MAIN(MonitorTest)
#include "tst_monitor.moc"
