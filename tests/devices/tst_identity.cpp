#include "devices/identity.h"
#include "devices/machine.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace heteroscope;

namespace {

ReportedDevice device(std::size_t platform, DeviceKind kind, std::optional<std::string> uuid, std::optional<std::string> pci = {}) {
    ReportedDevice reported;
    reported.platform = platform;
    reported.info.kind = kind;
    reported.info.uuid = std::move(uuid);
    reported.info.pciAddress = std::move(pci);
    return reported;
}

void write(const QString& path, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

}  // namespace

class TestIdentity : public QObject {
    Q_OBJECT

private slots:
    void namesInOneOrTwoWords_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("cpu");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, bool cpu, const char* expected) { QTest::newRow(name) << QString::fromUtf8(name) << cpu << QString::fromUtf8(expected); };
        row("AMD EPYC", true, "EPYC");
        row("AMD EPYC 9354 32-Core Processor", true, "EPYC");
        row("AMD Ryzen 9 7950X 16-Core Processor", true, "Ryzen 9");
        row("13th Gen Intel(R) Core(TM) i7-13700K", true, "Core i7-13700K");
        row("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", true, "Xeon");
        row("NVIDIA H200", false, "H200");
        row("NVIDIA A100-SXM4-80GB", false, "A100");
        row("NVIDIA GeForce RTX 4090", false, "RTX 4090");
        row("Tesla V100-SXM2-16GB", false, "V100");
        row("AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 15)", false, "RX 7900");
        row("Intel(R) UHD Graphics 770", false, "UHD 770");
        row("gfx90a:sramecc+:xnack-", false, "gfx90a");
        row("Processor", true, "Processor");
        row("", false, "");
    }

    void namesInOneOrTwoWords() {
        QFETCH(QString, name);
        QFETCH(bool, cpu);
        QTEST(QString::fromStdString(shortNameOf(name.toStdString(), cpu ? DeviceKind::Cpu : DeviceKind::Gpu)), "expected");
    }

    void oneGpuThroughTwoPlatformsIsOneDevice() {
        const std::vector<ReportedDevice> reported{device(0, DeviceKind::Cpu, {}), device(1, DeviceKind::Gpu, "bfbb77380000", "0000:17:00.0"),
                                                   device(2, DeviceKind::Gpu, "bfbb77380000"), device(2, DeviceKind::Gpu, {}, "0000:17:00.0"),
                                                   device(3, DeviceKind::Gpu, {}, "0000:65:00.0")};
        QCOMPARE(physicalDevices(reported), (std::vector<std::size_t>{0, 1, 1, 1, 4}));
    }

    void devicesThatReportNothingStayApart() {
        const std::vector<ReportedDevice> reported{device(0, DeviceKind::Gpu, {}), device(1, DeviceKind::Gpu, {})};
        QCOMPARE(physicalDevices(reported), (std::vector<std::size_t>{0, 1}));
    }

    void devicesOfOnePlatformStayApart() {
        // two MIG instances of one card share its PCI address
        const std::vector<ReportedDevice> reported{device(0, DeviceKind::Gpu, {}, "0000:17:00.0"), device(0, DeviceKind::Gpu, {}, "0000:17:00.0")};
        QCOMPARE(physicalDevices(reported), (std::vector<std::size_t>{0, 1}));
    }

    void aUuidThatDiffersOutweighsTheAddress() {
        const std::vector<ReportedDevice> reported{device(0, DeviceKind::Gpu, "aa", "0000:17:00.0"), device(1, DeviceKind::Gpu, "bb", "0000:17:00.0")};
        QCOMPARE(physicalDevices(reported), (std::vector<std::size_t>{0, 1}));
    }

    void idsAreStableAndUnique() {
        std::vector<ReportedDevice> reported{device(0, DeviceKind::Cpu, {}), device(0, DeviceKind::Cpu, {}), device(1, DeviceKind::Gpu, "bfbb7738aa11"),
                                             device(1, DeviceKind::Gpu, "bfbb7738bb22"), device(1, DeviceKind::Gpu, {}, "0000:17:00.0"),
                                             device(1, DeviceKind::Gpu, {}), device(1, DeviceKind::Accelerator, {})};
        std::vector<DeviceInfo*> infos;
        for (ReportedDevice& one : reported) infos.push_back(&one.info);
        identify(infos, "AMD EPYC 9354 32-Core Processor");
        std::vector<std::string> ids;
        for (const DeviceInfo* info : infos) ids.push_back(info->id);
        QCOMPARE(ids, (std::vector<std::string>{"cpu-0", "cpu-1", "gpu-bfbb7738", "gpu-bfbb7738-2", "gpu-0000-17-00.0", "gpu-3", "accelerator-0"}));
        QCOMPARE(infos[0]->name, std::string("AMD EPYC 9354 32-Core Processor"));
        QCOMPARE(infos[0]->processor, infos[1]->processor);
        QVERIFY(infos[2]->processor != infos[3]->processor);
    }

    void readsTheProcessorsName() {
        QCOMPARE(cpuNameFrom("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9354 32-Core Processor \nflags : a"), std::string("AMD EPYC 9354 32-Core Processor"));
        QCOMPARE(cpuNameFrom("processor : 0\nCPU part : 0xd0c\n"), std::string());
    }

    void looksAtARecordedMachine() {
        QTemporaryDir root;
        write(root.filePath(QStringLiteral("etc/os-release")), "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
        const QString pci = root.filePath(QStringLiteral("sys/bus/pci/devices/"));
        write(pci + QStringLiteral("0000:17:00.0/class"), "0x030200\n");
        write(pci + QStringLiteral("0000:17:00.0/vendor"), "0x10de\n");
        write(pci + QStringLiteral("0000:00:02.0/class"), "0x030000\n");
        write(pci + QStringLiteral("0000:00:02.0/vendor"), "0x1234\n");  // an emulated card
        write(pci + QStringLiteral("0000:01:00.0/class"), "0x020000\n");
        write(pci + QStringLiteral("0000:01:00.0/vendor"), "0x8086\n");  // a network card
        write(root.filePath(QStringLiteral("usr/local/nvidia/lib64/libnvidia-opencl.so.1")), "");
        const Machine machine = Machine::look(root.path().toStdString());
        QVERIFY(machine.usesApt);
        QCOMPARE(machine.gpus.size(), std::size_t{1});
        QCOMPARE(machine.gpus[0].address, std::string("0000:17:00.0"));
        QCOMPARE(machine.gpus[0].vendor, std::string("NVIDIA"));
        QVERIFY(machine.nvidiaOpenCl.ends_with("/usr/local/nvidia/lib64/libnvidia-opencl.so.1"));
        QVERIFY(machine.install("pocl-opencl-icd").ends_with("apt install pocl-opencl-icd"));
    }

    void namesNoAptWhereThereIsNone() {
        QTemporaryDir root;
        write(root.filePath(QStringLiteral("etc/os-release")), "ID=fedora\n");
        const Machine machine = Machine::look(root.path().toStdString());
        QVERIFY(!machine.usesApt);
        QVERIFY(machine.install("pocl-opencl-icd").find("apt") == std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestIdentity)
#include "tst_identity.moc"
