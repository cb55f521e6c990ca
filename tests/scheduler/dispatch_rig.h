#pragma once

#include "scheduler/dispatcher.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heteroscope {

/// A Dispatcher with devices that exist only on a clock which the test turns. Plays the workers: stages, runs and
/// answers by the costs it is given, and checks every action against what may happen at all.
class DispatchRig : public CostModel {
public:
    using Seconds = std::vector<double>;  ///< one a device; negative: not known

    struct Launch {
        JobId job = 0;
        DeviceIndex device = noDevice;
        bool operator==(const Launch&) const = default;
    };

    explicit DispatchRig(const std::string& policy, DeviceIndex deviceCount = 1, DispatcherOptions options = {})
        : options_(withPolicy(std::move(options), policy)),
          dispatcher(options_, std::move(*makePolicy(policy)), *this),
          devices_(deviceCount) {
        for (DeviceIndex device = 0; device < deviceCount; ++device) send(event::DeviceCame{device});
    }

    // ---- what the test says ------------------------------------------------------------------------------------

    /// Run time of a job, by device; the last one given counts for all further devices.
    void cost(JobId job, Seconds run, double data = 0.0) {
        run_[job] = std::move(run);
        data_[job] = data;
    }
    void exclude(JobId job, DeviceIndex device, std::string why) { excluded_[{job, device}] = std::move(why); }
    void pin(JobId job, DeviceIndex device) {
        for (DeviceIndex other = 0; other < devices_.size(); ++other)
            if (other != device) exclude(job, other, "pinned to another device");
    }

    /// One job with its cost, in a batch of its own.
    void submit(JobId job, Seconds run = {1.0}, std::vector<JobId> after = {}, int priority = 0) {
        cost(job, std::move(run));
        send(event::JobsSubmitted{{{job, priority, std::move(after)}}});
    }
    void submit(std::vector<DispatchJob> jobs) { send(event::JobsSubmitted{std::move(jobs)}); }

    void send(Event event) { send(std::vector<Event>{std::move(event)}); }
    void send(const std::vector<Event>& events) {
        for (const Event& event : events) see(event);
        std::vector<Action> actions;
        dispatcher.handle(events, now, actions);
        for (Action& action : actions) std::visit([this](auto& each) { perform(each); }, action);
        for (std::size_t state = 0; state < counts_.size(); ++state)
            require(dispatcher.count(static_cast<JobState>(state)) == counts_[state], "a count that the actions do not give");
    }

    /// Lets the devices work until nothing is left to happen, or until `end`.
    void run(Time end = Time::max()) {
        while (!agenda_.empty() && agenda_.begin()->first.first <= end) step();
        if (end != Time::max()) {
            now = std::max(now, end);
            send(event::Tick{});
        }
    }
    void runFor(double seconds) { run(now + toTime(seconds)); }
    void step() {
        const auto next = agenda_.begin();
        now = next->first.first;
        const Event happened = next->second;
        agenda_.erase(next);
        send(happened);
    }
    bool somethingToCome() const { return !agenda_.empty(); }

    /// Off: stages and launches are only recorded and the test answers them itself.
    bool automatic = true;
    /// How a run ends, and whether a device answers an Abort at once or only when the run is over anyway.
    std::function<JobState(JobId, DeviceIndex)> ending = [](JobId, DeviceIndex) { return JobState::Succeeded; };
    bool abortsAtOnce = true;
    double returnSeconds = 0.0;  ///< from RunEnded to JobEnded

    // ---- what the test reads -----------------------------------------------------------------------------------

    std::vector<Launch> launches;
    std::vector<JobId> order() const {
        std::vector<JobId> jobs;
        for (const Launch& each : launches) jobs.push_back(each.job);
        return jobs;
    }
    std::vector<JobId> orderOn(DeviceIndex device) const {
        std::vector<JobId> jobs;
        for (const Launch& each : launches)
            if (each.device == device) jobs.push_back(each.job);
        return jobs;
    }
    JobState state(JobId job) const { return dispatcher.stateOf(job); }
    std::string word(JobId job) const { return std::string(toString(state(job))); }
    JobId cause(JobId job) const { return causes_.at(job); }
    const Decision& decision(JobId job) const { return *decisions_.at(job); }
    bool decided(JobId job) const { return decisions_.contains(job); }
    std::uint32_t attempt(JobId job) const { return attempts_.at(job); }
    int successes(JobId job) const { return successes_.contains(job) ? successes_.at(job) : 0; }
    const std::map<JobId, Time>& finished() const { return finished_; }

    std::vector<std::string> log;  ///< every action in words, for comparing whole histories
    std::vector<action::Abort> aborts;
    std::vector<Time> timers;

    Time now{};

    static Time toTime(double seconds) { return Time(std::llround(seconds * 1e9)); }

private:
    DispatcherOptions options_;

public:
    Dispatcher dispatcher;

    double runSeconds(JobId job, DeviceIndex device) const override {
        const auto found = run_.find(job);
        if (found == run_.end() || found->second.empty()) return -1.0;
        return found->second[std::min<std::size_t>(device, found->second.size() - 1)];
    }
    double dataSeconds(JobId job, DeviceIndex) const override {
        const auto found = data_.find(job);
        return found == data_.end() ? 0.0 : found->second;
    }
    const std::string* excluded(JobId job, DeviceIndex device) const override {
        const auto found = excluded_.find({job, device});
        return found == excluded_.end() ? nullptr : &found->second;
    }

private:
    struct FakeDevice {
        std::set<std::pair<JobId, std::uint32_t>> flight;  // staged or running, by attempt
        std::pair<JobId, std::uint32_t> running{};
    };

    static DispatcherOptions withPolicy(DispatcherOptions options, const std::string& policy) {
        options.policy = policy;
        return options;
    }

    static void require(bool holds, const std::string& what) {
        if (!holds) throw std::logic_error(what);
    }

    void later(double seconds, Event event) {
        agenda_.emplace(std::pair(now + toTime(std::max(seconds, 0.0)), sequence_++), std::move(event));
    }

    static bool mayFollow(JobState from, JobState to) {
        using enum JobState;
        switch (from) {
            case Waiting: return to == Ready || to == Cancelled || to == Skipped;
            case Ready: return to == Assigned || to == Cancelled;
            case Assigned: return to == Staging || to == Ready || to == Cancelled;
            case Staging: return to == Running || to == Ready || (isFinal(to) && to != Skipped);
            case Running: return to == Ready || (isFinal(to) && to != Skipped);
            case Succeeded: return false;
            default: return to == Waiting || to == Ready || to == Skipped;
        }
    }

    void perform(const action::StateChanged& change) {
        const std::string text = "job " + std::to_string(change.job) + " " + std::string(toString(change.state)) + " d" +
                                 std::to_string(static_cast<int>(change.device)) + " a" + std::to_string(change.attempt);
        log.push_back(text);
        const auto known = states_.find(change.job);
        if (known == states_.end())
            require(change.state == JobState::Waiting || change.state == JobState::Ready || change.state == JobState::Skipped,
                    "first state: " + text);
        else
            require(mayFollow(known->second, change.state),
                    std::string(toString(known->second)) + " cannot be followed by " + text);
        if (known != states_.end()) --counts_[static_cast<std::size_t>(known->second)];
        ++counts_[static_cast<std::size_t>(change.state)];
        states_[change.job] = change.state;
        causes_[change.job] = change.cause;
        require((change.decision != nullptr) == (change.state == JobState::Assigned), "decision comes with assigned: " + text);
        if (change.decision) {
            require(change.decision->chosen == change.device && change.decision->job == change.job, "decision: " + text);
            require(change.decision->candidates.at(change.device).excluded.empty(), "placed where excluded: " + text);
            decisions_[change.job] = change.decision;
        }
        if (change.state == JobState::Succeeded) require(++successes_[change.job] == 1, "succeeded twice: " + text);
        if (isFinal(change.state)) finished_[change.job] = now;
    }

    void perform(const action::Stage& stage) {
        log.push_back("stage " + std::to_string(stage.job) + " d" + std::to_string(stage.device));
        require(stage.attempt == ++attempts_[stage.job], "attempts count up by one");
        FakeDevice& device = devices_.at(stage.device);
        device.flight.insert({stage.job, stage.attempt});
        require(device.flight.size() <= options_.stagedAhead + 1, "too many in flight");
        require(!dispatcher.paused(), "staged while paused");
        if (automatic) later(dataSeconds(stage.job, stage.device), event::JobStaged{stage.job, stage.attempt});
    }

    void perform(const action::Launch& launch) {
        log.push_back("launch " + std::to_string(launch.job) + " d" + std::to_string(launch.device));
        FakeDevice& device = devices_.at(launch.device);
        require(device.running == std::pair<JobId, std::uint32_t>{}, "two at once on a device");
        require(device.flight.contains({launch.job, launch.attempt}), "launched what was not staged");
        require(!dispatcher.paused(), "launched while paused");
        device.running = {launch.job, launch.attempt};
        launches.push_back({launch.job, launch.device});
        if (!automatic) return;
        const double run = std::max(runSeconds(launch.job, launch.device), 0.0);
        later(run, event::RunEnded{launch.job, launch.attempt, run});
        later(run + returnSeconds, event::JobEnded{launch.job, launch.attempt, ending(launch.job, launch.device)});
    }

    void perform(const action::Abort& abort) {
        log.push_back("abort " + std::to_string(abort.job) + " d" + std::to_string(abort.device));
        aborts.push_back(abort);
        if (automatic && abortsAtOnce) later(0.0, event::JobEnded{abort.job, abort.attempt, JobState::Cancelled});
        // A job that was staging has no end on the agenda yet.
        if (automatic && !abortsAtOnce && devices_.at(abort.device).running != std::pair(abort.job, abort.attempt))
            later(1.0, event::JobEnded{abort.job, abort.attempt, JobState::Cancelled});
    }

    void perform(const action::SetTimer& timer) {
        log.push_back("timer " + std::to_string(timer.at.count()));
        require(timer.at > now, "a timer in the past");
        timers.push_back(timer.at);
        agenda_.emplace(std::pair(timer.at, sequence_++), event::Tick{});
    }

    /// What an event says of a device, before the dispatcher acts on it.
    void see(const Event& event) {
        if (const auto* run = std::get_if<event::RunEnded>(&event); run && runs(run->job, run->attempt))
            letGo(run->job, run->attempt);
        if (const auto* job = std::get_if<event::JobEnded>(&event)) letGo(job->job, job->attempt);
        if (const auto* went = std::get_if<event::DeviceWent>(&event); went && went->device < devices_.size())
            devices_[went->device] = {};
        if (const auto* came = std::get_if<event::DeviceCame>(&event))
            devices_.resize(std::max<std::size_t>(devices_.size(), came->device + 1));
        if (const auto* forget = std::get_if<event::ForgetFinal>(&event))
            for (const JobId job : forget->jobs)
                if (states_.contains(job) && isFinal(states_[job])) {
                    --counts_[static_cast<std::size_t>(states_[job])];
                    states_.erase(job);
                }
    }

    bool runs(JobId job, std::uint32_t attempt) const {
        return std::any_of(devices_.begin(), devices_.end(),
                           [&](const FakeDevice& device) { return device.running == std::pair(job, attempt); });
    }

    void letGo(JobId job, std::uint32_t attempt) {
        for (FakeDevice& device : devices_) {
            device.flight.erase({job, attempt});
            if (device.running == std::pair(job, attempt)) device.running = {};
        }
    }

    std::vector<FakeDevice> devices_;
    std::map<std::pair<Time, std::uint64_t>, Event> agenda_;
    std::uint64_t sequence_ = 0;
    std::map<JobId, Seconds> run_;
    std::map<JobId, double> data_;
    std::map<std::pair<JobId, DeviceIndex>, std::string> excluded_;
    std::map<JobId, JobState> states_;
    std::array<std::size_t, jobStateCount> counts_{};
    std::map<JobId, JobId> causes_;
    std::map<JobId, std::shared_ptr<const Decision>> decisions_;
    std::map<JobId, std::uint32_t> attempts_;
    std::map<JobId, int> successes_;
    std::map<JobId, Time> finished_;
};

}  // namespace heteroscope
