#include "scheduler/comparison.h"
#include "scheduler/engine.h"
#include "tests/support/fake_device.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>
#include <map>
#include <set>

using namespace heteroscope;

namespace {

/// y[i] = 2·x[i] over n floats, as a package would describe it.
KernelPtr doubling(std::string id = "doubling") {
    auto kernel = std::make_shared<Kernel>();
    kernel->id = std::move(id);
    kernel->parameters = {{"n", 16.0, 1.0, 1e9, true}};
    KernelArgument x{.name = "x", .kind = KernelArgument::Kind::Buffer, .type = {Scalar::Float, 1}, .values = {}, .raw = {},
                     .count = "n", .access = Access::Read, .fill = "iota"};
    KernelArgument y = x;
    y.name = "y";
    y.access = Access::ReadWrite;
    y.fill = "zeros";
    kernel->arguments = {x, y};
    kernel->range.global = {"n"};
    kernel->flops = "n";
    kernel->bytes = "8*n";
    KernelVariant variant;
    variant.language = Language::OpenClC;
    variant.entry = "doubling";
    variant.source.text = "kernel void doubling(global const float *x, global float *y) { }";
    variant.source.file = "doubling.cl";
    kernel->variants = {variant};
    return kernel;
}

void doubleOnDevice(const Launch& launch, FakeDevice& device) {
    const auto x = device.memory(std::get<BufferArgument>(launch.arguments[0]).buffer);
    const auto y = device.memory(std::get<BufferArgument>(launch.arguments[1]).buffer);
    for (std::size_t i = 0; i < x.size() / sizeof(float); ++i) {
        float value;
        std::memcpy(&value, x.data() + i * sizeof(float), sizeof(float));
        value *= 2.0F;
        std::memcpy(y.data() + i * sizeof(float), &value, sizeof(float));
    }
}

/// Commits at once, or when the test says so.
class Recorder final : public JobRecorder {
public:
    void recordJob(JobSnapshot job, std::function<void()> committed) override {
        const std::lock_guard lock(mutex_);
        rows_.insert_or_assign(job.id, std::move(job));
        if (!committed) return;
        if (hold_) held_.push_back(std::move(committed));
        else committed();
    }
    std::size_t unwritten() const override { return 0; }
    JobId firstFreeJobId() const override { return 100; }

    void hold() {
        const std::lock_guard lock(mutex_);
        hold_ = true;
    }
    std::size_t commit() {
        std::vector<std::function<void()>> held;
        {
            const std::lock_guard lock(mutex_);
            held.swap(held_);
            hold_ = false;
        }
        for (auto& committed : held) committed();
        return held.size();
    }
    std::optional<JobSnapshot> row(JobId job) const {
        const std::lock_guard lock(mutex_);
        const auto it = rows_.find(job);
        return it == rows_.end() ? std::nullopt : std::optional(it->second);
    }

private:
    mutable std::mutex mutex_;
    std::map<JobId, JobSnapshot> rows_;
    std::vector<std::function<void()>> held_;
    bool hold_ = false;
};

DataBinding boundTo(std::shared_ptr<Data> data, Access access, std::uint64_t first, std::optional<std::uint64_t> count) {
    DataBinding binding;
    binding.data = std::move(data);
    binding.access = access;
    binding.first = first;
    binding.count = count;
    return binding;
}

struct Bench {
    explicit Bench(std::size_t deviceCount, EngineOptions options = {}, JobRecorder* recorder = nullptr)
        : engine(std::move(options), recorder, nullptr) {
        for (std::size_t i = 0; i < deviceCount; ++i) {
            auto info = FakeDevice::describe("cpu-" + std::to_string(i));
            info.sharesHostMemory = true;
            devices.push_back(std::make_shared<FakeDevice>(info));
            devices.back()->setKernel(doubleOnDevice);
            engine.addDevice(devices.back());
        }
    }
    ~Bench() {
        for (auto& device : devices) device->autoComplete(true);
    }

    JobSpec spec(KernelPtr kernel = doubling()) {
        JobSpec job;
        job.id = engine.reserveIds(1);
        job.kernel = std::move(kernel);
        return job;
    }
    std::vector<JobId> submit(std::size_t count) {
        std::vector<JobSpec> jobs;
        const auto kernel = doubling();
        for (std::size_t i = 0; i < count; ++i) jobs.push_back(spec(kernel));
        const auto ids = engine.submit(std::move(jobs));
        return ids ? *ids : std::vector<JobId>{};
    }
    JobState stateOf(JobId job) const { return engine.snapshot(job).state; }

    std::vector<std::shared_ptr<FakeDevice>> devices;
    Engine engine;
};

}  // namespace

class TestEngine : public QObject {
    Q_OBJECT

private slots:
    void runsAJobAndTellsEverythingAboutIt() {
        Recorder recorder;
        Bench bench(1, {}, &recorder);
        bench.devices[0]->autoComplete(true);
        const auto ids = bench.submit(1);
        QCOMPARE(ids, std::vector<JobId>{100});
        QVERIFY(bench.engine.wait(ids));
        const auto job = bench.engine.snapshot(ids[0]);
        QCOMPARE(int(job.state), int(JobState::Succeeded));
        QCOMPARE(job.device, std::string("cpu-0"));
        QCOMPARE(job.parameters, std::string("n=16"));
        QCOMPARE(job.attempts, 1U);
        QCOMPARE(job.outputs.size(), std::size_t{1});
        QCOMPARE(job.outputs[0].name, std::string("y"));
        QCOMPARE(job.outputs[0].firstValues, (std::vector<double>{0, 2, 4, 6, 8, 10, 12, 14}));
        QCOMPARE(*job.outputs[0].maximum, 30.0);
        QCOMPARE(*job.outputs[0].mean, 15.0);
        QCOMPARE(job.outputs[0].nanCount, std::uint64_t{0});
        const auto& t = job.times;
        QVERIFY(t.submitted > 0 && t.submitted <= t.ready && t.ready <= t.assigned && t.assigned <= t.staging);
        QVERIFY(t.staging <= t.staged && t.staged <= t.started && t.started <= t.finished && t.finished <= t.ended);
        QVERIFY(job.decision && job.decision->chosen == 0);
        QCOMPARE(int(recorder.row(ids[0])->state), int(JobState::Succeeded));
        QTRY_COMPARE(bench.devices[0]->buffers(), std::size_t{0});
    }

    void succeededIsShownOnlyWhenItsRowIsSafe() {
        Recorder recorder;
        Bench bench(1, {}, &recorder);
        bench.devices[0]->autoComplete(true);
        recorder.hold();
        auto first = bench.spec();
        auto second = bench.spec();
        second.after = {first.id};
        const auto ids = *bench.engine.submit({first, second});
        // The dependant starts without waiting for the database.
        QVERIFY(bench.devices[0]->waitForLaunches(2));
        QTRY_VERIFY(recorder.row(ids[1])->state == JobState::Succeeded);
        QVERIFY(!isFinal(bench.stateOf(ids[0])));
        QVERIFY(!isFinal(bench.stateOf(ids[1])));
        QVERIFY(recorder.commit() >= 1);
        QVERIFY(bench.engine.wait(ids));
        QCOMPARE(int(bench.stateOf(ids[1])), int(JobState::Succeeded));
    }

    void aCancelledRunningJobSaysThatItsResultIsDropped() {
        Bench bench(1);
        const auto ids = bench.submit(2);
        QVERIFY(bench.devices[0]->waitForLaunches(1));
        bench.engine.cancel({ids[0]});
        QVERIFY(bench.engine.wait({ids[0]}));
        const auto job = bench.engine.snapshot(ids[0]);
        QCOMPARE(int(job.state), int(JobState::Cancelled));
        QVERIFY2(job.reason.find("its result is dropped") != std::string::npos, job.reason.c_str());
        // The device is still taken by it: the second one starts only when the kernel has ended.
        QCOMPARE(bench.devices[0]->launches().size(), std::size_t{1});
        QVERIFY(bench.devices[0]->finishNext());
        QVERIFY(bench.devices[0]->waitForLaunches(2));
        QVERIFY(bench.devices[0]->finishNext());
        QVERIFY(bench.engine.wait(ids));
        QCOMPARE(int(bench.stateOf(ids[0])), int(JobState::Cancelled));
        QCOMPARE(int(bench.stateOf(ids[1])), int(JobState::Succeeded));
        QVERIFY(bench.engine.snapshot(ids[0]).outputs.empty());
    }

    void aStagedJobCanBeCancelled() {
        Bench bench(1);
        const auto ids = bench.submit(3);
        QVERIFY(bench.devices[0]->waitForLaunches(1));
        QTRY_COMPARE(int(bench.stateOf(ids[1])), int(JobState::Staging));
        QTRY_COMPARE(bench.devices[0]->buffers(), std::size_t{4});  // the running one's and the staged one's
        bench.engine.cancel({ids[1]});
        QVERIFY(bench.engine.wait({ids[1]}));
        bench.devices[0]->autoComplete(true);
        QVERIFY(bench.engine.wait(ids));
        QCOMPARE(int(bench.stateOf(ids[1])), int(JobState::Cancelled));
        QCOMPARE(int(bench.stateOf(ids[2])), int(JobState::Succeeded));
        QCOMPARE(bench.devices[0]->launches().size(), std::size_t{2});
        QTRY_COMPARE(bench.devices[0]->buffers(), std::size_t{0});
    }

    void aPausedQueueStartsNothing() {
        EngineOptions options;
        options.startPaused = true;
        Bench bench(1, options);
        bench.devices[0]->autoComplete(true);
        const auto ids = bench.submit(3);
        bench.engine.waitQuiet();
        QCOMPARE(bench.devices[0]->launches().size(), std::size_t{0});
        QCOMPARE(bench.engine.snapshot(ids[0]).reason, std::string("the queue is paused"));
        bench.engine.resume();
        QVERIFY(bench.engine.wait(ids));
        QCOMPARE(bench.devices[0]->launches().size(), std::size_t{3});
    }

    void aPolicySwitchInMidQueueLosesNothingAndRunsNothingTwice() {
        Bench bench(2);
        for (auto& device : bench.devices) device->autoComplete(true);
        bench.engine.pause();
        const auto ids = bench.submit(1000);
        bench.engine.resume();
        for (const char* policy : {"fifo", "sjf", "round-robin", "least-loaded", "priority", "mct"}) {
            QVERIFY(bool(bench.engine.setPolicy(policy)));
        }
        QVERIFY(bench.engine.wait(ids));
        for (const JobId id : ids) QCOMPARE(int(bench.stateOf(id)), int(JobState::Succeeded));
        QCOMPARE(bench.devices[0]->launches().size() + bench.devices[1]->launches().size(), std::size_t{1000});
    }

    void aFailedBuildFailsItsJobAndNoOther() {
        Bench bench(1);
        bench.devices[0]->autoComplete(true);
        bench.devices[0]->failNextBuild({ErrorKind::BuildFailed, "doubling.cl:3: expected ';'", "doubling.cl", 3, "the whole log"});
        const auto ids = bench.submit(2);
        QVERIFY(bench.engine.wait(ids));
        const auto failed = bench.engine.snapshot(ids[0]);
        QCOMPARE(int(failed.state), int(JobState::Failed));
        QCOMPARE(failed.error->line, 3);
        QCOMPARE(failed.log, std::string("the whole log"));
        QCOMPARE(int(bench.stateOf(ids[1])), int(JobState::Succeeded));
    }

    // a fails → b → c; d independent: b and c are skipped with the cause, d runs; retrying a releases them.
    void dependantsOfAFailedJobAreSkippedAndReleasedByItsRetry() {
        Bench bench(1);
        bench.devices[0]->autoComplete(true);
        bench.devices[0]->failNextLaunch({ErrorKind::LaunchFailed, "boom"});
        auto a = bench.spec(), b = bench.spec(), c = bench.spec(), d = bench.spec();
        b.after = {a.id};
        c.after = {b.id};
        const auto ids = *bench.engine.submit({a, b, c, d});
        QVERIFY(bench.engine.wait(ids));
        QCOMPARE(int(bench.stateOf(a.id)), int(JobState::Failed));
        QCOMPARE(int(bench.stateOf(b.id)), int(JobState::Skipped));
        QCOMPARE(int(bench.stateOf(c.id)), int(JobState::Skipped));
        QCOMPARE(int(bench.stateOf(d.id)), int(JobState::Succeeded));
        const auto skipped = bench.engine.snapshot(b.id);
        QCOMPARE(skipped.reason, "skipped: #" + std::to_string(a.id) + " failed");
        bench.engine.retry({a.id});
        QTRY_COMPARE(int(bench.stateOf(c.id)), int(JobState::Succeeded));
        QCOMPARE(int(bench.stateOf(a.id)), int(JobState::Succeeded));
        QCOMPARE(bench.engine.snapshot(a.id).attempts, 2U);
        QVERIFY(!bench.engine.snapshot(a.id).error);
    }

    void aLostDeviceIsSaidOnceAndItsJobsMove() {
        EngineOptions options;
        options.policy = "round-robin";
        Bench bench(2, options);
        const auto ids = bench.submit(20);
        QVERIFY(bench.devices[0]->waitForLaunches(1));
        bench.devices[0]->lose("fell off the bus");
        bench.devices[1]->autoComplete(true);
        QVERIFY(bench.engine.wait(ids));
        std::size_t failed = 0;
        for (const JobId id : ids) failed += bench.stateOf(id) == JobState::Failed ? 1 : 0;
        QVERIFY2(failed <= 2, "only what was on the device may fail with it");
        std::vector<DeviceProblem> problems;
        std::mutex mutex;
        auto watch = bench.engine.observe([&](const EngineUpdate& update) {
            const std::lock_guard lock(mutex);
            problems = update.problems;
        });
        const auto count = [&] {
            const std::lock_guard lock(mutex);
            return problems.size();
        };
        QTRY_COMPARE(count(), std::size_t{1});
    }

    void whatCanNeverRunIsRefusedWithTheNumbers() {
        Bench bench(1);
        auto big = bench.spec();
        big.parameters["n"] = 5e8;  // two buffers of 2 GB on a device of 1 GiB
        const auto refused = bench.engine.submit({big});
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().kind), int(ErrorKind::InvalidInput));
        QVERIFY2(refused.error().message.find("cpu-0") != std::string::npos, refused.error().message.c_str());
        auto elsewhere = bench.spec();
        elsewhere.device = "gpu-9";
        QVERIFY(!bench.engine.submit({elsewhere}));
        auto a = bench.spec(), b = bench.spec();
        a.label = "a";
        b.label = "b";
        a.after = {b.id};
        b.after = {a.id};
        const auto cycle = bench.engine.submit({a, b});
        QVERIFY(!cycle);
        QVERIFY2(cycle.error().message.find("a → b → a") != std::string::npos ||
                     cycle.error().message.find("b → a → b") != std::string::npos,
                 cycle.error().message.c_str());
        QVERIFY(bench.engine.snapshots().empty());
    }

    void chunksOfOneArrayRunSideBySideAndAreSavedOnce() {
        QTemporaryDir folder;
        Bench bench(2);
        for (auto& device : bench.devices) device->autoComplete(true);
        auto in = std::make_shared<Data>("in", ElementType{Scalar::Float, 1}, 64, "iota", 1, "");
        auto out = std::make_shared<Data>("out", ElementType{Scalar::Float, 1}, 64, "zeros", 1, "");
        out->savePath = folder.filePath(QStringLiteral("out.npy")).toStdString();
        std::vector<JobSpec> jobs;
        for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
            auto job = bench.spec();
            job.bindings["x"] = boundTo(in, Access::Read, chunk * 16, 16);
            job.bindings["y"] = boundTo(out, Access::ReadWrite, chunk * 16, 16);
            jobs.push_back(std::move(job));
        }
        const auto ids = *bench.engine.submit(jobs);
        QVERIFY(bench.engine.wait(ids));
        for (const JobId id : ids) QCOMPARE(int(bench.stateOf(id)), int(JobState::Succeeded));
        std::vector<float> saved(64);
        QVERIFY(bool(readArrayFile(out->savePath, out->type(), std::as_writable_bytes(std::span(saved)))));
        for (std::size_t i = 0; i < 64; ++i) QCOMPARE(saved[i], 2.0F * static_cast<float>(i));
        auto wrong = bench.spec();
        wrong.bindings["x"] = boundTo(in, Access::Read, 0, 8);
        const auto refused = bench.engine.submit({wrong});
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("64 bytes") != std::string::npos, refused.error().message.c_str());
    }

    void whatWaitsWhenTheEngineEndsStaysResumable() {
        Recorder recorder;
        std::vector<JobId> ids;
        {
            Bench bench(1, {}, &recorder);
            ids = bench.submit(5);
            QVERIFY(bench.devices[0]->waitForLaunches(1));
            QTRY_COMPARE(int(bench.stateOf(ids[1])), int(JobState::Staging));
            bench.devices[0]->autoComplete(true);
            bench.engine.pause();
        }
        QCOMPARE(int(recorder.row(ids[0])->state), int(JobState::Succeeded));
        for (std::size_t i = 1; i < ids.size(); ++i) {
            const auto state = recorder.row(ids[i])->state;
            QVERIFY(state == JobState::Waiting || state == JobState::Ready || state == JobState::Succeeded);
        }
    }

    void waitingCanBeStopped() {
        Bench bench(1);
        const auto ids = bench.submit(1);
        QVERIFY(!bench.engine.wait(ids, [] { return true; }));
    }

    void anObserverSeesEveryJobAndTheCounts() {
        Bench bench(1);
        bench.devices[0]->autoComplete(true);
        const auto ids = bench.submit(50);
        QVERIFY(bench.engine.wait(ids));
        std::mutex mutex;
        std::map<JobId, JobState> seen;
        EngineUpdate last;
        auto watch = bench.engine.observe([&](const EngineUpdate& update) {
            const std::lock_guard lock(mutex);
            for (const auto& job : update.jobs) seen[job.id] = job.state;
            last = update;
        });
        QTRY_VERIFY(([&] {
            const std::lock_guard lock(mutex);
            return seen.size() == 50;
        }()));
        const std::lock_guard lock(mutex);
        QCOMPARE(last.counts[static_cast<std::size_t>(JobState::Succeeded)], std::size_t{50});
        QCOMPARE(last.counts[static_cast<std::size_t>(JobState::Running)], std::size_t{0});
        QCOMPARE(last.policy, std::string("mct"));
    }

    void aComparisonRunsEveryPolicyOnCopiesWhileTheQueueRests() {
        Bench bench(2);
        for (auto& device : bench.devices) device->autoComplete(true);
        ComparisonRequest request;
        request.name = "doubling ×6";
        auto in = std::make_shared<Data>("in", ElementType{Scalar::Float, 1}, 16, "iota", 1, "");
        for (JobId id = 1; id <= 6; ++id) {
            JobSpec job;
            job.id = id;
            job.kernel = doubling();
            if (id == 6) job.after = {1, 2};
            if (id == 1) job.bindings["y"] = boundTo(in, Access::ReadWrite, 0, std::nullopt);
            request.jobs.push_back(job);
        }
        request.policies = {"fifo", "mct", "round-robin"};
        request.repeats = 2;
        std::atomic<bool> cancel = false;
        std::vector<std::shared_ptr<Device>> devices(bench.devices.begin(), bench.devices.end());
        std::size_t lastDone = 0, total = 0;
        const auto result = compareLive(request, devices, &bench.engine, cancel, [&](const ComparisonProgress& p) {
            lastDone = p.done;
            total = p.total;
        });
        QVERIFY2(bool(result), result ? "" : result.error().message.c_str());
        QCOMPARE(result->runs.size(), std::size_t{6});
        QCOMPARE(result->policies(), (std::vector<std::string>{"fifo", "mct", "round-robin"}));
        for (const auto& run : result->runs) {
            QCOMPARE(run.failed, std::size_t{0});
            QCOMPARE(run.schedule.size(), std::size_t{6});
            QVERIFY(run.schedule[5].start >= run.schedule[0].finish);
        }
        QVERIFY(result->lowerBoundSeconds >= 0.0);
        QVERIFY(lastDone <= total && total > 36);
        QTRY_VERIFY(!bench.engine.paused());
        // The runs worked on copies: the caller's data was never touched.
        const auto bytes = *in->hostBuffer();
        float third;
        std::memcpy(&third, bytes->bytes().data() + 3 * sizeof(float), sizeof(float));
        QCOMPARE(third, 3.0F);
    }

    void aCancelledComparisonKeepsWhatItHas() {
        Bench bench(1);
        for (auto& device : bench.devices) device->autoComplete(true);
        ComparisonRequest request;
        JobSpec job;
        job.id = 1;
        job.kernel = doubling();
        request.jobs = {job};
        request.policies = {"fifo", "mct"};
        std::atomic<bool> cancel = false;
        std::vector<std::shared_ptr<Device>> devices(bench.devices.begin(), bench.devices.end());
        const auto result = compareLive(request, devices, nullptr, cancel, [&](const ComparisonProgress& p) {
            if (p.phase.starts_with("mct")) cancel = true;
        });
        QVERIFY(bool(result));
        QVERIFY(result->runs.size() >= 1);
        QCOMPARE(result->runs[0].policy, std::string("fifo"));
    }
};

QTEST_GUILESS_MAIN(TestEngine)
#include "tst_engine.moc"
