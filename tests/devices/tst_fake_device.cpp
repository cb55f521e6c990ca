#include "tests/support/qt_compare.h"
#include "tests/support/fake_device.h"

#include <QTest>

#include <future>

using namespace heteroscope;

class TestFakeDevice : public QObject {
    Q_OBJECT

private slots:
    void holdsLaunchesUntilTold() {
        FakeDevice device(FakeDevice::describe("cpu-0"));
        std::vector<std::string> answers;
        for (int i = 0; i < 3; ++i) device.launch({}, [&answers](const Result<CommandTimes>& result) { answers.push_back(result ? "done" : result.error().message); });
        device.failNextLaunch({ErrorKind::LaunchFailed, "boom"});
        QVERIFY(device.waitForLaunches(3));
        QCOMPARE(device.held(), std::size_t{3});
        QVERIFY(device.finishNext());
        QCOMPARE(answers, (std::vector<std::string>{"boom"}));
        QVERIFY(device.finishNext());
        QCOMPARE(answers, (std::vector<std::string>{"boom", "done"}));
        QVERIFY(!device.finishNext(std::chrono::milliseconds(0)) || answers.size() == 3);
    }

    void losesAndClosesWithAnAnswerToEach() {
        std::vector<ErrorKind> kinds;
        {
            FakeDevice device(FakeDevice::describe("cpu-0"));
            const auto note = [&kinds](const Result<CommandTimes>& result) { kinds.push_back(result ? ErrorKind::Io : result.error().kind); };
            device.launch({}, note);
            device.launch({}, note);
            std::promise<void> lost;
            device.lose("unplugged");
            device.upload(device.allocate({}), [&](const Result<CommandTimes>& result) {
                note(result);
                lost.set_value();
            });
            lost.get_future().get();
        }
        QCOMPARE(kinds, (std::vector<ErrorKind>{ErrorKind::DeviceLost, ErrorKind::DeviceLost, ErrorKind::DeviceLost}));
        kinds.clear();
        {
            FakeDevice device(FakeDevice::describe("cpu-0"));
            device.launch({}, [&kinds](const Result<CommandTimes>& result) { kinds.push_back(result.error().kind); });
        }
        QCOMPARE(kinds, (std::vector<ErrorKind>{ErrorKind::Cancelled}));
    }

    void copiesLikeADeviceWithItsOwnMemory() {
        FakeDevice gpu(FakeDevice::describe("gpu-0", DeviceKind::Gpu));
        gpu.autoComplete(true);
        gpu.setKernel([](const Launch& launch, FakeDevice& device) {
            for (std::byte& byte : device.memory(std::get<BufferArgument>(launch.arguments[0]).buffer)) byte = std::byte{9};
        });
        std::vector<std::byte> storage(4, std::byte{1});
        const BufferId buffer = gpu.allocate(storage);
        std::promise<void> ran, back;
        gpu.upload(buffer, {});
        gpu.launch({0, "k", {BufferArgument{buffer}}, {}}, [&](const auto&) { ran.set_value(); });
        ran.get_future().get();
        QCOMPARE(storage, std::vector<std::byte>(4, std::byte{1}));  // until it is brought back
        gpu.download(buffer, [&](const auto&) { back.set_value(); });
        back.get_future().get();
        QCOMPARE(storage, std::vector<std::byte>(4, std::byte{9}));
    }

    void heldBuildsWaitAndHeldLaunchesDoNotHoldBuilds() {
        FakeDevice device(FakeDevice::describe("cpu-0"));
        device.launch({}, {});
        std::promise<Result<Program>> first, second;
        device.build({}, [&](Result<Program> program) { first.set_value(std::move(program)); });
        QVERIFY(first.get_future().get());
        device.holdBuilds(true);
        device.failNextBuild({ErrorKind::BuildFailed, "no"});
        device.build({}, [&](Result<Program> program) { second.set_value(std::move(program)); });
        QVERIFY(device.waitForBuilds(2));
        device.holdBuilds(false);
        QVERIFY(!second.get_future().get());
    }
};

QTEST_GUILESS_MAIN(TestFakeDevice)
#include "tst_fake_device.moc"
