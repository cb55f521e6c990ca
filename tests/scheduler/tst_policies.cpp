#include "tests/scheduler/dispatch_rig.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

using namespace heteroscope;

using Order = std::vector<JobId>;

namespace {

/// One job ahead is staged in the program; here none, so that an order is the policy's alone.
DispatcherOptions nothingAhead() {
    return {.stagedAhead = 0};
}

std::vector<DispatchJob> jobsUpTo(JobId last, std::vector<int> priorities = {}) {
    std::vector<DispatchJob> jobs;
    for (JobId id = 1; id <= last; ++id)
        jobs.push_back({id, id <= priorities.size() ? priorities[id - 1] : 0, {}});
    return jobs;
}

std::string said(const Result<std::unique_ptr<Policy>>& made) {
    return made ? "made" : made.error().message;
}

}  // namespace

class TestPolicies : public QObject {
    Q_OBJECT

private slots:
    void everyPolicyTellsWhatItIs() {
        std::vector<std::string> ids;
        for (const PolicyInfo& info : policies()) {
            ids.push_back(info.id);
            QVERIFY2(info.description.size() > 100, info.id.c_str());
            QVERIFY2(info.description.find("ource:") != std::string::npos || info.id == "fifo", info.id.c_str());
            QVERIFY2(makePolicy(info.id), info.id.c_str());
            QCOMPARE(findPolicy(info.id), &info);
        }
        QCOMPARE(ids, (std::vector<std::string>{"round-robin", "fifo", "priority", "sjf", "least-loaded", "mct"}));
    }

    void optionsAreRead() {
        QCOMPARE(said(makePolicy("priority:ageing=0.5")), std::string("made"));
        QCOMPARE(said(makePolicy("mct:")), std::string("made"));
        QCOMPARE(said(makePolicy("lifo")),
                 std::string("unknown policy 'lifo'; there are: round-robin, fifo, priority, sjf, least-loaded, mct"));
        QCOMPARE(said(makePolicy("")),
                 std::string("unknown policy ''; there are: round-robin, fifo, priority, sjf, least-loaded, mct"));
        QCOMPARE(said(makePolicy("priority:aging=1")), std::string("policy 'priority' has no option 'aging'; it has: ageing"));
        QCOMPARE(said(makePolicy("priority:ageing=1,x=2")), std::string("policy 'priority' has no option 'x'; it has: ageing"));
        QCOMPARE(said(makePolicy("mct:a=1")), std::string("policy 'mct' has no options; found 'a=1'"));
        QCOMPARE(said(makePolicy("priority:ageing")),
                 std::string("policy 'priority': option 'ageing' needs a value, as in 'ageing=0.1'"));
        for (const char* bad : {"priority:ageing=", "priority:ageing=fast", "priority:ageing=1x", "priority:ageing=nan",
                                "priority:ageing=inf", "priority:ageing=-1"})
            QVERIFY2(said(makePolicy(bad)).find("is a number") != std::string::npos, bad);
    }

    // ---- orders --------------------------------------------------------------------------------------------------

    //  jobs 1 2 3 4, one device
    void fifoRunsTheOldestFirst() {
        DispatchRig rig("fifo", 1, nothingAhead());
        rig.submit(jobsUpTo(4, {0, 9, 0, 9}));
        rig.run();
        QCOMPARE(rig.order(), (Order{1, 2, 3, 4}));
    }

    //  job 1 runs 5 s on cpu-0, 2 takes cpu-1 for 1 s: cpu-1 is free first and takes 3, then 4
    void fifoFeedsTheDeviceThatIsFree() {
        DispatchRig rig("fifo", 2, nothingAhead());
        for (JobId job = 1; job <= 4; ++job) rig.cost(job, {5.0, 1.0});
        rig.submit(jobsUpTo(4));
        rig.run();
        QCOMPARE(rig.orderOn(0), (Order{1}));
        QCOMPARE(rig.orderOn(1), (Order{2, 3, 4}));
    }

    //  1 and 2 may run only on device 1; device 0 takes 3 although it is younger
    void fifoLooksPastAJobThatIsPinnedElsewhere() {
        DispatchRig rig("fifo", 2, nothingAhead());
        rig.pin(1, 1);
        rig.pin(2, 1);
        rig.submit(jobsUpTo(3));
        QCOMPARE(rig.launches.size(), std::size_t{0});
        rig.run();
        QCOMPARE(rig.orderOn(0), (Order{3}));
        QCOMPARE(rig.orderOn(1), (Order{1, 2}));
    }

    //  the one that became ready first goes first, whatever its number:  9 ready at 0 s; 1 ready at 2 s (arrival)
    void fifoGoesByReadyTimeNotByNumber() {
        DispatchRig rig("fifo", 1, nothingAhead());
        rig.submit(5, {10.0});
        rig.runFor(1.0);
        rig.send(event::JobsSubmitted{{{9, 0, {}}, {1, 0, {}, std::chrono::seconds(2)}}});
        rig.run();
        QCOMPARE(rig.order(), (Order{5, 9, 1}));
    }

    //  priorities 0 5 5 9 → 4, then 2 and 3 as they came, then 1
    void priorityRunsTheHighestFirst() {
        DispatchRig rig("priority:ageing=0", 1, nothingAhead());
        rig.submit(jobsUpTo(4, {0, 5, 5, 9}));
        rig.run();
        QCOMPARE(rig.order(), (Order{4, 2, 3, 1}));
        QCOMPARE(rig.decision(4).note, std::string("priority 9, first of 4 ready"));
        QCOMPARE(rig.decision(1).note, std::string("priority 0, the only ready job"));
    }

    void priorityMayBeNegative() {
        DispatchRig rig("priority:ageing=0", 1, nothingAhead());
        rig.submit(jobsUpTo(3, {-7, 0, -2147483647}));
        rig.run();
        QCOMPARE(rig.order(), (Order{2, 1, 3}));
    }

    //  A(0) waits from 0 s; every second a job of priority 3 comes and runs 1 s. Without ageing A runs last; with
    //  1/s it has made up for the three after three seconds, and its being older decides.
    void ageingEndsStarvation() {
        for (const bool ageing : {false, true}) {
            DispatchRig rig(ageing ? "priority:ageing=1" : "priority:ageing=0", 1, nothingAhead());
            rig.submit(100, {1.0}, {}, 3);
            rig.submit(1, {1.0}, {}, 0);
            for (JobId job = 101; job <= 108; ++job) {
                rig.submit(job, {1.0}, {}, 3);
                rig.runFor(1.0);
            }
            rig.run();
            const Order order = rig.order();
            const auto place = std::find(order.begin(), order.end(), JobId{1}) - order.begin();
            QCOMPARE(static_cast<int>(place), ageing ? 4 : 9);
        }
    }

    void raisedPriorityTakesEffectInTheQueue() {
        DispatchRig rig("priority:ageing=0", 1, nothingAhead());
        rig.submit(jobsUpTo(4));
        rig.send(event::PriorityChanged{3, 7});
        rig.send(event::PriorityChanged{2, -1});
        rig.run();
        QCOMPARE(rig.order(), (Order{1, 3, 4, 2}));
    }

    //  5 s, 1 s, not known, 3 s → 2 4 1, then the unknown one
    void sjfRunsTheShortestFirst() {
        DispatchRig rig("sjf", 1, nothingAhead());
        const double unknown = -1.0;
        const std::vector<double> run = {5.0, 1.0, unknown, 3.0, unknown};
        for (JobId job = 1; job <= 5; ++job) rig.cost(job, {run[job - 1]});
        rig.submit(jobsUpTo(5));
        rig.run();
        QCOMPARE(rig.order(), (Order{2, 4, 1, 3, 5}));
        QCOMPARE(rig.decision(2).note, std::string("shortest of 5"));
    }

    //  What is short depends on the device: 1 is short on device 0, 2 on device 1
    void sjfJudgesByTheDeviceAtHand() {
        DispatchRig rig("sjf", 2, nothingAhead());
        rig.cost(1, {9.0, 1.0});
        rig.cost(2, {1.0, 9.0});
        rig.submit(jobsUpTo(2));
        rig.run();
        QCOMPARE(rig.orderOn(0), (Order{2}));
        QCOMPARE(rig.orderOn(1), (Order{1}));
    }

    //  Nothing is known at first; once job 1 is done the model knows the others. 2 was taken the moment the device was
    //  free, before results were back; from then on the shortest goes first
    void sjfLearnsWhileJobsWait() {
        DispatchRig rig("sjf", 1, nothingAhead());
        for (JobId job = 1; job <= 5; ++job) rig.cost(job, {-1.0});
        rig.submit(jobsUpTo(5));
        rig.cost(2, {4.0});
        rig.cost(3, {2.0});
        rig.cost(4, {3.0});
        rig.cost(5, {1.0});
        rig.run();
        QCOMPARE(rig.order(), (Order{1, 2, 5, 3, 4}));
    }

    //  three devices in turn; 4 cannot run on device 0 and goes to 1; then it is 2's turn
    void roundRobinDealsInTurn() {
        DispatchRig rig("round-robin", 3);
        rig.exclude(4, 0, "needs 8 GiB, has 4 GiB");
        rig.submit(jobsUpTo(6));
        rig.run();
        QCOMPARE(rig.orderOn(0), (Order{1, 6}));
        QCOMPARE(rig.orderOn(1), (Order{2, 4}));
        QCOMPARE(rig.orderOn(2), (Order{3, 5}));
    }

    //  fewest jobs; then the one free earlier: 1 (9 s) on 0, 2 (1 s) on 1; 3 goes where less time is left: 1
    void leastLoadedEvensOutNumbersThenTime() {
        DispatchRig rig("least-loaded", 2);
        rig.cost(1, {9.0});
        rig.cost(2, {1.0});
        rig.cost(3, {1.0});
        rig.cost(4, {1.0});
        rig.submit(jobsUpTo(4));
        QCOMPARE(rig.decision(1).chosen, DeviceIndex{0});
        QCOMPARE(rig.decision(2).chosen, DeviceIndex{1});
        QCOMPARE(rig.decision(3).chosen, DeviceIndex{1});
        QCOMPARE(rig.decision(4).chosen, DeviceIndex{0});
    }

    //  device:  0     1            finish of 1: 4 | 2 → 1;  2: 4 | 4 → tie, shorter queue: 0;  3: 8 | 4 → 1
    //  cost     4     2            4: 8 | 6 → 1;  5: 8 | 8 → tie, 0 has one job, 1 has three: 0
    void mctTakesTheEarliestFinish() {
        DispatchRig rig("mct", 2);
        for (JobId job = 1; job <= 5; ++job) rig.cost(job, {4.0, 2.0});
        rig.submit(jobsUpTo(5));
        std::vector<DeviceIndex> places;
        for (JobId job = 1; job <= 5; ++job) places.push_back(rig.decision(job).chosen);
        QCOMPARE(places, (std::vector<DeviceIndex>{1, 0, 1, 1, 0}));
        QCOMPARE(rig.decision(4).candidates[1].freeIn, 4.0);
        QCOMPARE(rig.decision(4).candidates[1].finish, 6.0);
        QCOMPARE(rig.decision(4).candidates[0].finish, 8.0);
        QCOMPARE(rig.decision(4).candidates[1].queued, 2u);
    }

    //  staging counts: 3 s of data beat a run that is 2 s shorter
    void mctCountsStaging() {
        class DataCosts final : public CostModel {
        public:
            double runSeconds(JobId, DeviceIndex device) const override { return device == 0 ? 5.0 : 3.0; }
            double dataSeconds(JobId, DeviceIndex device) const override { return device == 0 ? 0.0 : 3.0; }
            const std::string* excluded(JobId, DeviceIndex) const override { return nullptr; }
        } costs;
        Dispatcher dispatcher({.policy = "mct"}, std::move(*makePolicy("mct")), costs);
        std::vector<Action> actions;
        const std::vector<Event> events = {event::DeviceCame{0}, event::DeviceCame{1}, event::JobsSubmitted{{{1, 0, {}}}}};
        dispatcher.handle(events, Time::zero(), actions);
        QCOMPARE(dispatcher.freeInSeconds(0), 5.0);
        QCOMPARE(dispatcher.freeInSeconds(1), 0.0);
    }

    //  nothing known: evenly by number
    void mctSpreadsUnknownJobsEvenly() {
        DispatchRig rig("mct", 3);
        for (JobId job = 1; job <= 9; ++job) rig.cost(job, {-1.0});
        rig.submit(jobsUpTo(9));
        std::map<DeviceIndex, int> jobs;
        for (JobId job = 1; job <= 9; ++job) ++jobs[rig.decision(job).chosen];
        QCOMPARE(jobs, (std::map<DeviceIndex, int>{{0, 3}, {1, 3}, {2, 3}}));
        QCOMPARE(rig.decision(5).candidates[0].finish, -1.0);
    }

    //  unknown jobs that wait count like what has run there, so that known ones do not pile up elsewhere
    void mctCountsUnknownJobsByWhatHasRun() {
        DispatchRig rig("mct", 1);
        rig.submit(1, {2.0});
        rig.run();
        for (JobId job = 2; job <= 5; ++job) rig.cost(job, {-1.0});
        rig.submit({{2, 0, {}}, {3, 0, {}}, {4, 0, {}}, {5, 0, {}}});
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 8.0);
    }

    // ---- all policies ---------------------------------------------------------------------------------------------

    void everyPolicyKeepsToEligibleDevices_data() {
        QTest::addColumn<QString>("policy");
        for (const PolicyInfo& info : policies()) QTest::newRow(info.id.c_str()) << QString::fromStdString(info.id);
    }
    void everyPolicyKeepsToEligibleDevices() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 3);
        for (JobId job = 1; job <= 60; ++job) {
            rig.cost(job, {1.0 + static_cast<double>(job % 5)});
            if (job % 3 == 0) rig.pin(job, 2);
            if (job % 4 == 0) rig.exclude(job, 0, "no double precision");
        }
        rig.exclude(61, 0, "a");
        rig.exclude(61, 1, "b");
        rig.exclude(61, 2, "c");
        rig.submit(jobsUpTo(61));
        rig.run();
        for (const DispatchRig::Launch& launch : rig.launches)
            QVERIFY(rig.excluded(launch.job, launch.device) == nullptr);
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{60});
        QCOMPARE(rig.word(61), std::string("ready"));
        // A device that can run it makes it go.
        rig.send(event::DeviceCame{3});
        rig.run();
        QCOMPARE(rig.word(61), std::string("succeeded"));
    }

    //  more devices than fit a word, one job pinned to each
    void everyPolicyManagesAHundredDevices_data() { everyPolicyKeepsToEligibleDevices_data(); }
    void everyPolicyManagesAHundredDevices() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 100);
        for (JobId job = 1; job <= 100; ++job) rig.pin(job, static_cast<DeviceIndex>(100 - job));
        rig.submit(jobsUpTo(200));
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{200});
        for (JobId job = 1; job <= 100; ++job) QCOMPARE(rig.decision(job).chosen, static_cast<DeviceIndex>(100 - job));
    }

    void everyPolicyRunsWhatCameBeforeAnyDevice_data() { everyPolicyKeepsToEligibleDevices_data(); }
    void everyPolicyRunsWhatCameBeforeAnyDevice() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 0);
        rig.submit(jobsUpTo(5));
        QCOMPARE(rig.dispatcher.count(JobState::Ready), std::size_t{5});
        rig.send(event::DeviceCame{0});
        rig.run();
        QCOMPARE(rig.order(), (Order{1, 2, 3, 4, 5}));
    }

    //  80 jobs ready, all removed but one, in an order that is not the queue's
    void everyPolicyForgetsWhatIsRemoved_data() { everyPolicyKeepsToEligibleDevices_data(); }
    void everyPolicyForgetsWhatIsRemoved() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 1);
        rig.send(event::Paused{});
        rig.submit(jobsUpTo(200));
        for (JobId job = 200; job > 0; --job)
            if (job != 77) rig.send(event::CancelRequested{{job}});
        rig.send(event::Resumed{});
        rig.run();
        QCOMPARE(rig.order(), (Order{77}));
        // And takes them again when they are tried once more.
        rig.send(std::vector<Event>{event::RetryRequested{5}, event::RetryRequested{3}});
        rig.run();
        QCOMPARE(rig.order(), (Order{77, 5, 3}));
    }

    // ---- priority of a dependency -----------------------------------------------------------------------------------

    //  A(0) → B(9), 50 jobs of priority 5: A goes first; one of the 50 while its results come back; then B
    void jobInheritsThePriorityOfThoseThatDependOnIt() {
        DispatchRig rig("priority:ageing=0", 1, nothingAhead());
        std::vector<DispatchJob> jobs;
        for (JobId job = 1; job <= 50; ++job) jobs.push_back({job, 5, {}});
        jobs.push_back({100, 0, {}});
        jobs.push_back({101, 9, {100}});
        rig.submit(jobs);
        rig.run();
        const Order order = rig.order();
        QCOMPARE(order[0], JobId{100});
        QCOMPARE(order[1], JobId{1});
        QCOMPARE(order[2], JobId{101});
    }

    //  A(0) → M(0) → B: A moves when B is submitted later, when B is raised, and back when B is cancelled
    void inheritedPriorityFollowsTheDependants() {
        for (const char* how : {"submitted", "raised", "lowered", "cancelled", "failed"}) {
            DispatchRig rig("priority:ageing=0", 1, nothingAhead());
            rig.submit(1);  // occupies the device
            rig.submit({{2, 5, {}}, {10, 0, {}}, {11, 0, {10}}});
            const std::string word(how);
            if (word == "raised") {
                rig.submit({{12, 1, {11}}});
                rig.send(event::PriorityChanged{12, 9});
            } else {
                rig.submit({{12, 9, {11}}});
            }
            if (word == "lowered") rig.send(event::PriorityChanged{12, 1});
            if (word == "cancelled") rig.send(event::CancelRequested{{12}});
            if (word == "failed") rig.send(event::CancelRequested{{11}});  // skips 12
            rig.run();
            const bool urgent = word == "submitted" || word == "raised";
            QVERIFY2(rig.order()[1] == (urgent ? JobId{10} : JobId{2}), how);
        }
    }

    void longChainsOfPriorityAreCheap() {
        constexpr JobId length = 100'000;
        std::vector<DispatchJob> jobs;
        for (JobId job = 1; job <= length; ++job)
            jobs.push_back({job, static_cast<int>(job), job > 1 ? std::vector<JobId>{job - 1} : std::vector<JobId>{}});
        jobs.push_back({length + 1, 50'000, {}});
        DispatchRig rig("priority:ageing=0", 1, nothingAhead());
        QElapsedTimer timer;
        timer.start();
        rig.submit(jobs);
        QCOMPARE(rig.order().size(), std::size_t{0});
        QCOMPARE(rig.decision(1).note, std::string("priority 100000, first of 2 ready"));
        rig.send(event::CancelRequested{{length}});
        QVERIFY2(timer.elapsed() < 5000, "priorities took more than linear time");
    }
};

QTEST_APPLESS_MAIN(TestPolicies)
#include "tst_policies.moc"
