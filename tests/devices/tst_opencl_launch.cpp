#include "tests/support/qt_compare.h"
#include "tests/devices/sync_device.h"

#include <QTest>

#include <algorithm>
#include <condition_variable>
#include <numeric>
#include <thread>

using namespace heteroscope;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char* const square = "__kernel void square(__global const float* x, __global float* y, float a) { size_t i = get_global_id(0); y[i] = a * x[i] * x[i]; }\n";

/// Works for about a second on one work-item, whatever the device.
const char* const longWork =
    "__kernel void work(__global uint* x, uint rounds) { uint s = x[0]; for (uint i = 0; i < rounds; ++i) s = s * 1664525u + 1013904223u + (s >> 7); x[0] = s; }\n";

class Bench {
public:
    Bench(Device& device, const char* text, std::vector<std::string> options = {}) : device_(device) {
        const Result<Program> built = buildNow(device, sourceOf(text, "mine.cl", std::move(options)));
        if (built) {
            program_ = *built;
        } else {
            error = built.error().message;
        }
    }

    Launch launch(const std::string& entry, std::vector<LaunchArgument> arguments, NDRange range) const { return {program_.id, entry, std::move(arguments), range}; }

    /// The message of the refusal; empty when the launch ran.
    std::string refusal(const std::string& entry, std::vector<LaunchArgument> arguments, NDRange range, ErrorKind kind = ErrorKind::InvalidInput) const {
        const Result<CommandTimes> ran = launchNow(device_, launch(entry, std::move(arguments), range));
        if (ran) return {};
        return ran.error().kind == kind ? ran.error().message : "wrong kind: " + std::string(toString(ran.error().kind)) + ": " + ran.error().message;
    }

    std::string error;

private:
    Device& device_;
    Program program_;
};

NDRange range2(std::size_t g0, std::size_t g1, std::size_t l0, std::size_t l1) {
    NDRange range;
    range.dimensions = 2;
    range.global = {g0, g1, 1};
    range.local = {l0, l1, 0};
    return range;
}

}  // namespace

/// Every case on every device there is, computing in the caller's memory and with explicit copies.
class TestOpenClLaunch : public QObject {
    Q_OBJECT

private:
    std::vector<std::shared_ptr<Device>> devices_;

private slots:
    void initTestCase() {
        devices_ = openDevices();
        QCOMPARE(devices_.size(), std::size_t{2});  // PoCL's pthread and basic
        for (const auto& device : devices_) QVERIFY(device->info().sharesHostMemory);
        for (const auto& device : openDevices({false, std::chrono::seconds(60)})) devices_.push_back(device);
        QVERIFY(!devices_.back()->info().sharesHostMemory);
    }

    void computes() {
        for (const auto& device : devices_) {
            const Bench bench(*device, square);
            QCOMPARE(bench.error, std::string());
            constexpr std::size_t n = 10007;
            const Pages x(n * 4), y(n * 4);
            std::iota(x.as<float>(), x.as<float>() + n, 0.0f);
            const BufferId bx = device->allocate(x.bytes()), by = device->allocate(y.bytes());
            QVERIFY(uploadNow(*device, bx));
            QVERIFY(launchNow(*device, bench.launch("square", {BufferArgument{bx}, BufferArgument{by}, scalar(2.0f)}, range1(n))));
            QVERIFY(downloadNow(*device, by));
            for (std::size_t i = 0; i < n; ++i) QCOMPARE(y.as<float>()[i], 2.0f * static_cast<float>(i) * static_cast<float>(i));

            // New host data, the same buffers.
            std::fill_n(x.as<float>(), n, 3.0f);
            QVERIFY(uploadNow(*device, bx));
            QVERIFY(launchNow(*device, bench.launch("square", {BufferArgument{bx}, BufferArgument{by}, scalar(1.0f)}, range1(n))));
            QVERIFY(downloadNow(*device, by));
            for (std::size_t i = 0; i < n; ++i) QCOMPARE(y.as<float>()[i], 9.0f);
            device->release(bx);
            device->release(by);
        }
    }

    void memoryAtAnyAddressServes() {
        for (const auto& device : devices_) {
            const Bench bench(*device, square);
            const Pages pages(8192);
            // 4 bytes off any alignment: not computed in place, but computed right.
            const std::span<std::byte> odd = pages.bytes().subspan(4, 400);
            auto* values = reinterpret_cast<float*>(odd.data());
            std::fill_n(values, 100, 2.0f);
            const BufferId buffer = device->allocate(odd);
            QVERIFY(uploadNow(*device, buffer));
            QVERIFY(launchNow(*device, bench.launch("square", {BufferArgument{buffer}, BufferArgument{buffer}, scalar(1.0f)}, range1(100))));
            QVERIFY(downloadNow(*device, buffer));
            for (int i = 0; i < 100; ++i) QCOMPARE(values[i], 4.0f);
            device->release(buffer);
        }
    }

    void scalarsHaveTheirOwnWidth() {
        const char* text =
            "typedef struct { char c; int i; double d; } Mixed;\n"
            "__kernel void widths(__global double* out, char c, short s, int i, long l, ushort us, double d, float3 v, char4 q, Mixed m) {\n"
            " out[0] = c; out[1] = s; out[2] = i; out[3] = (double)l; out[4] = us; out[5] = d; out[6] = v.x + v.y * 10 + v.z * 100; out[7] = q.w; out[8] = m.c + m.i + m.d; }\n";
        struct Mixed {
            char c;
            int i;
            double d;
        };
        for (const auto& device : devices_) {
            const Bench bench(*device, text);
            QCOMPARE(bench.error, std::string());
            const Pages out(4096);
            const BufferId buffer = device->allocate(out.bytes());
            const std::array<float, 4> v{1, 2, 3, 0};
            const std::array<signed char, 4> q{1, 2, 3, -4};
            const Mixed mixed{1, 20, 0.5};
            std::vector<LaunchArgument> arguments{BufferArgument{buffer}, scalar<signed char>(-1), scalar<short>(-300), scalar<int>(-70000), scalar<std::int64_t>(-5'000'000'000),
                                                  scalar<std::uint16_t>(65535), scalar(0.25), scalar(v), scalar(q), scalar(mixed)};
            QVERIFY(launchNow(*device, bench.launch("widths", arguments, range1(1))));
            QVERIFY(downloadNow(*device, buffer));
            const std::vector<double> expected{-1, -300, -70000, -5e9, 65535, 0.25, 321, -4, 21.5};
            for (std::size_t i = 0; i < expected.size(); ++i) QCOMPARE(out.as<double>()[i], expected[i]);

            // One byte held where four are wanted, and the reverse.
            auto narrow = arguments;
            narrow[3] = scalar<signed char>(1);
            const std::string message = bench.refusal("widths", narrow, range1(1));
            QVERIFY2(holds(message, "'i'") && holds(message, "4 bytes") && holds(message, "1 bytes were given"), message.c_str());
            auto wide = arguments;
            wide[1] = scalar<int>(1);
            QVERIFY(holds(bench.refusal("widths", wide, range1(1)), "1 bytes"));
            auto half = arguments;
            half[7] = scalar(std::array<float, 3>{});
            QVERIFY(holds(bench.refusal("widths", half, range1(1)), "float3"));
            device->release(buffer);
        }
    }

    void refusesWrongArguments() {
        for (const auto& device : devices_) {
            const Bench bench(*device, "__kernel void k(__global int* x, int n, __local int* l) { l[0] = n; x[0] = l[0]; }\n__kernel void other(int n) {}\n"
                                       "__kernel void pixels(read_only image2d_t i, sampler_t s, __global float* o) { o[0] = read_imagef(i, s, (int2)(0, 0)).x; }\n");
            QCOMPARE(bench.error, std::string());
            const Pages page(4096);
            const BufferId buffer = device->allocate(page.bytes());
            const LaunchArgument b = BufferArgument{buffer}, n = scalar(1), l = LocalArgument{64};
            QCOMPARE(bench.refusal("k", {b, n, l}, range1(1)), std::string());

            std::string message = bench.refusal("nope", {b, n, l}, range1(1));
            QVERIFY2(holds(message, "'nope'") && holds(message, "'k'") && holds(message, "'other'") && holds(message, "mine.cl"), message.c_str());
            message = bench.refusal("k", {b, n}, range1(1));
            QVERIFY2(holds(message, "takes 3 arguments") && holds(message, "2 were given"), message.c_str());
            QVERIFY(holds(bench.refusal("k", {n, b, l}, range1(1)), "a buffer (int*), but a value was given"));
            QVERIFY(holds(bench.refusal("k", {b, b, l}, range1(1)), "'n'"));
            QVERIFY(holds(bench.refusal("k", {b, n, b}, range1(1)), "local memory (int*), but a buffer was given"));
            QVERIFY(holds(bench.refusal("k", {b, n, LocalArgument{0}}, range1(1)), "0 bytes"));
            message = bench.refusal("k", {b, n, LocalArgument{std::size_t{1} << 40}}, range1(1));
            QVERIFY2(holds(message, "1099511627776") && holds(message, std::to_string(*device->info().localMemoryBytes)), message.c_str());
            QVERIFY(holds(bench.refusal("k", {BufferArgument{buffer + 999}, n, l}, range1(1)), "no buffer"));
            message = bench.refusal("pixels", {b, n, b}, range1(1), ErrorKind::Unsupported);
            QVERIFY2(holds(message, "image2d_t") && holds(message, "'i'"), message.c_str());
            QVERIFY(!launchNow(*device, {987654, "k", {b, n, l}, range1(1)}));
            device->release(buffer);
        }
    }

    void unevenGlobalSizesAreRefusedNeverRounded() {
        for (const auto& device : devices_) {
            const Bench bench(*device, "__kernel void count(__global int* x) { atomic_inc(x); }\n__kernel void id(__global int* x) { x[get_global_id(0)] = 1; }\n");
            const Pages page(4096);
            const BufferId buffer = device->allocate(page.bytes());
            const std::string message = bench.refusal("count", {BufferArgument{buffer}}, range1(1000, 64));
            for (const char* part : {"1000", "64", "960 or 1024", "local size of 50"}) QVERIFY2(holds(message, part), message.c_str());
            QVERIFY(holds(bench.refusal("count", {BufferArgument{buffer}}, range1(10, 64)), "64 fits"));
            QVERIFY(holds(bench.refusal("count", {BufferArgument{buffer}}, range2(64, 30, 8, 4)), "dimension 1"));
            // What is launched runs exactly as often as was said.
            *page.as<int>() = 0;
            QVERIFY(uploadNow(*device, buffer));
            QVERIFY(launchNow(*device, bench.launch("count", {BufferArgument{buffer}}, range1(1000))));
            QVERIFY(launchNow(*device, bench.launch("count", {BufferArgument{buffer}}, range1(1000, 50))));
            QVERIFY(launchNow(*device, bench.launch("count", {BufferArgument{buffer}}, range2(6, 10, 3, 5))));
            QVERIFY(downloadNow(*device, buffer));
            QCOMPARE(*page.as<int>(), 2060);
            device->release(buffer);
        }
    }

    void groupsAboveTheLimitsAreRefused() {
        for (const auto& device : devices_) {
            const Bench bench(*device, "__kernel void k(__global int* x) { x[0] = 1; }\n__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void tiled(__global int* x) { atomic_inc(x); }\n");
            const Pages page(4096);
            const BufferId buffer = device->allocate(page.bytes());
            const std::string limit = std::to_string(*device->info().maxWorkGroupSize);
            std::string message = bench.refusal("k", {BufferArgument{buffer}}, range1(8192, 8192));
            QVERIFY2(holds(message, "8192") && holds(message, limit), message.c_str());
            message = bench.refusal("k", {BufferArgument{buffer}}, range2(4096, 4096, 4096, 4096));
            QVERIFY2(holds(message, "16777216") && holds(message, limit), message.c_str());
            message = bench.refusal("tiled", {BufferArgument{buffer}}, range2(64, 64, 8, 8));
            QVERIFY2(holds(message, "8x4x1") && holds(message, "8x8"), message.c_str());
            QVERIFY(holds(bench.refusal("tiled", {BufferArgument{buffer}}, range2(10, 8, 0, 0)), "10"));
            QVERIFY(holds(bench.refusal("tiled", {BufferArgument{buffer}}, range1(64)), "8x4x1"));
            // Left to the runtime, the required size is used.
            *page.as<int>() = 0;
            QVERIFY(uploadNow(*device, buffer));
            QVERIFY(launchNow(*device, bench.launch("tiled", {BufferArgument{buffer}}, range2(16, 8, 0, 0))));
            QVERIFY(downloadNow(*device, buffer));
            QCOMPARE(*page.as<int>(), 128);
            device->release(buffer);
        }
    }

    void absurdSizesAreRefused() {
        for (const auto& device : devices_) {
            const Bench bench(*device, "__kernel void k(__global int* x) { x[0] = 1; }\n");
            const Pages page(4096);
            const LaunchArgument b = BufferArgument{device->allocate(page.bytes())};
            QVERIFY(holds(bench.refusal("k", {b}, range1(0)), "is 0"));
            NDRange range = range1(16);
            range.offset[0] = std::numeric_limits<std::size_t>::max() - 3;
            QVERIFY(holds(bench.refusal("k", {b}, range), "too large"));
            range = range1(16);
            range.dimensions = 4;
            QVERIFY(holds(bench.refusal("k", {b}, range), "4 dimensions"));
            range.dimensions = 0;
            QVERIFY(holds(bench.refusal("k", {b}, range), "0 dimensions"));
            QVERIFY(holds(bench.refusal("k", {b}, range1(std::numeric_limits<std::size_t>::max(), 7)), "no multiple"));
        }
    }

    void offsetsAndThreeDimensions() {
        for (const auto& device : devices_) {
            const Bench bench(*device, "__kernel void place(__global int* x) { x[get_global_id(0) + 4 * (get_global_id(1) + 4 * get_global_id(2))] = (int)get_global_id(2) + 1; }\n");
            const Pages page(4096);
            const BufferId buffer = device->allocate(page.bytes());
            NDRange range;
            range.dimensions = 3;
            range.global = {2, 2, 2};
            range.offset = {1, 2, 1};
            std::fill_n(page.as<int>(), 64, 0);
            QVERIFY(uploadNow(*device, buffer));
            QVERIFY(launchNow(*device, bench.launch("place", {BufferArgument{buffer}}, range)));
            QVERIFY(downloadNow(*device, buffer));
            for (int z = 0; z < 4; ++z)
                for (int y = 0; y < 4; ++y)
                    for (int x = 0; x < 4; ++x) {
                        const bool inside = x >= 1 && x < 3 && y >= 2 && z >= 1 && z < 3;
                        QCOMPARE(page.as<int>()[x + 4 * (y + 4 * z)], inside ? z + 1 : 0);
                    }
            device->release(buffer);
        }
    }

    void aBufferAboveTheLimitIsRefusedAndOthersSurvive() {
        for (const auto& device : devices_) {
            const Bench bench(*device, square);
            const std::uint64_t limit = device->info().maxAllocationBytes.value();
            const Pages good(4096), huge(static_cast<std::size_t>(limit) + 4096, false);
            std::fill_n(good.as<float>(), 1024, 5.0f);
            const BufferId b = device->allocate(good.bytes()), tooLarge = device->allocate(huge.bytes()), none = device->allocate({});
            QVERIFY(uploadNow(*device, b));
            const Result<CommandTimes> refused = uploadNow(*device, tooLarge);
            QVERIFY(!refused);
            QCOMPARE(refused.error().kind, ErrorKind::OutOfMemory);
            QVERIFY2(holds(refused.error().message, std::to_string(limit)) && holds(refused.error().message, std::to_string(limit + 4096)), refused.error().message.c_str());
            QVERIFY(!launchNow(*device, bench.launch("square", {BufferArgument{b}, BufferArgument{tooLarge}, scalar(1.0f)}, range1(1024))));
            QVERIFY(!uploadNow(*device, none));
            QVERIFY(launchNow(*device, bench.launch("square", {BufferArgument{b}, BufferArgument{b}, scalar(1.0f)}, range1(1024))));
            QVERIFY(downloadNow(*device, b));
            for (int i = 0; i < 1024; ++i) QCOMPARE(good.as<float>()[i], 25.0f);
            for (const BufferId id : {b, tooLarge, none, BufferId{123456}}) device->release(id);
        }
    }

    void moreThanTheDevicesMemoryIsRefused() {
        // With explicit copies the device holds every buffer itself.
        const auto& device = devices_.back();
        const std::uint64_t memory = device->info().memoryBytes.value(), limit = device->info().maxAllocationBytes.value();
        const Pages part(static_cast<std::size_t>(limit), false);
        const Bench bench(*device, "__kernel void nothing(__global int* x) {}\n");
        std::vector<BufferId> buffers;
        Result<CommandTimes> last = CommandTimes{};
        for (std::uint64_t taken = 0; taken <= memory && last; taken += limit) {
            buffers.push_back(device->allocate(part.bytes()));
            last = launchNow(*device, bench.launch("nothing", {BufferArgument{buffers.back()}}, range1(1)));
        }
        QVERIFY(!last);
        QCOMPARE(last.error().kind, ErrorKind::OutOfMemory);
        for (const BufferId id : buffers) device->release(id);
        const Pages page(4096);
        QVERIFY(uploadNow(*device, device->allocate(page.bytes())));  // room again
    }

    void answersComeInOrderAlsoOfFailures() {
        for (const auto& device : devices_) {
            const Bench bench(*device, square);
            const Pages page(4096);
            const BufferId b = device->allocate(page.bytes());
            std::vector<int> order;
            std::promise<void> all;
            for (int i = 0; i < 30; ++i) {
                const bool wrong = i % 3 == 1;
                device->launch(bench.launch(wrong ? "nope" : "square", {BufferArgument{b}, BufferArgument{b}, scalar(1.0f)}, range1(1024)), [&order, &all, i, wrong](auto result) {
                    order.push_back(bool(result) == wrong ? -1 : i);
                    if (i == 29) all.set_value();
                });
            }
            all.get_future().get();
            std::vector<int> expected(30);
            std::iota(expected.begin(), expected.end(), 0);
            QCOMPARE(order, expected);
            device->release(b);
        }
    }

    void callsReturnAtOnceAndTimesLieOnTheHostsClock() {
        for (const auto& device : devices_) {
            const Bench bench(*device, longWork);
            QCOMPARE(bench.error, std::string());
            const Pages page(4096);
            const BufferId b = device->allocate(page.bytes());
            // the first launch compiles in PoCL
            QVERIFY(launchNow(*device, bench.launch("work", {BufferArgument{b}, scalar(1u)}, range1(1))));
            const auto busyBefore = device->busyTime();
            const auto answer = std::make_shared<std::promise<Result<CommandTimes>>>();  // outlives a failing case
            auto future = answer->get_future();
            const auto given = std::chrono::steady_clock::now();
            device->launch(bench.launch("work", {BufferArgument{b}, scalar(100'000'000u)}, range1(1)), [answer](auto result) { answer->set_value(result); });
            const auto returned = std::chrono::steady_clock::now();
            // Busy time grows while the kernel runs, and never goes back.
            auto last = device->busyTime();
            bool grewWhileRunning = false;
            while (future.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
                const auto busy = device->busyTime();
                QVERIFY(busy >= last);
                grewWhileRunning |= busy > busyBefore;
                last = busy;
            }
            const auto seen = std::chrono::steady_clock::now();
            const Result<CommandTimes> times = future.get();
            QVERIFY(times);
            QVERIFY(times->fromDevice);
            QVERIFY2(returned < times->finished, "launch() waited for its kernel");
            QVERIFY(times->started >= given && times->finished > times->started && times->finished <= seen);
            QVERIFY(grewWhileRunning);
            QVERIFY(device->busyTime() >= last);
            QVERIFY(device->busyTime() - busyBefore >= times->finished - times->started);
            // Nothing runs: it stands still.
            const auto idle = device->busyTime();
            QVERIFY(uploadNow(*device, b));
            QCOMPARE(device->busyTime(), idle);
            device->release(b);
        }
    }

    void closingWaitsForWhatWasGiven() {
        std::atomic<int> answers{0};
        const Pages page(4096);
        *page.as<unsigned>() = 0;
        {
            const auto closing = openDevices();
            for (const auto& device : closing) {
                const Bench bench(*device, "__kernel void count(__global int* x) { atomic_inc(x); }\n");
                const BufferId b = device->allocate(page.bytes());
                for (int i = 0; i < 20; ++i) device->launch(bench.launch("count", {BufferArgument{b}}, range1(1)), [&](auto result) { answers += result ? 1 : 0; });
                device->release(b);
            }
        }
        QCOMPARE(answers.load(), 40);
    }

    void manyThreadsShareADevice() {
        for (const auto& device : devices_) {
            const Bench bench(*device, square);
            std::vector<std::future<int>> wrong;
            for (int t = 0; t < 4; ++t)
                wrong.push_back(std::async(std::launch::async, [&, t] {
                    int bad = 0;
                    const Pages page(4096);
                    for (int round = 0; round < 20; ++round) {
                        const float a = static_cast<float>(t * 100 + round);
                        std::fill_n(page.as<float>(), 1024, 1.0f);
                        const BufferId b = device->allocate(page.bytes());
                        device->upload(b, {});
                        device->launch(bench.launch("square", {BufferArgument{b}, BufferArgument{b}, scalar(a)}, range1(1024, 64)), {});
                        if (!downloadNow(*device, b)) ++bad;
                        for (int i = 0; i < 1024; ++i) bad += page.as<float>()[i] == a ? 0 : 1;
                        device->release(b);
                    }
                    return bad;
                }));
            for (auto& one : wrong) QCOMPARE(one.get(), 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestOpenClLaunch)
#include "tst_opencl_launch.moc"
