#include "tests/support/qt_compare.h"
#include "devices/telemetry/cpu_sensors.h"
#include "devices/telemetry/cpu_usage.h"
#include "devices/telemetry/memory_usage.h"
#include "devices/telemetry/own_profile.h"
#include "devices/telemetry/self_usage.h"
#include "tests/support/fake_device.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <unistd.h>

#include <atomic>
#include <future>

using namespace heteroscope;
using namespace heteroscope::telemetry;
using namespace std::chrono_literals;

namespace {

/// A recorded "/" that a case writes line by line.
class Tree {
public:
    void write(const char* path, const QByteArray& text) {
        const QString full = folder_.filePath(QString::fromUtf8(path));
        QDir().mkpath(QFileInfo(full).path());
        QFile file(full);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    void remove(const char* path) { QVERIFY(QFile::remove(folder_.filePath(QString::fromUtf8(path)))); }
    void forbid(const char* path) { QVERIFY(QFile::setPermissions(folder_.filePath(QString::fromUtf8(path)), {})); }
    std::string root() const { return folder_.path().toStdString(); }

private:
    QTemporaryDir folder_;
};

const TimePoint t0 = TimePoint() + 1000s;

void compareNear(double actual, double expected) { QVERIFY2(std::abs(actual - expected) < 1e-9 * std::max(1.0, std::abs(expected)), qPrintable(QString::number(actual, 'g', 12))); }

}  // namespace

class TestTelemetry : public QObject {
    Q_OBJECT

private slots:
    // user nice system idle iowait irq softirq steal guest guest_nice
    void cpuUsage_data() {
        QTest::addColumn<QByteArray>("before");
        QTest::addColumn<QByteArray>("after");
        QTest::addColumn<double>("share");
        QTest::newRow("busy is not idle and not iowait") << QByteArray("cpu  100 0 100 1000 100 0 0 0 0 0\n") << QByteArray("cpu  130 10 110 1040 110 0 0 0 0 0\n") << 0.5;
        QTest::newRow("guest time is in user time already") << QByteArray("cpu  100 0 0 100 0 0 0 0 0 0\n") << QByteArray("cpu  150 0 0 150 0 0 0 0 50 0\n") << 0.5;
        QTest::newRow("iowait goes back") << QByteArray("cpu  100 0 0 100 50 0 0 0 0 0\n") << QByteArray("cpu  150 0 0 150 20 0 0 0 0 0\n") << 0.5;
        QTest::newRow("a processor is taken out") << QByteArray("cpu  900 0 0 900 0 0 0 0 0 0\n") << QByteArray("cpu  500 0 0 910 0 0 0 0 0 0\n") << 0.0;
        QTest::newRow("all busy") << QByteArray("cpu  0 0 0 7 0 0 0 0 0 0\n") << QByteArray("cpu  10 0 0 7 0 0 0 10 0 0\n") << 1.0;
        QTest::newRow("an old kernel's four fields") << QByteArray("cpu  0 0 0 0\n") << QByteArray("cpu  30 0 0 10\n") << 0.75;
    }

    void cpuUsage() {
        QFETCH(QByteArray, before);
        QFETCH(QByteArray, after);
        QFETCH(double, share);
        Tree tree;
        CpuUsage usage;
        tree.write("proc/stat", before + "cpu0 1 2 3 4\n");
        QVERIFY(!usage.sample(tree.root(), t0));  // one look says nothing
        tree.write("proc/stat", after);
        const std::optional<Reading> reading = usage.sample(tree.root(), t0 + 1s);
        QVERIFY(reading.has_value());
        QCOMPARE(reading->state, ReadingState::Known);
        compareNear(reading->value, share);
        QCOMPARE(reading->unit, std::string("ratio"));
        QCOMPARE(reading->source, std::string("/proc/stat"));
        QVERIFY(reading->taken == t0 + 1s);
        // Asked again within one tick: the value and its age, not 0.
        const std::optional<Reading> again = usage.sample(tree.root(), t0 + 1001ms);
        compareNear(again->value, share);
        QVERIFY(again->taken == t0 + 1s);
    }

    void cpuUsageThatCannotBeReadIsNoNumber() {
        Tree tree;
        CpuUsage usage;
        QCOMPARE(usage.sample(tree.root(), t0)->state, ReadingState::NotSupported);
        tree.write("proc/stat", "nonsense\n");
        QCOMPARE(usage.sample(tree.root(), t0)->state, ReadingState::NotSupported);
        tree.write("proc/stat", "cpu  0 0 0 0 0 0 0 0\n");
        usage.sample(tree.root(), t0);
        tree.write("proc/stat", "cpu  1 0 0 1 0 0 0 0\n");
        compareNear(usage.sample(tree.root(), t0 + 1s)->value, 0.5);
        tree.remove("proc/stat");
        const std::optional<Reading> stale = usage.sample(tree.root(), t0 + 2s);
        QCOMPARE(stale->state, ReadingState::Stale);
        compareNear(stale->value, 0.5);
        QVERIFY(stale->taken == t0 + 1s);
    }

    void memory() {
        Tree tree;
        tree.write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\nBuffers: 7 kB\n");
        const MemoryUsage usage = MemoryUsage::sample(tree.root(), t0);
        compareNear(usage.used.value, 400.0 * 1024);
        compareNear(usage.total.value, 1000.0 * 1024);
        QCOMPARE(usage.used.unit, std::string("B"));
        tree.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\n");  // before Linux 3.14
        QCOMPARE(MemoryUsage::sample(tree.root(), t0).used.state, ReadingState::NotSupported);
        QCOMPARE(MemoryUsage::sample(tree.root(), t0).total.state, ReadingState::Known);
        tree.remove("proc/meminfo");
        QCOMPARE(MemoryUsage::sample(tree.root(), t0).total.state, ReadingState::NotSupported);
    }

    void clock() {
        Tree tree;
        QCOMPARE(sampleCpuClock(tree.root(), t0).state, ReadingState::NotSupported);
        tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
        tree.write("sys/devices/system/cpu/cpu11/cpufreq/scaling_cur_freq", "3000000\n");
        tree.write("sys/devices/system/cpu/cpu12/online", "0\n");
        tree.write("sys/devices/system/cpu/cpufreq/scaling_cur_freq", "9000000\n");
        const Reading reading = sampleCpuClock(tree.root(), t0);
        QCOMPARE(reading.state, ReadingState::Known);
        compareNear(reading.value, 2.5e9);
        QCOMPARE(reading.unit, std::string("Hz"));
    }

    void temperature() {
        Tree tree;
        QCOMPARE(sampleCpuTemperature(tree.root(), t0).state, ReadingState::NotSupported);
        tree.write("sys/class/hwmon/hwmon0/name", "nvme\n");
        tree.write("sys/class/hwmon/hwmon0/temp1_input", "90000\n");
        QCOMPARE(sampleCpuTemperature(tree.root(), t0).state, ReadingState::NotSupported);
        tree.write("sys/class/hwmon/hwmon1/name", "coretemp\n");
        tree.write("sys/class/hwmon/hwmon1/temp1_label", "Package id 0\n");
        tree.write("sys/class/hwmon/hwmon1/temp1_input", "41000\n");
        tree.write("sys/class/hwmon/hwmon1/temp2_label", "Core 0\n");
        tree.write("sys/class/hwmon/hwmon1/temp2_input", "77000\n");
        tree.write("sys/class/hwmon/hwmon2/name", "k10temp\n");
        tree.write("sys/class/hwmon/hwmon2/temp1_label", "Tctl\n");
        tree.write("sys/class/hwmon/hwmon2/temp1_input", "39125\n");
        const Reading reading = sampleCpuTemperature(tree.root(), t0);
        compareNear(reading.value, 41.0);
        QCOMPARE(reading.unit, std::string("degC"));
        QCOMPARE(reading.source, std::string("hwmon coretemp"));
    }

    void power() {
        Tree tree;
        CpuPower power;
        QCOMPARE(power.sample(tree.root(), t0)->state, ReadingState::NotSupported);
        const auto package = [&](const char* folder, const char* name, const char* energy) {
            const std::string path = std::string("sys/class/powercap/") + folder;
            tree.write((path + "/name").c_str(), name);
            tree.write((path + "/energy_uj").c_str(), energy);
            tree.write((path + "/max_energy_range_uj").c_str(), "999999\n");
        };
        package("intel-rapl:0", "package-0\n", "100000\n");
        package("intel-rapl:0:0", "core\n", "100000\n");
        package("intel-rapl:1", "package-1\n", "900000\n");
        package("intel-rapl:2", "psys\n", "100000\n");
        QVERIFY(!power.sample(tree.root(), t0));
        package("intel-rapl:0", "package-0\n", "600000\n");
        package("intel-rapl:0:0", "core\n", "900000\n");
        package("intel-rapl:1", "package-1\n", "400000\n");  // wrapped: 500,000 on
        package("intel-rapl:2", "psys\n", "999999\n");
        std::optional<Reading> reading = power.sample(tree.root(), t0 + 500ms);
        QVERIFY(reading.has_value());
        QCOMPARE(reading->state, ReadingState::Known);
        compareNear(reading->value, 2.0);  // 1 J in half a second
        QCOMPARE(reading->unit, std::string("W"));
        // The counter stands still: that is 0 W, known.
        compareNear(power.sample(tree.root(), t0 + 1s)->value, 0.0);
        // A range that the driver does not tell cannot be unwrapped: no number.
        tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
        tree.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "\n");
        QVERIFY(!power.sample(tree.root(), t0 + 2s));
    }

    void powerWithoutPermissionIsNotZero() {
        if (geteuid() == 0) QSKIP("root may read every file");
        Tree tree;
        tree.write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
        tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
        tree.forbid("sys/class/powercap/intel-rapl:0/energy_uj");
        CpuPower power;
        QCOMPARE(power.sample(tree.root(), t0)->state, ReadingState::NoPermission);
    }

    void ownProfile() {
        OwnProfile profile;
        QVERIFY(!profile.sample(5s, t0));
        compareNear(profile.sample(5500ms, t0 + 1s)->value, 0.5);
        compareNear(profile.sample(9s, t0 + 2s)->value, 1.0);  // never above one
        compareNear(profile.sample(9s, t0 + 3s)->value, 0.0);
        compareNear(profile.sample(8s, t0 + 4s)->value, 0.0);
        QCOMPARE(profile.sample(8s, t0 + 5s)->source, std::string("own event profile"));
    }

    void samplerLabelsWhatItKnows() {
        Tree tree;
        tree.write("proc/stat", "cpu  0 0 0 0 0 0 0 0\n");
        tree.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
        const auto cpu = std::make_shared<FakeDevice>(FakeDevice::describe("cpu-0"));
        const auto cpu1 = std::make_shared<FakeDevice>(FakeDevice::describe("cpu-1"));
        auto gpu = std::make_shared<FakeDevice>(FakeDevice::describe("gpu-0", DeviceKind::Gpu));
        TelemetrySampler sampler(tree.root());
        sampler.setDevices({cpu, cpu1, gpu});
        const std::vector<TelemetryFrame> first = sampler.sampleOnce();
        QCOMPARE(first.size(), std::size_t{3});
        QVERIFY(!first[0].find(metric::utilisation));
        QVERIFY(!first[2].find(metric::computeBusy));
        tree.write("proc/stat", "cpu  1 0 0 3 0 0 0 0\n");
        const std::vector<TelemetryFrame> frames = sampler.sampleOnce();
        for (std::size_t i = 0; i < 2; ++i) {
            compareNear(frames[i].find(metric::utilisation)->value, 0.25);
            QCOMPARE(frames[i].find(metric::memoryUsed)->state, ReadingState::Known);
            QCOMPARE(frames[i].find(metric::power)->state, ReadingState::NotSupported);
        }
        QCOMPARE(frames[1].device, std::string("cpu-1"));
        QCOMPARE(frames[2].find(metric::memoryUsed)->state, ReadingState::NotSupported);
        QCOMPARE(frames[2].find(metric::temperature)->state, ReadingState::NotSupported);
        compareNear(frames[2].find(metric::memoryTotal)->value, 1073741824.0);
    }

    void aGpuWithoutACounterShowsOurOwnKernels() {
        auto gpu = std::make_shared<FakeDevice>(FakeDevice::describe("gpu-0", DeviceKind::Gpu));
        TelemetrySampler sampler;
        sampler.setDevices({gpu});
        sampler.sampleOnce();
        gpu->setLaunchDuration(1h);  // busy for all the time that passes here
        std::promise<void> ran;
        gpu->autoComplete(true);
        gpu->launch({}, [&](const auto&) { ran.set_value(); });
        ran.get_future().get();
        const TelemetryFrame* frame = nullptr;
        std::vector<TelemetryFrame> frames;
        QTRY_VERIFY((frames = sampler.sampleOnce(), frame = &frames[0], frame->find(metric::utilisation) != nullptr));
        compareNear(frame->find(metric::utilisation)->value, 1.0);
        QCOMPARE(frame->find(metric::utilisation)->source, std::string("own event profile"));
    }

    void aDeviceThatIsGoneIsLost() {
        auto gpu = std::make_shared<FakeDevice>(FakeDevice::describe("gpu-0", DeviceKind::Gpu));
        TelemetrySampler sampler;
        sampler.setDevices({gpu});
        sampler.sampleOnce();
        gpu.reset();
        const std::vector<TelemetryFrame> frames = sampler.sampleOnce();
        QCOMPARE(frames.size(), std::size_t{1});
        QCOMPARE(frames[0].device, std::string("gpu-0"));
        QCOMPARE(frames[0].find(metric::utilisation)->state, ReadingState::Lost);
        QCOMPARE(frames[0].find(metric::computeBusy)->state, ReadingState::Lost);
        QCOMPARE(frames[0].find(metric::memoryUsed)->state, ReadingState::Lost);
    }

    void samplesThisMachine() {
        TelemetrySampler sampler;
        const auto cpu = std::make_shared<FakeDevice>(FakeDevice::describe("cpu-0"));
        sampler.setDevices({cpu});
        sampler.sampleOnce();
        std::vector<TelemetryFrame> frames;
        QTRY_VERIFY((frames = sampler.sampleOnce(), frames[0].find(metric::utilisation) != nullptr));
        const Reading& utilisation = *frames[0].find(metric::utilisation);
        QVERIFY(utilisation.value >= 0 && utilisation.value <= 1);
        const double used = frames[0].find(metric::memoryUsed)->value, total = frames[0].find(metric::memoryTotal)->value;
        QVERIFY(used > 1e6 && used < total && total < 1e15);
    }

    void runsOnItsOwnThreadAndStopsAtOnce() {
        TelemetrySampler sampler;
        const auto cpu = std::make_shared<FakeDevice>(FakeDevice::describe("cpu-0"));
        sampler.setDevices({cpu});
        std::atomic<int> rounds{0};
        std::thread::id where;
        sampler.start(10ms, [&](const std::vector<TelemetryFrame>& frames) {
            if (frames.size() == 1) ++rounds;
            where = std::this_thread::get_id();
        });
        QTRY_VERIFY(rounds >= 3);
        sampler.start(1h, [&](const auto&) { ++rounds; });  // another rhythm; the first round comes at once
        const int before = rounds;
        QTRY_VERIFY(rounds > before || rounds > 3);
        const auto asked = std::chrono::steady_clock::now();
        sampler.stop();
        QVERIFY(std::chrono::steady_clock::now() - asked < 1s);
        QVERIFY(where != std::this_thread::get_id());
        const int after = rounds;
        sampler.stop();
        QCOMPARE(rounds.load(), after);
    }

    void aListenerMayStopItsSampler() {
        std::atomic<int> rounds{0};
        TelemetrySampler sampler;
        sampler.start(10ms, [&](const auto&) {
            ++rounds;
            sampler.stop();
        });
        QTRY_VERIFY(rounds == 1);
        sampler.start(10ms, [&](const auto&) { ++rounds; });
        QTRY_VERIFY(rounds > 3);
    }

    void selfUsage() {
        SelfUsage usage;
        const SelfUsage::Values first = usage.sample();
        QVERIFY(!first.cpuShare);
        QVERIFY(first.residentBytes && *first.residentBytes > 1'000'000 && *first.residentBytes < 4'000'000'000);
        // One thread that works without a pause for 100 ms of processor time.
        const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 10;
        while (std::clock() < end) {
        }
        const SelfUsage::Values second = usage.sample();
        QVERIFY(second.cpuShare && *second.cpuShare > 0.05 && *second.cpuShare < 64);
    }
};

QTEST_GUILESS_MAIN(TestTelemetry)
#include "tst_telemetry.moc"
