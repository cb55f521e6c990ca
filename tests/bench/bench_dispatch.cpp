// What one job costs in the dispatcher: submission, decision, five changes of state, the answers of a device that
// needs no time. Decisions are kept, as the live engine keeps them. `queue_hand_over` is what a program without a
// scheduler would do in the same place: the same batches through one std::deque a device, in turn.

#include "scheduler/dispatcher.h"

#include <benchmark/benchmark.h>

#include <ctime>
#include <deque>
#include <utility>

namespace {

using namespace heteroscope;

constexpr std::size_t batchSize = 256;

/// Fixed predictions: what is measured is the dispatcher, not a model.
class FixedCosts final : public CostModel {
public:
    double runSeconds(JobId job, DeviceIndex device) const override {
        return 1e-3 * static_cast<double>(1 + (job + device) % 7);
    }
    double dataSeconds(JobId, DeviceIndex) const override { return 1e-4; }
    const std::string* excluded(JobId, DeviceIndex) const override { return nullptr; }
};

/// Feeds batches of jobs and answers every action at once.
class Stream {
public:
    Stream(const char* policy, DeviceIndex devices) : dispatcher_({.policy = policy}, std::move(*makePolicy(policy)), costs_) {
        for (DeviceIndex device = 0; device < devices; ++device) events_.push_back(event::DeviceCame{device});
        handle();
    }

    void runBatch() {
        event::JobsSubmitted batch;
        batch.jobs.reserve(batchSize);
        for (std::size_t i = 0; i < batchSize; ++i) batch.jobs.push_back({.id = nextId_++, .after = {}});
        events_.push_back(std::move(batch));
        handle();
        while (!dispatcher_.idle()) handle();
        events_.push_back(event::ForgetFinal{std::exchange(ended_, {})});
        if (decisions_.size() > 1'000'000) decisions_.clear();  // a machine's memory is finite
    }

private:
    void handle() {
        actions_.clear();
        now_ += Time(1000);
        dispatcher_.handle(events_, now_, actions_);
        events_.clear();
        for (Action& action : actions_) {
            if (auto* stage = std::get_if<action::Stage>(&action)) {
                events_.push_back(event::JobStaged{stage->job, stage->attempt});
            } else if (auto* launch = std::get_if<action::Launch>(&action)) {
                events_.push_back(event::RunEnded{launch->job, launch->attempt, 1e-3});
                events_.push_back(event::JobEnded{launch->job, launch->attempt, JobState::Succeeded});
            } else if (auto* change = std::get_if<action::StateChanged>(&action)) {
                if (change->decision) decisions_.push_back(std::move(change->decision));
                if (isFinal(change->state)) ended_.push_back(change->job);
            }
        }
    }

    FixedCosts costs_;
    Dispatcher dispatcher_;
    std::vector<Event> events_;
    std::vector<Action> actions_;
    std::vector<JobId> ended_;
    std::vector<std::shared_ptr<const Decision>> decisions_;
    JobId nextId_ = 1;
    Time now_{};
};

/// Processor time, as other programs may run beside this one.
class PerJob {
public:
    explicit PerJob(benchmark::State& state) : state_(state), begin_(std::clock()) {}
    ~PerJob() {
        const double seconds = static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
        const double jobs = static_cast<double>(state_.iterations()) * static_cast<double>(batchSize);
        state_.counters["us_per_job"] = seconds * 1e6 / jobs;
    }

private:
    benchmark::State& state_;
    std::clock_t begin_;
};

void dispatch(benchmark::State& state, const char* policy) {
    Stream stream(policy, static_cast<DeviceIndex>(state.range(0)));
    const PerJob report(state);
    for (auto _ : state) stream.runBatch();
}

/// One hand-over: from the submitter to a device's queue and back.
void queue_hand_over(benchmark::State& state) {
    std::vector<std::deque<JobId>> queues(static_cast<std::size_t>(state.range(0)));
    std::deque<JobId> ended;
    JobId next = 1;
    const PerJob report(state);
    for (auto _ : state) {
        for (std::size_t i = 0; i < batchSize; ++i, ++next) queues[next % queues.size()].push_back(next);
        for (std::deque<JobId>& queue : queues)
            for (; !queue.empty(); queue.pop_front()) ended.push_back(queue.front());
        for (; !ended.empty(); ended.pop_front()) benchmark::DoNotOptimize(ended.front());
    }
}

}  // namespace

BENCHMARK(queue_hand_over)->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, fifo, "fifo")->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, mct, "mct")->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, round_robin, "round-robin")->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, priority, "priority")->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, sjf, "sjf")->Arg(2)->Arg(16);
BENCHMARK_CAPTURE(dispatch, least_loaded, "least-loaded")->Arg(2)->Arg(16);
BENCHMARK_MAIN();
