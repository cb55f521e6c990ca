#pragma once

#include "tests/support/fake_device.h"
#include "ui/ask.h"
#include "ui/services.h"

#include <QFile>
#include <QTemporaryDir>
#include <QThreadPool>

#include <atomic>
#include <utility>

namespace heteroscope {

/// Services for tests of the window: what a test puts in comes out; submit(), runAgain() and compare() work once
/// startEngine() was called, over a real Engine. What was asked for is counted in the public members.
class FakeServices : public Services {
public:
    std::shared_ptr<Engine> liveEngine;
    std::shared_ptr<HistoryReader> reader;
    std::shared_ptr<History> store;
    std::shared_ptr<const KernelCatalogue> catalogue = std::make_shared<const KernelCatalogue>();
    std::vector<DeviceInfo> deviceList;
    std::vector<DeviceProblem> problemList;
    std::vector<LeftJob> left;
    QStringList samples;
    bool discoveringNow = false;

    std::vector<std::vector<JobSpec>> submitted;
    std::vector<JobId> ranAgain, deletedJobs;
    std::vector<std::int64_t> deletedComparisons;
    int rescans = 0, resumes = 0, drops = 0;

    ~FakeServices() override {
        cancel_ = true;
        pool_.waitForDone();
        observation_.reset();
        liveEngine.reset();
    }

    /// A device as tests want it: "cpu-0", "EPYC".
    static DeviceInfo describe(const std::string& id, const std::string& shortName, const std::string& processor = {},
                               DeviceKind kind = DeviceKind::Cpu) {
        DeviceInfo info = FakeDevice::describe(id, kind);
        info.shortName = shortName;
        info.name = shortName + " test processor";
        info.processor = processor.empty() ? id : processor;
        if (info.runtimes.empty()) info.runtimes.push_back({Api::OpenCl, "Test platform", shortName, "OpenCL 3.0 test", "OpenCL C 1.2", "1.0"});
        return info;
    }

    /// An engine over `devices` (none: fake ones for deviceList that finish launches at once), observed as the
    /// program does it.
    void startEngine(EngineOptions options = {}, std::vector<std::shared_ptr<Device>> devices = {}) {
        if (devices.empty())
            for (const auto& info : deviceList) {
                auto device = std::make_shared<FakeDevice>(info);
                device->autoComplete(true);
                devices.push_back(device);
            }
        devices_ = devices;
        if (deviceList.empty())
            for (const auto& device : devices) deviceList.push_back(device->info());
        liveEngine = std::make_shared<Engine>(std::move(options), store.get(), std::make_shared<PerformanceModel>());
        for (auto& device : devices) liveEngine->addDevice(device);
        observation_ = liveEngine->observe(onThreadOf<EngineUpdate>(this, [this](EngineUpdate update) { emit updated(update); }));
        emit devicesChanged();
        emit started();
    }
    const std::vector<std::shared_ptr<Device>>& openDevices() const { return devices_; }

    void setDevices(std::vector<DeviceInfo> devices) {
        deviceList = std::move(devices);
        emit devicesChanged();
    }

    Engine* engine() override { return liveEngine.get(); }
    HistoryReader* history() override { return reader.get(); }
    std::shared_ptr<const KernelCatalogue> kernels() override { return catalogue; }
    std::vector<DeviceInfo> devices() override { return deviceList; }
    std::vector<DeviceProblem> problems() override { return problemList; }
    bool discovering() override { return discoveringNow; }
    QString dataFolder() override { return folder_.path(); }
    QStringList sampleWorkloads() override { return samples; }

    void submit(std::vector<JobSpec> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) override {
        submitted.push_back(jobs);
        auto answer = onThreadOf<Result<std::vector<JobId>>>(context, std::move(done));
        if (!liveEngine) {
            answer(Error{ErrorKind::Unsupported, "no engine was started"});
            return;
        }
        pool_.start([engine = liveEngine, jobs = std::move(jobs), answer]() mutable {
            const JobId first = engine->reserveIds(jobs.size());
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                jobs[i].id = first + i;
                for (auto& before : jobs[i].after) before = first + before - 1;
            }
            answer(engine->submit(std::move(jobs)));
        });
    }

    void loadWorkload(QString file, QObject* context, std::function<void(Result<Workload>)> done) override {
        auto answer = onThreadOf<Result<Workload>>(context, std::move(done));
        pool_.start([file, answer, known = catalogue] { answer(readWorkload(file.toStdString(), *known)); });
    }

    void loadOwnSource(OwnSource source, QObject* context, std::function<void(Result<KernelPtr>)> done) override {
        auto answer = onThreadOf<Result<KernelPtr>>(context, std::move(done));
        pool_.start([source = std::move(source), answer] { answer(makeOwnKernel(source)); });
    }

    void inspectSource(QString file, QStringList options, QStringList, QObject* context,
                       std::function<void(Result<Program>)> done) override {
        auto answer = onThreadOf<Result<Program>>(context, std::move(done));
        if (devices_.empty()) {
            answer(Error{ErrorKind::Unsupported, "no device"});
            return;
        }
        QFile text(file);
        if (!text.open(QIODevice::ReadOnly)) {
            answer(Error{ErrorKind::Io, file.toStdString() + ": " + text.errorString().toStdString()});
            return;
        }
        ProgramSource source;
        source.text = text.readAll().toStdString();
        source.file = file.toStdString();
        for (const auto& option : options) source.options.push_back(option.toStdString());
        devices_.front()->build(std::move(source), answer);
    }

    void runAgain(std::vector<JobId> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) override {
        ranAgain.insert(ranAgain.end(), jobs.begin(), jobs.end());
        std::vector<JobSpec> specs;
        for (const JobId id : jobs)
            if (liveEngine)
                if (auto snapshot = liveEngine->snapshot(id); snapshot.spec) {
                    specs.push_back(*snapshot.spec);
                    specs.back().after.clear();
                }
        submit(std::move(specs), context, std::move(done));
    }

    void compare(ComparisonRequest request, QObject* context, std::function<void(ComparisonProgress)> progress,
                 std::function<void(Result<Comparison>)> done) override {
        cancel_ = false;
        comparing_ = true;
        auto report = onThreadOf<ComparisonProgress>(context, std::move(progress));
        auto answer = onThreadOf<Result<Comparison>>(context, std::move(done));
        pool_.start([this, request = std::move(request), report, answer] {
            auto result = compareLive(request, devices_, liveEngine.get(), cancel_, report);
            comparing_ = false;
            answer(std::move(result));
        });
    }
    void cancelComparison() override { cancel_ = true; }
    bool comparing() override { return comparing_; }
    void renameComparison(std::int64_t id, QString name) override {
        if (store) store->renameComparison(id, name.toStdString());
    }
    void deleteComparison(std::int64_t id) override { deletedComparisons.push_back(id); }
    void deleteJobs(std::vector<JobId> jobs) override { deletedJobs.insert(deletedJobs.end(), jobs.begin(), jobs.end()); }

    std::vector<LeftJob> leftJobs() override { return left; }
    void resumeLeftJobs() override {
        ++resumes;
        left.clear();
        emit leftJobsChanged();
    }
    void dropLeftJobs() override {
        ++drops;
        left.clear();
        emit leftJobsChanged();
    }
    void rescan() override { ++rescans; }

private:
    QTemporaryDir folder_;
    QThreadPool pool_;
    std::vector<std::shared_ptr<Device>> devices_;
    std::shared_ptr<void> observation_;
    std::atomic<bool> cancel_{false}, comparing_{false};
};

}  // namespace heteroscope
