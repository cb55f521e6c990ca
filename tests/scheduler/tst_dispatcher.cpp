#include "tests/scheduler/dispatch_rig.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

using namespace heteroscope;
using namespace std::chrono_literals;

using Order = std::vector<JobId>;

namespace {

std::vector<DispatchJob> jobsUpTo(JobId last) {
    std::vector<DispatchJob> jobs;
    for (JobId id = 1; id <= last; ++id) jobs.push_back({id, 0, {}});
    return jobs;
}

/// The states a job went through, as its log lines say.
std::vector<std::string> statesOf(const DispatchRig& rig, JobId job) {
    const std::string start = "job " + std::to_string(job) + " ";
    std::vector<std::string> states;
    for (const std::string& line : rig.log)
        if (line.starts_with(start)) states.push_back(line.substr(start.size(), line.find(' ', start.size()) - start.size()));
    return states;
}

/// A rig whose staging and running the test answers itself.
struct ByHand : DispatchRig {
    using DispatchRig::DispatchRig;
    explicit ByHand(const std::string& policy, DeviceIndex devices = 1, DispatcherOptions options = {})
        : DispatchRig(policy, devices, options) {
        automatic = false;
    }
    void staged(JobId job) { send(event::JobStaged{job, attempt(job)}); }
    void ran(JobId job) { send(event::RunEnded{job, attempt(job), 1.0}); }
    void ended(JobId job, JobState as = JobState::Succeeded) { send(event::JobEnded{job, attempt(job), as}); }
};

}  // namespace

class TestDispatcher : public QObject {
    Q_OBJECT

private slots:
    // ---- one job, one device -----------------------------------------------------------------------------------

    void aJobGoesThroughItsStates() {
        ByHand rig("fifo");
        rig.submit(1);
        QCOMPARE(rig.log, (std::vector<std::string>{"job 1 ready d-1 a0", "job 1 assigned d0 a0", "job 1 staging d0 a1",
                                                    "stage 1 d0", "timer 300000000000"}));
        QCOMPARE(rig.word(1), std::string("staging"));
        rig.staged(1);
        QCOMPARE(rig.word(1), std::string("running"));
        rig.ran(1);
        QCOMPARE(rig.word(1), std::string("running"));
        QVERIFY(!rig.dispatcher.idle());
        rig.ended(1);
        QCOMPARE(statesOf(rig, 1), (std::vector<std::string>{"ready", "assigned", "staging", "running", "succeeded"}));
        QVERIFY(rig.dispatcher.idle());
    }

    //  one runs, one is staged behind it, the third waits; when the first run is over the second is launched at once,
    //  although the first one's results are still on their way
    void oneRunsAndOneIsStagedAhead() {
        ByHand rig("fifo");
        rig.submit(jobsUpTo(3));
        QCOMPARE(rig.word(1), std::string("staging"));
        QCOMPARE(rig.word(2), std::string("staging"));
        QCOMPARE(rig.word(3), std::string("ready"));
        rig.staged(2);  // staged first, launched first: the device was free
        rig.staged(1);
        QCOMPARE(rig.order(), (Order{2}));
        QCOMPARE(rig.dispatcher.device(0).running, 1u);
        QCOMPARE(rig.dispatcher.device(0).queued, 1u);
        QVERIFY(!rig.dispatcher.device(0).idle);
        rig.ran(2);
        QCOMPARE(rig.order(), (Order{2, 1}));
        QCOMPARE(rig.word(3), std::string("staging"));
        rig.ended(2);
        QCOMPARE(rig.word(2), std::string("succeeded"));
    }

    void nothingIsStagedAheadWhenToldSo() {
        ByHand rig("mct", 1, {.stagedAhead = 0});
        rig.submit(jobsUpTo(2));
        rig.staged(1);
        QCOMPARE(rig.word(2), std::string("assigned"));
        rig.ran(1);
        QCOMPARE(rig.word(2), std::string("staging"));
    }

    void aJobThatFailsToStageFreesItsPlace() {
        ByHand rig("fifo");
        rig.submit(jobsUpTo(3));
        rig.ended(1, JobState::Failed);
        QCOMPARE(rig.word(1), std::string("failed"));
        QCOMPARE(rig.word(3), std::string("staging"));
        rig.staged(2);
        QCOMPARE(rig.order(), (Order{2}));
    }

    void aRunThatFailsWithoutRunEndedFreesTheDevice() {
        ByHand rig("fifo");
        rig.submit(jobsUpTo(2));
        rig.staged(1);
        rig.staged(2);
        rig.ended(1, JobState::TimedOut);
        QCOMPARE(rig.order(), (Order{1, 2}));
        QCOMPARE(rig.word(1), std::string("timed-out"));
    }

    void answersOfAnotherAttemptChangeNothing() {
        ByHand rig("fifo");
        rig.submit(1);
        const std::vector<std::string> before = rig.log;
        rig.send(event::JobStaged{1, 7});
        rig.send(event::RunEnded{1, 0, 1.0});
        rig.send(event::JobEnded{1, 2, JobState::Succeeded});
        rig.send(event::JobEnded{99, 1, JobState::Succeeded});
        rig.send(event::RunEnded{1, 1, 1.0});  // not launched yet
        QCOMPARE(rig.log, before);
        rig.staged(1);
        rig.staged(1);  // said twice
        rig.ran(1);
        rig.ran(1);
        rig.ended(1);
        rig.ended(1);
        QCOMPARE(rig.successes(1), 1);
    }

    void timeNeverGoesBack() {
        ByHand rig("fifo", 0);
        rig.now = 10s;
        rig.submit({{1, 0, {}, 5s}});
        rig.now = 2s;
        rig.send(event::Tick{});
        QCOMPARE(rig.word(1), std::string("waiting"));
        rig.now = 15s;
        rig.send(event::Tick{});
        QCOMPARE(rig.word(1), std::string("ready"));
    }

    void arrivalsBecomeReadyInTime() {
        ByHand rig("fifo");
        rig.submit({{1, 0, {}, 3s}, {2, 0, {}, 1s}, {3, 0, {1}, 2s}});
        QCOMPARE(rig.word(2), std::string("waiting"));
        QCOMPARE(rig.timers.back(), Time(1s));
        rig.now = 1s;
        rig.send(event::Tick{});
        QCOMPARE(rig.word(2), std::string("staging"));
        QCOMPARE(rig.timers.back(), Time(2s));
        rig.now = 3s;
        rig.send(event::Tick{});
        QCOMPARE(rig.word(1), std::string("staging"));
        rig.staged(2);
        rig.ended(2);
        rig.staged(1);
        QCOMPARE(rig.word(3), std::string("waiting"));
        rig.ended(1);
        QCOMPARE(rig.word(3), std::string("staging"));
    }

    // ---- dependencies ------------------------------------------------------------------------------------------

    //  1 → 2, 3;  2, 3 → 4, and 4 was given before the others
    void dependenciesComeFirst() {
        DispatchRig rig("fifo", 2);
        rig.submit({{4, 0, {2, 3}}, {2, 0, {1}}, {3, 0, {1, 1}}, {1, 0, {}}});
        QCOMPARE(rig.dispatcher.count(JobState::Waiting), std::size_t{3});
        rig.run();
        const Order order = rig.order();
        QCOMPARE(order.front(), JobId{1});
        QCOMPARE(order.back(), JobId{4});
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{4});
    }

    //  a fails → b → c;  d has nothing to do with them
    void dependantsOfAFailedJobAreSkipped() {
        for (const JobState how : {JobState::Failed, JobState::TimedOut, JobState::Cancelled, JobState::Interrupted}) {
            DispatchRig rig("fifo");
            rig.ending = [how](JobId job, DeviceIndex) { return job == 1 ? how : JobState::Succeeded; };
            rig.submit({{1, 0, {}}, {2, 0, {1}}, {3, 0, {2}}, {4, 0, {}}});
            rig.run();
            QVERIFY(rig.state(1) == how);
            QCOMPARE(rig.word(2), std::string("skipped"));
            QCOMPARE(rig.word(3), std::string("skipped"));
            QCOMPARE(rig.cause(2), JobId{1});
            QCOMPARE(rig.cause(3), JobId{1});
            QCOMPARE(rig.word(4), std::string("succeeded"));
            // And so is one that comes afterwards.
            rig.submit({{5, 0, {3}}, {6, 0, {5}}, {7, 0, {4}}});
            QCOMPARE(rig.cause(5), JobId{1});
            QCOMPARE(rig.cause(6), JobId{1});
            QCOMPARE(rig.word(6), std::string("skipped"));
            QVERIFY(rig.word(7) != "skipped");
        }
    }

    void retryLetsSkippedDependantsWaitAgain() {
        DispatchRig rig("fifo");
        bool mended = false;
        rig.ending = [&](JobId job, DeviceIndex) { return job == 1 && !mended ? JobState::Failed : JobState::Succeeded; };
        rig.submit({{1, 0, {}}, {2, 0, {1}}, {3, 0, {2}}, {4, 0, {2, 3}}});
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Skipped), std::size_t{3});
        mended = true;
        rig.send(event::RetryRequested{1});
        QCOMPARE(rig.word(4), std::string("waiting"));
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{4});
        QCOMPARE(rig.attempt(1), 2u);
        QCOMPARE(rig.order(), (Order{1, 1, 2, 3, 4}));
    }

    //  1 → 3, 2 → 3: both fail; after 1 is tried again 2 is to blame; after 2 it waits
    void aJobStaysSkippedWhileAnotherDependencyFails() {
        DispatchRig rig("fifo");
        bool mended = false;
        rig.ending = [&](JobId, DeviceIndex) { return mended ? JobState::Succeeded : JobState::Failed; };
        rig.submit({{1, 0, {}}, {2, 0, {}}, {3, 0, {1, 2}}, {4, 0, {3}}});
        rig.run();
        QCOMPARE(rig.cause(3), JobId{1});
        mended = true;
        rig.send(event::RetryRequested{1});
        QCOMPARE(rig.word(3), std::string("skipped"));
        QCOMPARE(rig.cause(3), JobId{2});
        rig.send(event::RetryRequested{3});
        QCOMPARE(rig.word(3), std::string("skipped"));
        rig.send(event::RetryRequested{2});
        QCOMPARE(rig.word(3), std::string("waiting"));
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{4});
    }

    void onlyWhatDidNotSucceedIsTriedAgain() {
        DispatchRig rig("fifo");
        rig.submit(1);
        rig.send(event::RetryRequested{1});  // running
        rig.run();
        rig.send(event::RetryRequested{1});  // succeeded
        rig.send(event::RetryRequested{5});  // unknown
        rig.run();
        QCOMPARE(rig.order(), (Order{1}));
    }

    void forgottenJobsAreRememberedByTheirEnd() {
        DispatchRig rig("fifo");
        rig.ending = [](JobId job, DeviceIndex) { return job == 2 ? JobState::Failed : JobState::Succeeded; };
        rig.submit({{1, 0, {}}, {2, 0, {}}, {3, 0, {2}}});
        rig.run();
        rig.send(event::ForgetFinal{{1, 2, 3, 77}});
        for (const JobId job : {1, 2, 3}) QVERIFY(!rig.dispatcher.knows(job));
        rig.submit({{4, 0, {1}}, {5, 0, {2}}, {6, 0, {3}}, {7, 0, {500}}});
        rig.run();
        QCOMPARE(rig.word(4), std::string("succeeded"));
        QCOMPARE(rig.word(5), std::string("skipped"));
        QCOMPARE(rig.cause(5), JobId{2});
        QCOMPARE(rig.word(6), std::string("skipped"));
        QCOMPARE(rig.cause(6), JobId{3});
        QCOMPARE(rig.word(7), std::string("succeeded"));
    }

    void unfinishedJobsAreNotForgotten() {
        DispatchRig rig("fifo");
        rig.submit(jobsUpTo(5));
        rig.send(event::ForgetFinal{{1, 2, 3, 4, 5}});
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{5});
    }

    //  the slot of a forgotten dependant is reused by a job that does not depend
    void aReusedSlotInheritsNoEdges() {
        ByHand rig("fifo");
        rig.submit({{1, 0, {}}, {2, 0, {1}}});
        rig.send(event::CancelRequested{{2}});
        rig.send(event::ForgetFinal{{2}});
        rig.submit({{3, 0, {}}, {4, 0, {3}}});
        rig.staged(1);
        rig.ended(1);
        QCOMPARE(rig.word(4), std::string("waiting"));
    }

    // ---- cancel ------------------------------------------------------------------------------------------------

    void cancelInEveryState() {
        ByHand rig("mct");
        rig.submit(jobsUpTo(4));                 // 1, 2 staging; 3, 4 assigned
        rig.submit({{5, 0, {4}}, {6, 0, {}}, {7, 0, {5}}});  // waiting; assigned; waiting
        rig.exclude(8, 0, "too large");
        rig.submit({{8, 0, {}}});                // ready
        rig.staged(1);
        QCOMPARE(rig.word(1), std::string("running"));
        QCOMPARE(rig.word(2), std::string("staging"));
        QCOMPARE(rig.word(3), std::string("assigned"));
        QCOMPARE(rig.word(5), std::string("waiting"));
        QCOMPARE(rig.word(8), std::string("ready"));
        rig.send(event::CancelRequested{{1, 2, 3, 5, 8, 5, 999}});
        for (const JobId job : {1, 2, 3, 5, 8}) QCOMPARE(rig.word(job), std::string("cancelled"));
        QCOMPARE(rig.word(7), std::string("skipped"));
        QCOMPARE(rig.cause(7), JobId{5});
        // The runtime has to let go of these two; till then the device is taken.
        QCOMPARE(rig.aborts.size(), std::size_t{2});
        QCOMPARE(rig.aborts[0].job, JobId{1});
        QCOMPARE(rig.aborts[1].job, JobId{2});
        QCOMPARE(rig.word(4), std::string("assigned"));
        QVERIFY(!rig.dispatcher.quiet());
        rig.send(event::JobStaged{2, 1});  // it was too late to stop
        QCOMPARE(rig.launches.size(), std::size_t{1});
        rig.send(event::RunEnded{1, 1, 1.0});
        QCOMPARE(rig.word(4), std::string("staging"));
        rig.send(event::JobEnded{1, 1, JobState::Succeeded});
        QCOMPARE(rig.word(1), std::string("cancelled"));
        QCOMPARE(rig.word(6), std::string("assigned"));
        rig.send(event::JobEnded{2, 1, JobState::Cancelled});
        QCOMPARE(rig.word(6), std::string("staging"));
        rig.staged(4);
        rig.ended(4);
        rig.staged(6);
        rig.ended(6);
        QVERIFY(rig.dispatcher.idle());
        QVERIFY(rig.dispatcher.quiet());
    }

    void aJobCancelledWhileItsResultsReturnHoldsNoDevice() {
        ByHand rig("fifo");
        rig.submit(jobsUpTo(2));
        rig.staged(1);
        rig.ran(1);
        rig.send(event::CancelRequested{{1}});
        QCOMPARE(rig.word(1), std::string("cancelled"));
        QCOMPARE(rig.aborts.size(), std::size_t{1});
        rig.staged(2);
        QCOMPARE(rig.order(), (Order{1, 2}));
        rig.ended(1);
        QCOMPARE(rig.word(1), std::string("cancelled"));
        QCOMPARE(rig.dispatcher.device(0).running, 1u);
    }

    //  cancelled while running, tried again at once: the second attempt waits its turn behind the first
    void retryWhileTheCancelledAttemptStillRuns() {
        ByHand rig("fifo", 1, {.stagedAhead = 1});
        rig.submit(1);
        rig.staged(1);
        rig.send(event::CancelRequested{{1}});
        rig.send(event::RetryRequested{1});
        QCOMPARE(rig.attempt(1), 2u);
        rig.send(event::JobStaged{1, 2});
        QCOMPARE(rig.launches.size(), std::size_t{1});  // the device is still taken
        rig.send(event::JobEnded{1, 1, JobState::Succeeded});
        QCOMPARE(rig.launches.size(), std::size_t{2});
        QCOMPARE(rig.word(1), std::string("running"));
        rig.send(event::JobEnded{1, 2, JobState::Succeeded});
        QCOMPARE(rig.successes(1), 1);
    }

    void aJobNamedItselfIsCancelledNotSkipped() {
        DispatchRig rig("fifo", 0);
        rig.submit({{1, 0, {}}, {2, 0, {1}}, {3, 0, {2}}});
        rig.send(event::CancelRequested{{1, 3}});
        QCOMPARE(rig.word(2), std::string("skipped"));
        QCOMPARE(rig.word(3), std::string("cancelled"));
    }

    // ---- devices -----------------------------------------------------------------------------------------------

    //  three devices, one fails everything: the batch ends, the failed ones are listed, the others are done
    void oneFailingDeviceDoesNotBlockTheRest_data() {
        QTest::addColumn<QString>("policy");
        for (const PolicyInfo& info : policies()) QTest::newRow(info.id.c_str()) << QString::fromStdString(info.id);
    }
    void oneFailingDeviceDoesNotBlockTheRest() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 3);
        rig.ending = [](JobId, DeviceIndex device) { return device == 1 ? JobState::Failed : JobState::Succeeded; };
        for (JobId job = 1; job <= 90; ++job) rig.cost(job, {1.0});
        rig.submit(jobsUpTo(90));
        rig.run();
        QVERIFY(rig.dispatcher.idle());
        QCOMPARE(rig.dispatcher.count(JobState::Failed), rig.orderOn(1).size());
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), 90 - rig.orderOn(1).size());
        QCOMPARE(rig.orderOn(1).size(), std::size_t{30});
    }

    void jobsOfALostDeviceGoElsewhere() {
        ByHand rig("round-robin", 2);
        rig.submit(jobsUpTo(8));  // 1 3 5 7 on device 0
        rig.staged(1);
        rig.ran(1);   // returning
        rig.staged(3);  // running; 5 staging; 7 assigned
        QCOMPARE(rig.word(5), std::string("staging"));
        QCOMPARE(rig.word(7), std::string("assigned"));
        rig.send(event::DeviceWent{0, "cpu-0 was lost"});
        for (const JobId job : {1, 3, 5, 7}) QCOMPARE(rig.word(job), std::string("assigned"));
        QCOMPARE(rig.decision(1).candidates[0].excluded, std::string("cpu-0 was lost"));
        QVERIFY(!rig.dispatcher.device(0).online);
        // What the lost one still says is of no account.
        rig.send(event::JobEnded{1, 1, JobState::Succeeded});
        rig.send(event::JobEnded{3, 1, JobState::Failed});
        QCOMPARE(rig.word(1), std::string("assigned"));
        QCOMPARE(rig.word(3), std::string("assigned"));
        rig.automatic = true;
        rig.staged(2);
        rig.ended(2);
        rig.staged(4);
        rig.ended(4);
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{8});
        QCOMPARE(rig.attempt(1), 2u);
        QCOMPARE(rig.attempt(7), 1u);
        // It comes back and works again.
        rig.send(event::DeviceCame{0});
        rig.submit(9);
        rig.submit(10);
        rig.run();
        QVERIFY(!rig.orderOn(0).empty());
        QVERIFY(rig.dispatcher.idle());
    }

    void theLastDeviceMayGo() {
        DispatchRig rig("mct", 1);
        for (JobId job = 1; job <= 5; ++job) rig.cost(job, {1.0});
        rig.submit(jobsUpTo(5));
        rig.runFor(0.5);
        rig.send(event::DeviceWent{0, "unplugged"});
        QCOMPARE(rig.dispatcher.count(JobState::Ready), std::size_t{5});
        rig.send(event::DeviceWent{0, "again"});
        rig.send(event::DeviceWent{7, "never seen"});
        rig.send(event::DeviceCame{1});
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{5});
    }

    void aCancelledJobOnALostDeviceHoldsNothing() {
        ByHand rig("fifo");
        rig.submit(1);
        rig.staged(1);
        rig.send(event::CancelRequested{{1}});
        rig.send(event::DeviceWent{0, "lost"});
        rig.send(event::DeviceCame{0});
        QVERIFY(rig.dispatcher.device(0).idle);
        rig.send(event::JobEnded{1, 1, JobState::Cancelled});
        QVERIFY(rig.dispatcher.device(0).idle);
        rig.submit(2);
        rig.staged(2);
        QCOMPARE(rig.word(2), std::string("running"));
    }

    //  1,000 jobs stand on a slow device; a fast one comes and gets most of what has not begun
    void jobsThatWaitShareADeviceThatComesLater() {
        DispatchRig rig("mct", 1);
        for (JobId job = 1; job <= 1000; ++job) rig.cost(job, {9.0, 1.0});
        rig.submit(jobsUpTo(1000));
        rig.send(event::DeviceCame{1});
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{1000});
        QVERIFY2(rig.orderOn(1).size() >= 890 && rig.orderOn(1).size() <= 905,
                 std::to_string(rig.orderOn(1).size()).c_str());
    }

    void predictedTimesFollowTheQueue() {
        ByHand rig("mct");
        for (JobId job = 1; job <= 3; ++job) rig.cost(job, {2.0}, 0.5);
        rig.submit(jobsUpTo(3));
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 7.5);
        rig.staged(1);  // its data is there, it runs
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 7.0);
        rig.now = 1s;
        rig.send(event::Tick{});
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 6.0);
        rig.now = 10s;  // overdue: counts as about to end
        rig.send(event::Tick{});
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 5.0);
        rig.send(event::CancelRequested{{2, 3}});
        QCOMPARE(rig.dispatcher.freeInSeconds(0), 0.0);
    }

    // ---- pause -------------------------------------------------------------------------------------------------

    void pauseHoldsWhatIsStagedAndPlacesNothing() {
        ByHand rig("fifo");
        rig.submit(jobsUpTo(3));
        rig.staged(1);
        rig.send(event::Paused{});
        QVERIFY(rig.dispatcher.paused());
        rig.staged(2);
        QVERIFY(!rig.dispatcher.quiet());
        rig.ran(1);
        rig.ended(1);
        QCOMPARE(rig.word(2), std::string("staging"));
        QCOMPARE(rig.word(3), std::string("ready"));
        QVERIFY(rig.dispatcher.quiet());
        rig.submit(4);
        QCOMPARE(rig.word(4), std::string("ready"));
        rig.send(event::CancelRequested{{3}});
        rig.send(event::Resumed{});
        QCOMPARE(rig.order(), (Order{1, 2}));
        QCOMPARE(rig.word(4), std::string("staging"));
    }

    // ---- policy switch -----------------------------------------------------------------------------------------

    //  1,000 jobs under mct on two devices, all in queues; switch to sjf, run times falling with the number: what ran
    //  or was staged stays, from then on every launch is the shortest left
    void policySwitchInMidQueueKeepsEveryJob() {
        DispatchRig rig("mct", 2, {.starvationLimit = 0s});
        for (JobId job = 1; job <= 1000; ++job) rig.cost(job, {0.01 * static_cast<double>(1001 - job)});
        rig.submit(jobsUpTo(1000));
        rig.runFor(20.0);
        const std::size_t begun = rig.launches.size();
        QVERIFY(begun > 2 && begun < 100);
        Order staged;  // in flight: they stay where they are
        for (JobId job = 1; job <= 1000; ++job)
            if (rig.state(job) == JobState::Staging) staged.push_back(job);
        QCOMPARE(staged.size(), std::size_t{2});

        rig.send(event::PolicyChanged{"sjf", std::shared_ptr<Policy>(std::move(*makePolicy("sjf")))});
        QCOMPARE(rig.dispatcher.policyName(), std::string("sjf"));
        QCOMPARE(rig.dispatcher.count(JobState::Assigned), std::size_t{0});
        rig.run();

        Order once = rig.order();
        QCOMPARE(once.size(), std::size_t{1000});
        std::sort(once.begin(), once.end());
        QVERIFY(std::adjacent_find(once.begin(), once.end()) == once.end());
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{1000});

        Order after;
        for (std::size_t at = begun; at < rig.launches.size(); ++at)
            if (std::find(staged.begin(), staged.end(), rig.launches[at].job) == staged.end())
                after.push_back(rig.launches[at].job);
        // Decided in falling order of number; two devices launch what they took in that order each.
        for (std::size_t device : {0u, 1u}) {
            Order here;
            for (const JobId job : rig.orderOn(static_cast<DeviceIndex>(device)))
                if (std::find(after.begin(), after.end(), job) != after.end()) here.push_back(job);
            QVERIFY(std::is_sorted(here.rbegin(), here.rend()));
        }
        QCOMPARE(after.front(), JobId{1000});
        QCOMPARE(rig.decision(1000).policy, std::string("sjf"));
    }

    void jobsAreHandedToTheNewPolicyInOrderOfNumber() {
        DispatchRig rig("round-robin", 2, {.stagedAhead = 0});
        rig.submit({{7, 0, {}}, {9, 0, {}}, {3, 0, {}}, {8, 0, {}}, {1, 0, {}}, {5, 0, {7}}});
        rig.send(event::PolicyChanged{"fifo", std::shared_ptr<Policy>(std::move(*makePolicy("fifo")))});
        rig.run();
        QCOMPARE(rig.order(), (Order{7, 9, 1, 3, 8, 5}));
    }

    void aSwitchWhilePausedLosesNothing() {
        DispatchRig rig("mct", 2);
        rig.send(event::Paused{});
        rig.submit(jobsUpTo(20));
        rig.send(event::PolicyChanged{"priority", std::shared_ptr<Policy>(std::move(*makePolicy("priority")))});
        rig.send(std::vector<Event>{event::CancelRequested{{4}},
                                    event::PolicyChanged{"fifo", std::shared_ptr<Policy>(std::move(*makePolicy("fifo")))},
                                    event::RetryRequested{4}});
        rig.send(event::Resumed{});
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{20});
        QCOMPARE(rig.launches.size(), std::size_t{20});
    }

    //  a policy that orders by priority gets back a job that already stands in a queue
    void aRaisedJobInAQueueGoesBackToAPolicyThatOrdersByPriority() {
        class Hoarder final : public Policy {  // puts everything on device 0, highest priority first
        public:
            void jobsReady(std::span<const JobId> jobs, const SystemView&) override { held.insert(held.end(), jobs.begin(), jobs.end()); }
            void jobsRemoved(std::span<const JobId>, const SystemView&) override {}
            bool ordersByPriority() const override { return true; }
            void schedule(const SystemView& view, Assignments& out) override {
                std::stable_sort(held.begin(), held.end(), [&](JobId a, JobId b) { return view.job(a).priority > view.job(b).priority; });
                for (const JobId job : held) out.assign(job, 0, out.candidates(job));
                held.clear();
            }
            std::vector<JobId> held;
        };
        DispatchRig rig("fifo", 1, {.stagedAhead = 0});
        rig.send(event::PolicyChanged{"fifo", std::make_shared<Hoarder>()});
        rig.submit(jobsUpTo(3));
        rig.send(event::PriorityChanged{2, 5});
        QCOMPARE(statesOf(rig, 2), (std::vector<std::string>{"ready", "assigned", "ready", "assigned"}));
        rig.run();
        QCOMPARE(rig.order(), (Order{1, 3, 2}));
    }

    // ---- starvation --------------------------------------------------------------------------------------------

    //  job 1 is long and sjf never takes it while short ones come; after 10 s it goes before all others
    void aJobReadyForTooLongGoesFirst() {
        DispatchRig rig("sjf", 1, {.stagedAhead = 0, .starvationLimit = 10s});
        rig.submit(100, {1.0});
        rig.submit(1, {50.0});
        for (JobId job = 101; job < 140; ++job) {
            rig.submit(job, {1.0});
            rig.runFor(1.0);
        }
        rig.run();
        const Order order = rig.order();
        const auto place = std::find(order.begin(), order.end(), JobId{1}) - order.begin();
        QCOMPARE(static_cast<int>(place), 10);
        QCOMPARE(rig.decision(1).note, std::string("overdue: ready for 10\u2009s, over the limit of 10\u2009s"));
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{41});
    }

    //  without a limit it would have waited for all of them
    void zeroTurnsTheStarvationRuleOff() {
        DispatchRig rig("sjf", 1, {.stagedAhead = 0, .starvationLimit = 0s});
        rig.submit(100, {1.0});
        rig.submit(1, {50.0});
        for (JobId job = 101; job < 140; ++job) {
            rig.submit(job, {1.0});
            rig.runFor(1.0);
        }
        rig.run();
        QCOMPARE(rig.order().back(), JobId{1});
        QVERIFY(rig.timers.empty());
    }

    //  two overdue jobs keep their order; the device that finishes first takes them
    void overdueJobsKeepTheirOrder() {
        DispatchRig rig("sjf", 2, {.stagedAhead = 0, .starvationLimit = 10s});
        rig.submit(100, {30.0, 30.0});
        rig.submit(101, {20.0, 20.0});
        rig.submit(2, {9.0, 7.0});
        rig.runFor(0.5);
        rig.submit(1, {9.0, 7.0});
        for (JobId job = 200; job < 210; ++job) rig.submit(job, {1.0});
        rig.run();
        // Device 1 is free at 20 s: 2 then 1 go there before the short ones that came after them.
        const Order second = rig.orderOn(1);
        QCOMPARE(second[1], JobId{2});
        QVERIFY(rig.decision(2).note.starts_with("overdue"));
        QVERIFY(rig.decision(1).note.starts_with("overdue"));
        QVERIFY(rig.finished().at(2) <= rig.finished().at(1));
    }

    //  under mct everything is in queues: an overdue job that had no device goes to the front once one comes
    void anOverdueJobGoesToTheFrontOfItsQueue() {
        DispatchRig rig("mct", 1, {.stagedAhead = 0, .starvationLimit = 10s});
        rig.exclude(1, 0, "no double precision");
        rig.submit(1);
        rig.runFor(60.0);
        QCOMPARE(rig.word(1), std::string("ready"));
        rig.submit({{2, 0, {}}, {3, 0, {}}, {4, 0, {}}, {5, 0, {}}});
        rig.send(event::DeviceCame{1});
        QVERIFY(rig.decided(1));
        QCOMPARE(rig.decision(1).chosen, DeviceIndex{1});
        rig.run();
        QCOMPARE(rig.orderOn(1).front(), JobId{1});
    }

    //  a thousand overdue jobs: no more at a time than devices can begin, so that the faster one does more
    void aLongOverdueQueueFollowsTheDevicesSpeed() {
        DispatchRig rig("fifo", 2, {.starvationLimit = 1s});
        for (JobId job = 1; job <= 1000; ++job) rig.cost(job, {4.0, 1.0});
        rig.submit(jobsUpTo(1000));
        rig.run();
        QCOMPARE(rig.dispatcher.count(JobState::Succeeded), std::size_t{1000});
        QVERIFY2(rig.orderOn(1).size() >= 795 && rig.orderOn(1).size() <= 805, std::to_string(rig.orderOn(1).size()).c_str());
    }

    // ---- determinism and growth ---------------------------------------------------------------------------------

    void sameEventsSameActions() {
        const auto history = [](const char* policy) {
            DispatchRig rig(policy, 3, {.starvationLimit = 5s});
            rig.ending = [](JobId job, DeviceIndex) { return job % 11 == 0 ? JobState::Failed : JobState::Succeeded; };
            for (JobId job = 1; job <= 300; ++job) {
                rig.cost(job, {0.1 * static_cast<double>(job * 7 % 13), 0.3, job % 5 == 0 ? -1.0 : 0.2});
                std::vector<JobId> after;
                if (job % 4 == 0) after = {job - 1, job / 2};
                rig.send(event::JobsSubmitted{{{job, static_cast<int>(job % 3), after}}});
                if (job % 50 == 0) rig.send(event::CancelRequested{{job - 1, job - 2}});
            }
            rig.runFor(3.0);
            rig.send(event::DeviceWent{1, "lost"});
            rig.run();
            return rig.log;
        };
        for (const PolicyInfo& info : policies()) {
            const std::vector<std::string> first = history(info.id.c_str());
            QVERIFY(first.size() > 1000);
            QCOMPARE(history(info.id.c_str()), first);
        }
    }

    //  cost of a decision does not grow with the queue: 50,000 jobs go in, are placed and cancelled in no time
    void aLongQueueStaysCheap_data() { oneFailingDeviceDoesNotBlockTheRest_data(); }
    void aLongQueueStaysCheap() {
        QFETCH(QString, policy);
        class Flat final : public CostModel {
        public:
            double runSeconds(JobId job, DeviceIndex) const override { return static_cast<double>(job * 7919 % 1000); }
            double dataSeconds(JobId, DeviceIndex) const override { return 0.0; }
            const std::string* excluded(JobId job, DeviceIndex device) const override {
                return job % 2 == 0 && device == 0 ? &why : nullptr;
            }
            std::string why = "even ones run elsewhere";
        } costs;
        Dispatcher dispatcher({.policy = policy.toStdString()}, std::move(*makePolicy(policy.toStdString())), costs);
        constexpr JobId count = 50'000;
        std::vector<Action> actions;
        std::vector<Event> events = {event::DeviceCame{0}, event::DeviceCame{1}};
        event::JobsSubmitted all;
        for (JobId job = 1; job <= count; ++job) all.jobs.push_back({job, static_cast<int>(job % 100), {}});
        events.push_back(std::move(all));
        QElapsedTimer timer;
        timer.start();
        dispatcher.handle(events, Time(1), actions);
        for (int round = 0; round < 1000; ++round) {
            events.clear();
            for (const Action& action : std::exchange(actions, {})) {
                if (const auto* stage = std::get_if<action::Stage>(&action)) events.push_back(event::JobStaged{stage->job, stage->attempt});
                if (const auto* launch = std::get_if<action::Launch>(&action)) events.push_back(event::JobEnded{launch->job, launch->attempt, JobState::Succeeded});
            }
            dispatcher.handle(events, Time(round + 2), actions);
        }
        QVERIFY(dispatcher.count(JobState::Succeeded) > 500);
        events = {event::CancelRequested{}};
        for (JobId job = count; job > 0; --job) std::get<event::CancelRequested>(events[0]).jobs.push_back(job);
        dispatcher.handle(events, Time(9999), actions);
        QVERIFY(dispatcher.idle());
        QVERIFY2(timer.elapsed() < 20'000, std::to_string(timer.elapsed()).c_str());
    }
};

QTEST_APPLESS_MAIN(TestDispatcher)
#include "tst_dispatcher.moc"
