#include "devices/null/null_device.h"

#include <QTest>

#include <future>

using namespace heteroscope;

class TestNullDevice : public QObject {
    Q_OBJECT

private slots:
    void answersEverythingInOrder() {
        std::vector<int> order;
        {
            NullDevice device;
            const BufferId buffer = device.allocate({});
            for (int i = 0; i < 1000; ++i) {
                const auto note = [&order, i](const Result<CommandTimes>& result) { order.push_back(result ? i : -1); };
                if (i % 3 == 0) device.upload(buffer, note);
                if (i % 3 == 1) device.launch({}, note);
                if (i % 3 == 2) device.download(buffer, note);
            }
        }
        QCOMPARE(order.size(), std::size_t{1000});
        for (int i = 0; i < 1000; ++i) QCOMPARE(order[static_cast<std::size_t>(i)], i);
    }

    void listsTheKernelsOfAText() {
        NullDevice device;
        std::promise<Program> answer;
        ProgramSource source;
        source.text = "__kernel void saxpy(uint n, float a, __global const float* restrict x, __global float* y, __local float* tile) {}\nint helper(int a);\nkernel void b() {}";
        device.build(source, [&](Result<Program> program) { answer.set_value(*program); });
        const Program program = answer.get_future().get();
        QCOMPARE(program.entries.size(), std::size_t{2});
        QCOMPARE(program.entries[0].name, std::string("saxpy"));
        QCOMPARE(program.entries[0].arguments.size(), std::size_t{5});
        QCOMPARE(program.entries[0].arguments[2].type, std::string("float*"));
        QVERIFY(program.entries[0].arguments[2].space == AddressSpace::Global);
        QVERIFY(program.entries[0].arguments[4].space == AddressSpace::Local);
        QVERIFY(program.entries[1].arguments.empty());
    }

    void callbacksMayGiveMore() {
        std::promise<void> done;
        NullDevice device;
        int left = 100;
        std::function<void(Result<CommandTimes>)> again = [&](const Result<CommandTimes>&) {
            if (--left == 0) {
                done.set_value();
            } else {
                device.launch({}, again);
            }
        };
        device.launch({}, again);
        QVERIFY(done.get_future().wait_for(std::chrono::seconds(5)) == std::future_status::ready);
    }
};

QTEST_GUILESS_MAIN(TestNullDevice)
#include "tst_null_device.moc"
