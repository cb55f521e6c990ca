#include "scheduler/policy.h"
#include "tests/scheduler/dispatch_rig.h"

#include <QTest>

using namespace heteroscope;

namespace {

const std::vector<std::string> names = {"cpu-0", "cpu-1", "gpu-0"};

Candidate candidate(DeviceIndex device, double freeIn, double dataIn, double run, std::uint32_t queued) {
    Candidate made;
    made.device = device;
    made.freeIn = freeIn;
    made.dataIn = dataIn;
    made.run = run;
    if (run >= 0.0) made.finish = freeIn + dataIn + run;
    made.score = made.finish;
    made.queued = queued;
    return made;
}

Candidate ruledOut(DeviceIndex device, std::string why) {
    Candidate made;
    made.device = device;
    made.excluded = std::move(why);
    return made;
}

Decision decision(std::string policy, DeviceIndex chosen, std::vector<Candidate> candidates, std::string note = {}) {
    return {.job = 1, .policy = std::move(policy), .chosen = chosen, .candidates = std::move(candidates), .note = std::move(note)};
}

QString said(const Decision& made) {
    // A plain space in the expected sentences reads better than U+2009.
    return QString::fromStdString(explain(made, names)).replace(QChar(0x2009), QChar(u' '));
}

}  // namespace

class TestDecision : public QObject {
    Q_OBJECT

private slots:
    void secondsReadAsPeopleWriteThem_data() {
        QTest::addColumn<double>("seconds");
        QTest::addColumn<QString>("text");
        const auto row = [](double seconds, const char* text) { QTest::newRow(text) << seconds << QString::fromUtf8(text); };
        row(0.0, "0 s");
        row(0.041, "41 ms");
        row(0.0412345, "41.2 ms");
        row(0.04, "40 ms");
        row(1.0, "1 s");
        row(1.5, "1.5 s");
        row(1.004, "1 s");
        row(1.005001, "1.01 s");
        row(9.996, "10 s");
        row(12.34, "12.3 s");
        row(59.94, "59.9 s");
        row(59.96, "1 min");
        row(90.0, "1.5 min");
        row(600.0, "10 min");
        row(5990.0, "99.8 min");
        row(6000.0, "1.67 h");
        row(3.6e6, "1000 h");
        row(1e-6, "1 µs");
        row(250e-6, "250 µs");
        row(999.4e-6, "999 µs");
        row(999.6e-6, "1 ms");
        row(0.9996, "1 s");
        row(5e-8, "0.05 µs");
        row(1e-10, "0 s");
        row(-0.041, "−41 ms");
        row(std::nan(""), "—");
        row(INFINITY, "—");
    }
    void secondsReadAsPeopleWriteThem() {
        QFETCH(double, seconds);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(formatSeconds(seconds)).replace(QChar(0x2009), QChar(u' ')), text);
    }
    void thinSpaceBeforeTheUnit() { QCOMPARE(formatSeconds(0.041), std::string("41\u2009ms")); }

    void theSentenceOfTheDesign() {
        const Decision made = decision("mct", 0, {candidate(0, 0.0, 0.001, 0.058, 0), candidate(1, 0.06, 0.0, 0.04, 3)});
        QCOMPARE(said(made), QStringLiteral("cpu-0: would finish 41 ms earlier than cpu-1, whose queue holds 3 jobs"));
        QCOMPARE(runnerUp(made)->device, DeviceIndex{1});
        QCOMPARE(chosenCandidate(made)->device, DeviceIndex{0});
    }
    void oneJobAndNone() {
        QCOMPARE(said(decision("mct", 2, {candidate(0, 1, 0, 1, 1), ruledOut(1, "asleep"), candidate(2, 0, 0, 0.5, 0)})),
                 QStringLiteral("gpu-0: would finish 1.5 s earlier than cpu-0, whose queue holds 1 job"));
        QCOMPARE(said(decision("mct", 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, 3, 0)})),
                 QStringLiteral("cpu-0: would finish 2 s earlier than cpu-1, whose queue is empty"));
    }
    void aTieIsCalledOne() {
        QCOMPARE(said(decision("mct", 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, 1, 2)})),
                 QStringLiteral("cpu-0: would finish at the same time as cpu-1; no job here, while the queue of cpu-1 holds 2 jobs"));
    }
    void theRunnerUpIsTheNextBestEligibleOne() {
        Decision made = decision("mct", 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, 9, 0), candidate(2, 0, 0, 4, 0)});
        QCOMPARE(runnerUp(made)->device, DeviceIndex{2});
        made.candidates[2].excluded = "no double precision";
        QCOMPARE(runnerUp(made)->device, DeviceIndex{1});
        made.candidates[1].excluded = "asleep";
        QVERIFY(runnerUp(made) == nullptr);
        QCOMPARE(said(made), QStringLiteral("cpu-0: the only device for this job (cpu-1: asleep; gpu-0: no double precision)"));
        made.candidates.resize(1);
        QCOMPARE(said(made), QStringLiteral("cpu-0: the only device"));
        made.chosen = noDevice;
        QCOMPARE(said(made), QStringLiteral("no device chosen"));
        QVERIFY(chosenCandidate(made) == nullptr);
    }
    void whatIsNotKnownIsSaid() {
        QCOMPARE(said(decision("mct", 0, {candidate(0, 0, 0, -1, 0), candidate(1, 0, 0, -1, 3)})),
                 QStringLiteral("cpu-0: no run of this kernel measured yet, so that the devices count as equal; no job here, "
                                "while the queue of cpu-1 holds 3 jobs"));
        QCOMPARE(said(decision("mct", 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, -1, 1)})),
                 QStringLiteral("cpu-0: no run of this kernel measured yet on cpu-1, so that the devices count as equal; no job "
                                "here, while the queue of cpu-1 holds 1 job"));
    }
    void aDeviceWithoutANameHasANumber() {
        QCOMPARE(QString::fromStdString(explain(decision("mct", 5, {candidate(5, 0, 0, 1, 0)}), names)),
                 QStringLiteral("device 5: the only device"));
    }
    void eachPolicyHasItsOwnWords() {
        const auto scored = [](Candidate made, double score) {
            made.score = score;
            return made;
        };
        const std::vector<Candidate> loads = {scored(candidate(0, 1, 0, 2, 1), 1), scored(candidate(1, 3, 0, 2, 2), 2)};
        QCOMPARE(said(decision("fifo", 0, loads, "oldest of 12")),
                 QStringLiteral("cpu-0: free to take a job, 1 job there, while the queue of cpu-1 holds 2 jobs; oldest of 12"));
        QCOMPARE(said(decision("priority:ageing=0", 0, loads, "priority 5, first of 3 ready")),
                 QStringLiteral("cpu-0: free to take a job, 1 job there, while the queue of cpu-1 holds 2 jobs; priority 5, first of 3 ready"));
        QCOMPARE(said(decision("sjf", 0, loads, "shortest of 3")),
                 QStringLiteral("cpu-0: free to take a job, 1 job there, while the queue of cpu-1 holds 2 jobs; shortest of 3; predicted run 2 s"));
        QCOMPARE(said(decision("round-robin", 0, loads)),
                 QStringLiteral("cpu-0: its turn, then comes cpu-1, whose queue holds 2 jobs"));
        QCOMPARE(said(decision("least-loaded", 0, loads)),
                 QStringLiteral("cpu-0: fewest unfinished jobs, 1 job there, while the queue of cpu-1 holds 2 jobs"));
        QCOMPARE(said(decision("least-loaded", 0, {candidate(0, 1, 0, 2, 2), candidate(1, 3, 0, 2, 2)})),
                 QStringLiteral("cpu-0: as many unfinished jobs as cpu-1 (2), but free in 1 s instead of 3 s"));
        QCOMPARE(said(decision("least-loaded", 0, {candidate(0, 0, 0, 2, 0), candidate(1, 0, 0, 2, 0)})),
                 QStringLiteral("cpu-0: as little to do as cpu-1 (no job on each), and comes first in order"));
        // One that was kept by a later program.
        QCOMPARE(said(decision("oracle", 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, 3, 0)})),
                 QStringLiteral("cpu-0: would finish 2 s earlier than cpu-1, whose queue is empty"));
    }
    void anOverdueJobSaysSoUnderEveryPolicy() {
        for (const PolicyInfo& info : policies())
            QCOMPARE(said(decision(info.id, 0, {candidate(0, 0, 0, 1, 0), candidate(1, 0, 0, 3, 0)}, overdueNote(312.0, 300.0))),
                     QStringLiteral("cpu-0: would finish 2 s earlier than cpu-1, whose queue is empty; goes before all others: "
                                    "ready for 5.2 min, over the limit of 5 min"));
    }

    //  For every decision of a real mixed run: the runner-up is named, and the numbers are those of the table.
    void sentencesAgreeWithTheirTables_data() {
        QTest::addColumn<QString>("policy");
        for (const PolicyInfo& info : policies()) QTest::newRow(info.id.c_str()) << QString::fromStdString(info.id);
    }
    void sentencesAgreeWithTheirTables() {
        QFETCH(QString, policy);
        DispatchRig rig(policy.toStdString(), 3);
        std::vector<DispatchJob> jobs;
        for (JobId job = 1; job <= 200; ++job) {
            rig.cost(job, {0.013 * static_cast<double>(1 + job % 7), 0.029 * static_cast<double>(1 + job % 3), job % 9 ? 0.02 : -1.0},
                     0.001 * static_cast<double>(job % 4));
            if (job % 6 == 0) rig.exclude(job, 1, "needs 8 GiB, has 4 GiB");
            jobs.push_back({job, static_cast<int>(job % 5), {}});
        }
        rig.submit(jobs);
        rig.run();
        for (JobId job = 1; job <= 200; ++job) {
            const Decision& made = rig.decision(job);
            const std::string text = explain(made, names);
            const Candidate* chosen = chosenCandidate(made);
            const Candidate* second = runnerUp(made);
            QVERIFY(chosen && second);
            QVERIFY2(text.starts_with(names[chosen->device] + ": "), text.c_str());
            QVERIFY2(text.find(names[second->device]) != std::string::npos, text.c_str());
            for (const Candidate& each : made.candidates) {
                if (!each.excluded.empty()) continue;
                if (each.run >= 0.0) QCOMPARE(each.finish, each.freeIn + each.dataIn + each.run);
                QVERIFY(chosen->score <= each.score);
            }
            if (policy == QStringLiteral("mct") && chosen->finish >= 0.0 && second->finish >= 0.0 && second->finish - chosen->finish > 1e-9)
                QVERIFY2(text.find(" " + formatSeconds(second->finish - chosen->finish) + " earlier") != std::string::npos, text.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestDecision)
#include "tst_decision.moc"
