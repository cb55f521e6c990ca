#include "scheduler/dispatcher.h"

#include "scheduler/job_table.h"
#include "scheduler/ordered_jobs.h"
#include "scheduler/policies/earliest_finish.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

// A batch goes through in five steps: events change the table; arrivals fall due; what became ready is told to the
// policy; overdue jobs and then the policy's choices are put into the queues of the devices; every device begins what
// it may. All containers are indexed or ordered by (time, id), never by address: same events, same actions.
//
// A job on a device is in exactly one of that device's three lists (queue, flight, returning), threaded through the
// job table, so that taking one out of the middle costs O(1).

namespace heteroscope {
namespace {

constexpr Time never = Time::max();

/// A prediction as a whole number of nanoseconds: sums of these come back to zero exactly. Negative: not known.
std::int64_t toNanoseconds(double seconds) {
    constexpr double longest = 1e15;  // eleven days; keeps sums of many far from overflow
    if (!(seconds >= 0.0)) return -1;
    return static_cast<std::int64_t>(std::min(seconds * 1e9, longest) + 0.5);
}

double toSeconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// A doubly linked list through JobEntry::previous and next.
struct JobList {
    JobSlot head = noSlot, tail = noSlot;
    std::uint32_t count = 0;

    void insertAfter(JobTable& jobs, JobSlot place, JobSlot slot) {
        const JobSlot following = place == noSlot ? head : jobs[place].next;
        jobs[slot].previous = place;
        jobs[slot].next = following;
        (place == noSlot ? head : jobs[place].next) = slot;
        (following == noSlot ? tail : jobs[following].previous) = slot;
        ++count;
    }
    void append(JobTable& jobs, JobSlot slot) { insertAfter(jobs, tail, slot); }
    void remove(JobTable& jobs, JobSlot slot) {
        JobEntry& entry = jobs[slot];
        (entry.previous == noSlot ? head : jobs[entry.previous].next) = entry.next;
        (entry.next == noSlot ? tail : jobs[entry.next].previous) = entry.previous;
        entry.previous = entry.next = noSlot;
        --count;
    }
};

/// Predicted work: what is known, and how many jobs about which nothing is.
struct Backlog {
    std::int64_t knownNs = 0;
    std::uint32_t unknown = 0;

    void add(std::int64_t runNs, std::int64_t dataNs) {
        knownNs += std::max<std::int64_t>(runNs, 0) + dataNs;
        if (runNs < 0) ++unknown;
    }
    void subtract(std::int64_t runNs, std::int64_t dataNs) {
        knownNs -= std::max<std::int64_t>(runNs, 0) + dataNs;
        if (runNs < 0) --unknown;
    }
};

/// A cancelled attempt that its device has not let go of yet.
struct Ghost {
    JobId job = 0;
    std::uint32_t attempt = 0;
    bool launched = false;
};

struct DeviceEntry {
    bool online = false;
    std::string offlineReason = "not connected";
    JobList queue;      // assigned
    JobList flight;     // staging, staged, launched
    JobList returning;  // run over, results on their way
    std::uint32_t inFlight = 0;  // flight and ghosts
    bool launched = false;       // something runs there, be it a ghost
    Time busyUntil{};            // of what runs there, by prediction
    Backlog queueBacklog, flightBacklog;  // flight: not launched yet
    std::vector<Ghost> ghosts;
    std::int64_t measuredNs = 0;  // sum of run times that ended here
    std::int64_t measuredRuns = 0;
};

}  // namespace

struct Dispatcher::Impl final : SystemView, Assignments {
    Impl(DispatcherOptions given, std::shared_ptr<Policy> first, const CostModel& model)
        : options(std::move(given)), policy(std::move(first)), costs(model) {}

    DispatcherOptions options;
    std::shared_ptr<Policy> policy;
    const CostModel& costs;

    JobTable jobs;
    std::vector<DeviceEntry> devices;
    Time clock{};
    bool isPaused = false;
    std::int64_t measuredNs = 0, measuredRuns = 0;  // over all devices

    OrderedJobs arrivals;                      // by due time; stale once not Waiting
    OrderedJobs readySince;                    // by ready time, for the starvation rule; stale once not Ready
    std::set<std::pair<Time, JobId>> overdue;  // Ready for longer than the limit
    std::vector<JobId> overdueNowhere;         // overdue, and no device can take them
    std::vector<JobSlot> newlyReady;           // not yet told to the policy
    std::vector<JobSlot> maybeLower;           // lost a dependant that may have lent its priority
    Time timer = never;                        // the SetTimer still to come
    std::vector<Action>* out = nullptr;

    // Reused between calls, so that a batch allocates nothing for them.
    std::vector<JobId> idScratch;
    std::vector<JobSlot> slotScratch;

    std::uint32_t flightLimit() const { return options.stagedAhead + 1; }

    // ---- SystemView ------------------------------------------------------------------------------------------

    Time now() const override { return clock; }
    std::size_t deviceCount() const override { return devices.size(); }

    DeviceView device(DeviceIndex index) const override {
        DeviceView view;
        view.index = index;
        if (index >= devices.size()) return view;
        const DeviceEntry& entry = devices[index];
        view.online = entry.online;
        view.running = entry.launched ? 1 : 0;
        view.queued = entry.queue.count + entry.inFlight - view.running;
        view.idle = entry.online && entry.queue.count + entry.inFlight < flightLimit();
        return view;
    }

    JobView job(JobId id) const override {
        const JobSlot slot = jobs.find(id);
        if (slot == noSlot) return {};
        const JobEntry& entry = jobs[slot];
        return {entry.id, entry.effectivePriority, entry.submitted, entry.ready, entry.after};
    }

    std::size_t readyCount() const override { return jobs.count(JobState::Ready); }

    const std::string* excluded(JobId id, DeviceIndex index) const override {
        if (!devices[index].online) return &devices[index].offlineReason;
        return costs.excluded(id, index);
    }
    double runSeconds(JobId id, DeviceIndex index) const override { return costs.runSeconds(id, index); }
    double dataSeconds(JobId id, DeviceIndex index) const override { return costs.dataSeconds(id, index); }
    double freeInSeconds(DeviceIndex index) const override {
        const DeviceEntry& entry = devices[index];
        return toSeconds(flightNs(entry) + backlogNs(entry, entry.queueBacklog));
    }

    /// A job about which nothing is known counts as the mean of what has run there, or else anywhere.
    std::int64_t backlogNs(const DeviceEntry& entry, const Backlog& backlog) const {
        if (backlog.unknown == 0) return backlog.knownNs;
        const std::int64_t mean = entry.measuredRuns > 0 ? entry.measuredNs / entry.measuredRuns
                                  : measuredRuns > 0     ? measuredNs / measuredRuns
                                                         : 0;
        return backlog.knownNs + mean * backlog.unknown;
    }
    std::int64_t flightNs(const DeviceEntry& entry) const {
        const Time left = entry.launched ? std::max(entry.busyUntil - clock, Time::zero()) : Time::zero();
        return left.count() + backlogNs(entry, entry.flightBacklog);
    }

    // ---- Assignments -----------------------------------------------------------------------------------------

    Decision candidates(JobId id) const override {
        Decision decision;
        decision.job = id;
        decision.policy = options.policy;
        decision.at = options.epochNs + clock.count();
        decision.candidates.resize(devices.size());
        for (DeviceIndex index = 0; index < devices.size(); ++index) {
            Candidate& candidate = decision.candidates[index];
            const DeviceEntry& entry = devices[index];
            candidate.device = index;
            candidate.queued = entry.queue.count + entry.inFlight;
            candidate.freeIn = freeInSeconds(index);
            if (const std::string* reason = excluded(id, index)) {
                candidate.excluded = reason->empty() ? "not possible there" : *reason;
                continue;
            }
            candidate.dataIn = costs.dataSeconds(id, index);
            candidate.run = costs.runSeconds(id, index);
            settleFinish(candidate);
        }
        return decision;
    }

    static void settleFinish(Candidate& candidate) {
        if (candidate.run >= 0.0)
            candidate.finish = candidate.freeIn + std::max(candidate.dataIn, 0.0) + candidate.run;
    }

    void assign(JobId id, DeviceIndex index, Decision decision) override {
        const JobSlot slot = jobs.find(id);
        assert(slot != noSlot && jobs[slot].state == JobState::Ready && "a policy places ready jobs only");
        if (slot == noSlot || jobs[slot].state != JobState::Ready) return;
        JobEntry& entry = jobs[slot];
        if (index >= devices.size() || excluded(id, index)) {
            // A policy that errs must not lose a job: it gets it again with the next batch.
            assert(false && "a policy places jobs on eligible devices only");
            if (entry.withPolicy) newlyReady.push_back(slot);
            entry.withPolicy = false;
            return;
        }
        if (entry.overdue) overdue.erase({entry.ready, id});
        entry.overdue = false;
        place(slot, index, std::move(decision), devices[index].queue.tail);
    }

    void place(JobSlot slot, DeviceIndex index, Decision&& decision, JobSlot behind) {
        JobEntry& entry = jobs[slot];
        DeviceEntry& target = devices[index];
        entry.withPolicy = false;
        entry.device = index;
        const Candidate* chosen = index < decision.candidates.size() ? &decision.candidates[index] : nullptr;
        entry.runNs = toNanoseconds(chosen ? chosen->run : costs.runSeconds(entry.id, index));
        entry.dataNs = std::max<std::int64_t>(toNanoseconds(chosen ? chosen->dataIn : costs.dataSeconds(entry.id, index)), 0);
        target.queue.insertAfter(jobs, behind, slot);
        target.queueBacklog.add(entry.runNs, entry.dataNs);
        decision.chosen = index;
        jobs.setState(entry, JobState::Assigned);
        emitState(entry, std::make_shared<const Decision>(std::move(decision)));
    }

    // ---- changes of state ------------------------------------------------------------------------------------

    void emitState(const JobEntry& entry, std::shared_ptr<const Decision> decision = nullptr) {
        out->emplace_back(std::in_place_type<action::StateChanged>, entry.id, entry.state, entry.device, entry.attempt,
                          entry.cause, std::move(decision));
    }

    void makeReady(JobSlot slot, Time since) {
        JobEntry& entry = jobs[slot];
        entry.device = noDevice;
        entry.phase = JobPhase::None;
        entry.ready = since;
        entry.overdue = false;
        entry.withPolicy = false;
        jobs.setState(entry, JobState::Ready);
        emitState(entry);
        newlyReady.push_back(slot);
        if (options.starvationLimit > Time::zero()) readySince.push({0.0, since.count(), entry.id, entry.id});
    }

    /// Ends a job that is on no list any more.
    void finish(JobSlot slot, JobState state, JobId cause = 0) {
        JobEntry& entry = jobs[slot];
        entry.cause = cause;
        entry.phase = JobPhase::None;
        jobs.setState(entry, state);
        emitState(entry);
        if (state != JobState::Succeeded) {
            for (const JobId id : entry.after) {
                const JobSlot above = jobs.find(id);
                if (above != noSlot && jobs[above].effectivePriority > jobs[above].priority) maybeLower.push_back(above);
            }
            return;
        }
        // It stays succeeded, so that nobody will ask for these again.
        const std::vector<JobId> dependants = std::exchange(entry.dependants, {});
        for (const JobId id : dependants) {
            const JobSlot dependant = jobs.find(id);
            if (dependant == noSlot || jobs[dependant].state != JobState::Waiting) continue;
            if (jobs[dependant].unmet > 0) --jobs[dependant].unmet;
            readyIfDue(dependant);
        }
    }

    void readyIfDue(JobSlot slot) {
        const JobEntry& entry = jobs[slot];
        if (entry.state == JobState::Waiting && entry.unmet == 0 && entry.due <= clock) makeReady(slot, clock);
    }

    /// Skips everything that waits for a job that did not succeed, near ones first.
    void skipDependants(JobSlot slot) {
        const JobId blame = jobs[slot].cause != 0 ? jobs[slot].cause : jobs[slot].id;
        std::vector<JobSlot> reached{slot};
        for (std::size_t at = 0; at < reached.size(); ++at) {
            for (const JobId id : jobs[reached[at]].dependants) {
                const JobSlot dependant = jobs.find(id);
                if (dependant == noSlot || jobs[dependant].state != JobState::Waiting) continue;
                finish(dependant, JobState::Skipped, blame);
                reached.push_back(dependant);
            }
        }
    }

    // ---- on and off a device ---------------------------------------------------------------------------------

    void leaveQueue(JobSlot slot) {
        JobEntry& entry = jobs[slot];
        DeviceEntry& target = devices[entry.device];
        target.queue.remove(jobs, slot);
        target.queueBacklog.subtract(entry.runNs, entry.dataNs);
    }

    void launchOver(DeviceEntry& target) {
        target.launched = false;
        target.busyUntil = Time::zero();
    }

    /// Takes a job out of the flight or returning list. `free`: its device may begin something else.
    void leaveDevice(JobSlot slot, bool free) {
        JobEntry& entry = jobs[slot];
        DeviceEntry& target = devices[entry.device];
        if (entry.phase == JobPhase::Returning) return target.returning.remove(jobs, slot);
        target.flight.remove(jobs, slot);
        if (entry.phase == JobPhase::Staging) target.flightBacklog.subtract(entry.runNs, entry.dataNs);
        if (entry.phase == JobPhase::Staged) target.flightBacklog.subtract(entry.runNs, 0);
        if (!free) return;
        --target.inFlight;
        if (entry.phase == JobPhase::Launched) launchOver(target);
    }

    bool isCurrent(JobSlot slot, std::uint32_t attempt) const {
        if (slot == noSlot) return false;
        const JobEntry& entry = jobs[slot];
        return (entry.state == JobState::Staging || entry.state == JobState::Running) && entry.attempt == attempt;
    }

    /// The late answer of a cancelled attempt.
    void freeGhost(JobId id, std::uint32_t attempt) {
        for (DeviceEntry& target : devices) {
            const auto ghost = std::find_if(target.ghosts.begin(), target.ghosts.end(), [&](const Ghost& candidate) {
                return candidate.job == id && candidate.attempt == attempt;
            });
            if (ghost == target.ghosts.end()) continue;
            if (ghost->launched) launchOver(target);
            --target.inFlight;
            target.ghosts.erase(ghost);
            return;
        }
    }

    /// From a device's queue back to the policy.
    void takeBack(JobSlot slot) {
        leaveQueue(slot);
        makeReady(slot, jobs[slot].ready);
    }

    void takeBackQueues() {
        for (DeviceEntry& target : devices)
            while (target.queue.head != noSlot) takeBack(target.queue.head);
    }

    // ---- events ----------------------------------------------------------------------------------------------

    void on(const event::JobsSubmitted& submitted) {
        std::vector<JobSlot> added;
        added.reserve(submitted.jobs.size());
        for (const DispatchJob& job : submitted.jobs) {
            const JobSlot slot = jobs.insert(job, clock);
            assert(slot != noSlot && "ids are unique");
            if (slot != noSlot) added.push_back(slot);
        }
        // Edges and priorities once all are in: a job may come before those it depends on. Backwards, so that a
        // chain passes its priority up in one go.
        for (const JobSlot slot : added) jobs.link(slot);
        slotScratch.clear();
        for (auto slot = added.rbegin(); slot != added.rend(); ++slot)
            for (const JobId id : jobs[*slot].after)
                if (const JobSlot above = jobs.find(id); above != noSlot)
                    jobs.raisePriority(above, jobs[*slot].effectivePriority, slotScratch);
        tellPriorities();

        idScratch.clear();
        for (const JobSlot slot : added) idScratch.push_back(jobs[slot].id);
        policy->jobsSubmitted(idScratch, *this);
        for (const JobSlot slot : added) begin(slot);
    }

    /// First state of a job, or its state after a retry: waiting, ready, or skipped at once.
    void begin(JobSlot slot) {
        JobEntry& entry = jobs[slot];
        // An earlier one of this batch may have skipped it already.
        if (entry.state != JobState::Waiting) return;
        if (const JobId blame = jobs.settleDependencies(entry)) {
            finish(slot, JobState::Skipped, blame);
            skipDependants(slot);
        } else if (entry.unmet > 0 || entry.due > clock) {
            emitState(entry);
            if (entry.due > clock) arrivals.push({0.0, entry.due.count(), entry.id, entry.id});
        } else {
            makeReady(slot, clock);
        }
    }

    void on(const event::JobStaged& staged) {
        const JobSlot slot = jobs.find(staged.job);
        if (!isCurrent(slot, staged.attempt) || jobs[slot].phase != JobPhase::Staging) return;
        JobEntry& entry = jobs[slot];
        entry.phase = JobPhase::Staged;
        devices[entry.device].flightBacklog.knownNs -= entry.dataNs;
    }

    void on(const event::RunEnded& ended) {
        const JobSlot slot = jobs.find(ended.job);
        if (!isCurrent(slot, ended.attempt)) return freeGhost(ended.job, ended.attempt);
        JobEntry& entry = jobs[slot];
        if (entry.phase != JobPhase::Launched) return;
        leaveDevice(slot, true);
        entry.phase = JobPhase::Returning;
        entry.runSeconds = ended.runSeconds;
        DeviceEntry& target = devices[entry.device];
        target.returning.append(jobs, slot);
        if (const std::int64_t ns = toNanoseconds(ended.runSeconds); ns >= 0) {
            target.measuredNs += ns;
            measuredNs += ns;
            ++target.measuredRuns;
            ++measuredRuns;
        }
    }

    void on(const event::JobEnded& ended) {
        const JobSlot slot = jobs.find(ended.job);
        if (!isCurrent(slot, ended.attempt)) return freeGhost(ended.job, ended.attempt);
        assert(isFinal(ended.state) && ended.state != JobState::Skipped && "a job ends in a state of its own");
        const JobState state = isFinal(ended.state) && ended.state != JobState::Skipped ? ended.state : JobState::Failed;
        leaveDevice(slot, true);
        const JobEntry& entry = jobs[slot];
        const Outcome outcome{entry.id, entry.device, state, entry.runSeconds,
                              entry.runNs < 0 ? -1.0 : toSeconds(entry.runNs)};
        finish(slot, state);
        if (state != JobState::Succeeded) skipDependants(slot);
        policy->jobFinished(outcome, *this);
    }

    void on(const event::CancelRequested& request) {
        idScratch.clear();
        slotScratch.clear();
        for (const JobId id : request.jobs) {
            const JobSlot slot = jobs.find(id);
            if (slot == noSlot || isFinal(jobs[slot].state)) continue;
            cancel(slot);
            slotScratch.push_back(slot);
        }
        if (!idScratch.empty()) policy->jobsRemoved(idScratch, *this);
        // Afterwards, so that a job which was named itself is cancelled, not skipped for another one's sake.
        for (const JobSlot slot : slotScratch) skipDependants(slot);
    }

    void cancel(JobSlot slot) {
        JobEntry& entry = jobs[slot];
        bool abort = false;
        if (entry.state == JobState::Ready) {
            if (entry.withPolicy) idScratch.push_back(entry.id);
            leaveReady(entry);
        } else if (entry.state == JobState::Assigned) {
            leaveQueue(slot);
        } else if (entry.state == JobState::Staging || entry.state == JobState::Running) {
            abort = true;
            if (entry.phase != JobPhase::Returning)
                devices[entry.device].ghosts.push_back({entry.id, entry.attempt, entry.phase == JobPhase::Launched});
            leaveDevice(slot, false);
        }
        finish(slot, JobState::Cancelled);
        if (abort) out->emplace_back(std::in_place_type<action::Abort>, entry.id, entry.device, entry.attempt);
    }

    void leaveReady(JobEntry& entry) {
        entry.withPolicy = false;
        if (entry.overdue) overdue.erase({entry.ready, entry.id});
    }

    void on(const event::RetryRequested& request) {
        const JobSlot slot = jobs.find(request.job);
        if (slot == noSlot || !isFinal(jobs[slot].state) || jobs[slot].state == JobState::Succeeded) return;
        reopen(slot);
        begin(slot);
        if (isFinal(jobs[slot].state)) return;
        releaseDependants(slot);
        slotScratch.clear();
        for (const JobId id : jobs[slot].after)
            if (const JobSlot above = jobs.find(id); above != noSlot)
                jobs.raisePriority(above, jobs[slot].effectivePriority, slotScratch);
        tellPriorities();
    }

    void reopen(JobSlot slot) {
        JobEntry& entry = jobs[slot];
        entry.cause = 0;
        entry.device = noDevice;
        entry.runSeconds = 0.0;
        entry.due = std::min(entry.due, clock);
        entry.effectivePriority = entry.priority;
        jobs.setState(entry, JobState::Waiting);
    }

    /// Lets the skipped dependants of a job that is tried again wait for it, those of theirs too; the ones that
    /// another job keeps skipped name that one from then on.
    void releaseDependants(JobSlot slot) {
        std::vector<JobSlot> released{slot}, kept;
        for (std::size_t at = 0; at < released.size(); ++at) {
            for (const JobId id : jobs[released[at]].dependants) {
                const JobSlot dependant = jobs.find(id);
                if (dependant == noSlot || jobs[dependant].state != JobState::Skipped) continue;
                if (jobs.settleDependencies(jobs[dependant]) != 0) {
                    kept.push_back(dependant);
                    continue;
                }
                reopen(dependant);
                emitState(jobs[dependant]);
                released.push_back(dependant);
            }
        }
        for (const JobSlot dependant : kept) {
            JobEntry& entry = jobs[dependant];
            if (entry.state != JobState::Skipped) continue;
            const JobId blame = jobs.settleDependencies(entry);
            if (blame == entry.cause) continue;
            entry.cause = blame;
            emitState(entry);
        }
        slotScratch.clear();
        for (auto it = released.rbegin(); it != released.rend(); ++it)
            for (const JobId id : jobs[*it].after)
                if (const JobSlot above = jobs.find(id); above != noSlot)
                    jobs.raisePriority(above, jobs[*it].effectivePriority, slotScratch);
        tellPriorities();
    }

    void on(const event::PriorityChanged& change) {
        const JobSlot slot = jobs.find(change.job);
        if (slot == noSlot) return;
        JobEntry& entry = jobs[slot];
        entry.priority = change.priority;
        slotScratch.clear();
        if (isFinal(entry.state)) return;
        jobs.raisePriority(slot, change.priority, slotScratch);
        jobs.lowerPriority(slot, slotScratch);
        tellPriorities();
    }

    /// Tells the policy of the effective priorities that moved (slotScratch). A job that already stands in a
    /// device's queue goes back to a policy that orders by priority; elsewhere it would only lose its place.
    void tellPriorities() {
        for (const JobSlot slot : slotScratch) {
            const JobEntry& entry = jobs[slot];
            if (entry.state == JobState::Ready && entry.withPolicy) policy->priorityChanged(entry.id, *this);
            if (entry.state == JobState::Assigned && policy->ordersByPriority()) takeBack(slot);
        }
        slotScratch.clear();
    }

    void on(const event::DeviceCame& came) {
        if (came.device >= devices.size()) devices.resize(std::size_t{came.device} + 1);
        DeviceEntry& target = devices[came.device];
        if (target.online) return;
        target.online = true;
        for (const JobId id : std::exchange(overdueNowhere, {})) {
            const JobSlot slot = jobs.find(id);
            if (slot != noSlot && jobs[slot].state == JobState::Ready && jobs[slot].overdue)
                overdue.insert({jobs[slot].ready, id});
        }
        // What stands in the queues was placed without knowing of this device.
        takeBackQueues();
        policy->devicesChanged(*this);
    }

    void on(const event::DeviceWent& went) {
        if (went.device >= devices.size() || !devices[went.device].online) return;
        DeviceEntry& target = devices[went.device];
        target.online = false;
        target.offlineReason = went.why.empty() ? "not connected" : went.why;
        for (JobList* list : {&target.returning, &target.flight}) {
            while (list->head != noSlot) {
                const JobSlot slot = list->head;
                leaveDevice(slot, true);
                makeReady(slot, jobs[slot].ready);
            }
        }
        while (target.queue.head != noSlot) takeBack(target.queue.head);
        target.ghosts.clear();
        target.inFlight = 0;
        launchOver(target);
        policy->devicesChanged(*this);
    }

    void on(const event::PolicyChanged& change) {
        assert(change.next && "a change of policy brings one");
        if (!change.next) return;
        takeBackQueues();
        options.policy = change.policy;
        policy = change.next;
        newlyReady.clear();
        idScratch.clear();
        for (const JobSlot slot : jobs.slotsById()) {
            JobEntry& entry = jobs[slot];
            if (!isFinal(entry.state)) idScratch.push_back(entry.id);
            if (entry.state != JobState::Ready) continue;
            entry.withPolicy = false;
            newlyReady.push_back(slot);
        }
        policy->jobsSubmitted(idScratch, *this);
    }

    void on(const event::Paused&) { isPaused = true; }
    void on(const event::Resumed&) { isPaused = false; }
    void on(const event::Tick&) {}

    void on(const event::ForgetFinal& forget) {
        for (const JobId id : forget.jobs) {
            const JobSlot slot = jobs.find(id);
            if (slot != noSlot && isFinal(jobs[slot].state)) jobs.forget(slot);
        }
    }

    // ---- after the events ------------------------------------------------------------------------------------

    void settleArrivals() {
        while (!arrivals.empty()) {
            const OrderedJobs::Entry first = arrivals.first();
            const JobSlot slot = jobs.find(first.job);
            const bool stale = slot == noSlot || jobs[slot].state != JobState::Waiting ||
                               jobs[slot].due.count() != first.then;
            if (!stale && jobs[slot].due > clock) return;
            arrivals.popFirst();
            if (!stale) readyIfDue(slot);
        }
    }

    void settlePriorities() {
        if (maybeLower.empty()) return;
        std::sort(maybeLower.begin(), maybeLower.end());
        maybeLower.erase(std::unique(maybeLower.begin(), maybeLower.end()), maybeLower.end());
        slotScratch.clear();
        for (const JobSlot slot : maybeLower) jobs.lowerPriority(slot, slotScratch);
        maybeLower.clear();
        tellPriorities();
    }

    void tellReady() {
        if (newlyReady.empty()) return;
        idScratch.clear();
        for (const JobSlot slot : newlyReady) {
            JobEntry& entry = jobs[slot];
            // It may have left again within the batch, or come twice.
            if (entry.id == 0 || entry.state != JobState::Ready || entry.withPolicy) continue;
            entry.withPolicy = true;
            idScratch.push_back(entry.id);
        }
        newlyReady.clear();
        if (!idScratch.empty()) policy->jobsReady(idScratch, *this);
    }

    bool isReadySince(const OrderedJobs::Entry& since) const {
        const JobSlot slot = jobs.find(since.job);
        return slot != noSlot && jobs[slot].state == JobState::Ready && !jobs[slot].overdue &&
               jobs[slot].ready.count() == since.then;
    }

    void collectOverdue() {
        while (!readySince.empty()) {
            const OrderedJobs::Entry first = readySince.first();
            const bool live = isReadySince(first);
            if (live && clock - Time(first.then) < options.starvationLimit) break;
            readySince.popFirst();
            if (!live) continue;
            jobs[jobs.find(first.job)].overdue = true;
            overdue.insert({Time(first.then), first.job});
        }
        // Behind one job that stays ready for long, stale entries would pile up.
        if (readySince.size() > 2 * jobs.count(JobState::Ready) + 1024)
            readySince.keepOnly([this](const OrderedJobs::Entry& entry) { return isReadySince(entry); });
    }

    /// What an overdue job would find before it: what the device has begun, and other overdue ones.
    struct Front {
        std::uint32_t jobs = 0;
        std::int64_t ns = 0;
    };
    Front front(const DeviceEntry& target) const {
        Front ahead{target.inFlight, flightNs(target)};
        for (JobSlot slot = target.queue.head; slot != noSlot && jobs[slot].overdue; slot = jobs[slot].next) {
            Backlog one;
            one.add(jobs[slot].runNs, jobs[slot].dataNs);
            ahead.ns += backlogNs(target, one);
            ++ahead.jobs;
        }
        return ahead;
    }

    /// Overdue jobs go in front, oldest first, to the device that would finish them first: no more at a time than a
    /// device can begin, so that a long overdue queue follows the devices' real speed. The others stay with the
    /// policy. Bounded by a count, for queues whose head is pinned to a device that is full.
    void placeOverdue() {
        constexpr int lookAhead = 16;
        int looked = 0;
        for (auto next = overdue.begin(); next != overdue.end() && looked < lookAhead; ++looked) {
            if (std::none_of(devices.begin(), devices.end(), [this](const DeviceEntry& target) {
                    return target.online && front(target).jobs < flightLimit();
                }))
                return;
            const JobId id = next->second;
            Decision decision = candidatesInFront(id);
            const DeviceIndex index = chooseEarliestFinish(decision);
            if (index != noDevice && decision.candidates[index].queued >= flightLimit()) {
                ++next;
                continue;
            }
            next = overdue.erase(next);
            if (index == noDevice)
                overdueNowhere.push_back(id);
            else
                placeInFront(id, index, std::move(decision));
        }
    }

    Decision candidatesInFront(JobId id) const {
        Decision decision = candidates(id);
        for (Candidate& candidate : decision.candidates) {
            const Front ahead = front(devices[candidate.device]);
            candidate.queued = ahead.jobs;
            candidate.freeIn = toSeconds(ahead.ns);
            settleFinish(candidate);
        }
        return decision;
    }

    void placeInFront(JobId id, DeviceIndex index, Decision&& decision) {
        const JobSlot slot = jobs.find(id);
        decision.note = overdueNote(toSeconds((clock - jobs[slot].ready).count()),
                                    toSeconds(options.starvationLimit.count()));
        if (jobs[slot].withPolicy) policy->jobsRemoved({&id, 1}, *this);
        JobSlot behind = noSlot;
        for (JobSlot at = devices[index].queue.head; at != noSlot && jobs[at].overdue; at = jobs[at].next) behind = at;
        place(slot, index, std::move(decision), behind);
    }

    /// Launches what is staged where nothing runs, and stages up to the limit.
    void pump(DeviceIndex index) {
        DeviceEntry& target = devices[index];
        if (!target.online) return;
        if (!target.launched) {
            for (JobSlot slot = target.flight.head; slot != noSlot; slot = jobs[slot].next) {
                if (jobs[slot].phase != JobPhase::Staged) continue;
                launch(target, jobs[slot]);
                break;
            }
        }
        while (target.queue.head != noSlot && target.inFlight < flightLimit()) stage(target, target.queue.head);
    }

    void stage(DeviceEntry& target, JobSlot slot) {
        leaveQueue(slot);
        target.flight.append(jobs, slot);
        ++target.inFlight;
        JobEntry& entry = jobs[slot];
        target.flightBacklog.add(entry.runNs, entry.dataNs);
        entry.phase = JobPhase::Staging;
        entry.overdue = false;
        entry.runSeconds = 0.0;
        ++entry.attempt;
        jobs.setState(entry, JobState::Staging);
        emitState(entry);
        out->emplace_back(std::in_place_type<action::Stage>, entry.id, entry.device, entry.attempt);
    }

    void launch(DeviceEntry& target, JobEntry& entry) {
        target.flightBacklog.subtract(entry.runNs, 0);
        target.launched = true;
        target.busyUntil = clock + Time(std::max<std::int64_t>(entry.runNs, 0));
        entry.phase = JobPhase::Launched;
        jobs.setState(entry, JobState::Running);
        emitState(entry);
        out->emplace_back(std::in_place_type<action::Launch>, entry.id, entry.device, entry.attempt);
    }

    void requestTimer() {
        if (timer <= clock) timer = never;
        Time next = arrivals.empty() ? never : Time(arrivals.first().then);
        if (!readySince.empty()) next = std::min(next, Time(readySince.first().then) + options.starvationLimit);
        if (next >= timer) return;
        timer = next;
        out->emplace_back(action::SetTimer{next});
    }

    void handle(std::span<const Event> events, Time at, std::vector<Action>& actions) {
        out = &actions;
        clock = std::max(clock, at);
        for (const Event& next : events) std::visit([this](const auto& happened) { on(happened); }, next);
        settlePriorities();
        settleArrivals();
        tellReady();
        if (options.starvationLimit > Time::zero()) collectOverdue();
        if (!isPaused) {
            placeOverdue();
            policy->schedule(*this, *this);
            for (DeviceIndex index = 0; index < devices.size(); ++index) pump(index);
        }
        requestTimer();
        out = nullptr;
    }
};

Dispatcher::Dispatcher(DispatcherOptions options, std::unique_ptr<Policy> policy, const CostModel& costs)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(policy), costs)) {}
Dispatcher::~Dispatcher() = default;

void Dispatcher::handle(std::span<const Event> events, Time now, std::vector<Action>& out) {
    impl_->handle(events, now, out);
}

JobState Dispatcher::stateOf(JobId job) const {
    const JobSlot slot = impl_->jobs.find(job);
    assert(slot != noSlot && "ask knows() first");
    return slot == noSlot ? JobState::Waiting : impl_->jobs[slot].state;
}
bool Dispatcher::knows(JobId job) const { return impl_->jobs.find(job) != noSlot; }
std::size_t Dispatcher::count(JobState state) const { return impl_->jobs.count(state); }
bool Dispatcher::idle() const {
    return count(JobState::Waiting) + count(JobState::Ready) + count(JobState::Assigned) + count(JobState::Staging) +
               count(JobState::Running) == 0;
}
bool Dispatcher::quiet() const {
    for (const DeviceEntry& device : impl_->devices) {
        if (device.launched || device.returning.count > 0 || !device.ghosts.empty()) return false;
        for (JobSlot slot = device.flight.head; slot != noSlot; slot = impl_->jobs[slot].next)
            if (impl_->jobs[slot].phase != JobPhase::Staged) return false;
    }
    return true;
}
bool Dispatcher::paused() const { return impl_->isPaused; }
const std::string& Dispatcher::policyName() const { return impl_->options.policy; }
double Dispatcher::freeInSeconds(DeviceIndex device) const { return impl_->freeInSeconds(device); }
DeviceView Dispatcher::device(DeviceIndex device) const { return impl_->device(device); }
std::size_t Dispatcher::deviceCount() const { return impl_->devices.size(); }

}  // namespace heteroscope
