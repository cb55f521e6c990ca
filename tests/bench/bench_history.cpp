// History of 1,000,000 jobs: at least 50,000 written a second, a page within 100 ms, any filter within 250 ms.
// HETEROSCOPE_BENCH_JOBS sets another number.

#include "scheduler/history/history.h"
#include "scheduler/history/history_reader.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include <unistd.h>

using namespace heteroscope;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'795'701'912 * second;

JobSnapshot someJob(JobId id) {
    static const char* const kernels[] = {"saxpy", "matmul", "reduction", "transpose", "heat-stencil", "mandelbrot", "histogram"};
    JobSnapshot job;
    job.id = id;
    job.kernel = kernels[id % 7];
    job.parameters = "n=" + std::to_string(1024 + id % 1000) + " a=2.5";
    job.device = id % 3 == 0 ? "cpu-0" : "gpu-bfbb7738";
    job.runtime = "opencl";
    job.policy = id % 5 == 0 ? "fifo" : "mct";
    job.state = id % 97 == 0 ? JobState::Failed : JobState::Succeeded;
    if (id % 97 == 0) job.error = Error{ErrorKind::LaunchFailed, "CL_OUT_OF_RESOURCES"};
    job.attempts = 1;
    const std::int64_t t = start + static_cast<std::int64_t>(id) * second / 1000;
    job.times = {t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7};
    job.waitSeconds = static_cast<double>(id * 7919 % 100'003) * 1e-3;
    job.runSeconds = static_cast<double>(id * 104'729 % 99'991) * 1e-4;
    auto decision = std::make_shared<Decision>();
    decision->job = id;
    decision->policy = job.policy;
    decision->chosen = id % 3 == 0 ? 0 : 1;
    decision->candidates = {{0, {}, 0.1, 0.0, 0.5, 0.6, 3, 0.6}, {1, {}, 0.2, 0.0, 0.5, 0.7, 4, 0.7}};
    job.decision = std::move(decision);
    return job;
}

fs::path freshFolder(const char* name) {
    const fs::path folder = fs::temp_directory_path() / ("heteroscope-bench-" + std::to_string(::getpid()) + "-" + name);
    fs::remove_all(folder);
    return folder;
}

void writeRate(benchmark::State& state) {
    const auto jobs = static_cast<JobId>(state.range(0));
    std::vector<JobSnapshot> ready;
    for (JobId id = 1; id <= jobs; ++id) ready.push_back(someJob(id));
    for (auto _ : state) {
        state.PauseTiming();
        const fs::path folder = freshFolder("write");
        auto opened = History::open(folder);
        if (!opened) return state.SkipWithError(opened.error().message.c_str());
        auto copy = ready;
        state.ResumeTiming();
        for (JobSnapshot& job : copy) opened->history->recordJob(std::move(job), {});
        opened->history->flush();
        state.PauseTiming();
        opened->history.reset();
        fs::remove_all(folder);
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(writeRate)->Arg(100'000)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

/// One job recorded alone until it is committed: what "succeeded" waits for.
void loneCommit(benchmark::State& state) {
    const fs::path folder = freshFolder("lone");
    auto opened = History::open(folder);
    if (!opened) return state.SkipWithError(opened.error().message.c_str());
    JobId id = 1;
    for (auto _ : state) {
        opened->history->recordJob(someJob(id++), {});
        opened->history->flush();
    }
    opened->history.reset();
    fs::remove_all(folder);
}
BENCHMARK(loneCommit)->Unit(benchmark::kMicrosecond)->MeasureProcessCPUTime()->UseRealTime();

/// The large history, filled once.
class Large {
public:
    static Large& get() {
        static Large large;
        return large;
    }
    HistoryReader& reader() { return *reader_; }
    JobId jobs() const { return jobs_; }

private:
    Large() : folder_(freshFolder("large")) {
        if (const char* wanted = std::getenv("HETEROSCOPE_BENCH_JOBS")) jobs_ = std::strtoull(wanted, nullptr, 10);
        if (auto opened = History::open(folder_)) {
            for (JobId id = 1; id <= jobs_; ++id) {
                opened->history->recordJob(someJob(id), {});
                if (id % 50'000 == 0) opened->history->flush();
            }
        }
        reader_ = std::make_unique<HistoryReader>(folder_);
    }
    ~Large() {
        reader_.reset();
        fs::remove_all(folder_);
    }

    fs::path folder_;
    JobId jobs_ = 1'000'000;
    std::unique_ptr<HistoryReader> reader_;
};

using Set = void (*)(HistoryFilter&);

// Two filters by turns, so that no answer comes from what the last one left.
void page(benchmark::State& state, Set set, double at) {
    Large& large = Large::get();
    std::uint64_t total = 0;
    for (auto _ : state) {
        HistoryFilter other, filter;
        other.kernel = "no such kernel";
        set(filter);
        state.PauseTiming();
        (void)readNow<HistoryRows>([&](auto done) { large.reader().page(other, 0, 1, done); });
        state.ResumeTiming();
        const auto offset = static_cast<std::uint64_t>(at * static_cast<double>(large.jobs()));
        const auto answer = readNow<HistoryRows>([&](auto done) { large.reader().page(filter, offset, 256, done); });
        if (!answer) return state.SkipWithError(answer.error().message.c_str());
        total = answer->total;
    }
    state.counters["matching"] = static_cast<double>(total);
}

#define HISTORY_PAGE(name, at, ...) \
    BENCHMARK_CAPTURE(page, name, [](HistoryFilter& f) { (void)f; __VA_ARGS__; }, at)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime()
HISTORY_PAGE(first, 0.0);
HISTORY_PAGE(last, 0.999);
HISTORY_PAGE(text, 0.0, f.text = "matmul n=1500");
HISTORY_PAGE(text_in_all, 0.0, f.text = "n=");
HISTORY_PAGE(text_and_state, 0.0, f.text = "n="; f.states = {JobState::Failed});
HISTORY_PAGE(state_failed, 0.0, f.states = {JobState::Failed});
HISTORY_PAGE(state_succeeded, 0.0, f.states = {JobState::Succeeded});
HISTORY_PAGE(kernel, 0.0, f.kernel = "matmul");
HISTORY_PAGE(device, 0.0, f.device = "gpu-bfbb7738");
HISTORY_PAGE(policy, 0.0, f.policy = "mct");
HISTORY_PAGE(last_tenth, 0.0, f.since = start + 900 * second);
HISTORY_PAGE(by_run_time, 0.0, f.order = HistoryFilter::Order::Run);
HISTORY_PAGE(by_kernel_half_way, 0.5, f.order = HistoryFilter::Order::Kernel);

void facets(benchmark::State& state) {
    for (auto _ : state) {
        auto answer = readNow<HistoryFacets>([&](auto done) { Large::get().reader().facets(done); });
        benchmark::DoNotOptimize(answer);
    }
}
BENCHMARK(facets)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
