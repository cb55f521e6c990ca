#pragma once

#include "scheduler/history/history.h"
#include "scheduler/history/history_reader.h"

#include <QTest>
#include <QTemporaryDir>

#include <memory>

namespace heteroscope {

/// 26 Nov 2026, 14:05:12 UTC.
inline constexpr std::int64_t sampleTime = 1'795'701'912'000'000'000;
inline constexpr std::int64_t second = 1'000'000'000;

inline JobSnapshot sampleJob(JobId id, JobState state = JobState::Succeeded) {
    JobSnapshot job;
    job.id = id;
    job.kernel = "saxpy";
    job.parameters = "n=4096 a=2.5";
    job.state = state;
    job.times.submitted = sampleTime + static_cast<std::int64_t>(id) * second;
    if (state >= JobState::Assigned) {
        job.device = "cpu-0";
        job.runtime = "opencl";
        job.policy = "mct";
        job.attempts = 1;
        job.times.ready = job.times.submitted + 1;
        job.times.assigned = job.times.submitted + 2;
    }
    if (state >= JobState::Staging) job.times.staging = job.times.submitted + 3;
    if (state >= JobState::Running) job.times.staged = job.times.started = job.times.submitted + 4;
    if (isFinal(state)) job.times.finished = job.times.ended = job.times.submitted + second / 2;
    return job;
}

/// One of a mixed history, told apart by its number alone.
inline JobSnapshot mixedJob(JobId id) {
    static const char* const kernels[] = {"saxpy", "matmul", "reduction", "transpose"};
    static const char* const policies[] = {"fifo", "mct", "sjf"};
    const bool failed = id % 50 == 0;
    JobSnapshot job = sampleJob(id, failed ? JobState::Failed : id % 33 == 0 ? JobState::Cancelled : JobState::Succeeded);
    job.kernel = kernels[id % 4];
    job.parameters = "n=" + std::to_string(1024 << (id % 16));
    job.device = id % 2 == 0 ? "cpu-0" : "cpu-1";
    job.policy = policies[id % 3];
    job.waitSeconds = static_cast<double>(id * 7919 % 100'003) * 1e-3;
    job.runSeconds = static_cast<double>(id * 104'729 % 99'991) * 1e-4;
    job.predictedSeconds = job.runSeconds * 1.1;
    if (failed) job.error = Error{ErrorKind::LaunchFailed, "CL_OUT_OF_RESOURCES on cpu-" + std::to_string(id % 2)};
    auto decision = std::make_shared<Decision>();
    decision->job = id;
    decision->policy = job.policy;
    decision->chosen = static_cast<DeviceIndex>(id % 2);
    decision->candidates = {{0, {}, 0.1, 0.0, 0.5, 0.6, 3, 0.6}, {1, {}, 0.2, 0.0, 0.5, 0.7, 4, 0.7}};
    job.decision = std::move(decision);
    return job;
}

inline std::unique_ptr<History> openHistory(const QString& folder, std::vector<std::string>* notices = nullptr) {
    auto opened = History::open(folder.toStdString());
    if (!opened) {
        qCritical("%s", opened.error().message.c_str());
        return nullptr;
    }
    if (notices) *notices = opened->notices;
    return std::move(opened->history);
}

inline Result<HistoryRows> pageNow(HistoryReader& reader, const HistoryFilter& filter, std::uint64_t offset = 0,
                                   std::uint64_t limit = 256) {
    return readNow<HistoryRows>([&](auto done) { reader.page(filter, offset, limit, done); });
}

inline Result<HistoryDetail> detailNow(HistoryReader& reader, JobId job) {
    return readNow<HistoryDetail>([&](auto done) { reader.detail(job, done); });
}

inline std::vector<JobId> idsOf(const Result<HistoryRows>& page) {
    std::vector<JobId> ids;
    if (page)
        for (const HistoryRow& row : page->rows) ids.push_back(row.id);
    return ids;
}

}  // namespace heteroscope
