#include "scheduler/metrics.h"

#include <QElapsedTimer>
#include <QTest>

#include <random>

using namespace heteroscope;

namespace {

using Costs = std::vector<std::vector<double>>;
using After = std::vector<std::vector<std::size_t>>;

bool near(double actual, double expected, double relative = 5e-5) {
    return std::abs(actual - expected) <= relative * std::abs(expected);
}

ScheduledJob ran(JobId id, std::size_t device, double submitted, double ready, double start, double finish) {
    return {.job = id, .label = {}, .kernel = {}, .device = device, .submitted = submitted, .ready = ready, .start = start, .finish = finish};
}

}  // namespace

class TestMetrics : public QObject {
    Q_OBJECT

private slots:
    //  device 0: |--1--|--2--|      device 1:   |-----3-----|        time 0 … 5
    void numbersOfASmallSchedule() {
        const std::vector<ScheduledJob> jobs = {ran(1, 0, 0, 0, 0, 2), ran(2, 0, 0, 1, 2, 4), ran(3, 1, 1, 1, 1, 5)};
        const RunMetrics metrics = computeMetrics(jobs, 3);
        QCOMPARE(metrics.makespan, 5.0);
        QCOMPARE(metrics.meanWait, 2.0 / 3.0);
        QCOMPARE(metrics.p95Wait, 2.0);
        QCOMPARE(metrics.meanQueueWait, 1.0 / 3.0);
        QCOMPARE(metrics.meanFlow, (2.0 + 4.0 + 4.0) / 3.0);
        QCOMPARE(metrics.boundedSlowdown, (1.0 + 2.0 + 1.0) / 3.0);
        QCOMPARE(metrics.utilisation, (std::vector<double>{0.8, 0.8, 0.0}));
        QCOMPARE(metrics.imbalance, 4.0 / (8.0 / 3.0) - 1.0);
        QCOMPARE(metrics.throughput, 0.6);
        QCOMPARE(metrics.toMap().at("mean_wait_s"), metrics.meanWait);
        QCOMPARE(metrics.toMap().at("makespan_s"), 5.0);
    }
    void percentileIsByNearestRank() {
        std::vector<ScheduledJob> jobs;
        for (JobId id = 1; id <= 20; ++id) jobs.push_back(ran(id, 0, 0, 0, static_cast<double>(id), static_cast<double>(id) + 1));
        QCOMPARE(computeMetrics(jobs, 1).p95Wait, 19.0);
        jobs.push_back(ran(21, 0, 0, 0, 21, 22));  // ⌈0.95·21⌉ = 20
        QCOMPARE(computeMetrics(jobs, 1).p95Wait, 20.0);
    }
    void slowdownOfVeryShortJobsIsBounded() {
        QCOMPARE(computeMetrics(std::vector{ran(1, 0, 0, 0, 0.1, 0.101)}, 1).boundedSlowdown, 0.101 / 0.010);
        QCOMPARE(computeMetrics(std::vector{ran(1, 0, 0, 0, 0.0, 0.001)}, 1).boundedSlowdown, 1.0);
    }
    void nothingRan() {
        const RunMetrics metrics = computeMetrics({}, 2);
        QCOMPARE(metrics.makespan, 0.0);
        QCOMPARE(metrics.utilisation.size(), std::size_t{2});
        QCOMPARE(computeMetrics(std::vector{ran(1, 0, 3, 3, 3, 3)}, 1).throughput, 0.0);
    }

    // ---- lower bound, by hand ------------------------------------------------------------------------------------

    void oneJobIsItsOwnCriticalPath() {
        const LowerBound bound = lowerBound({{10, 1}}, {{}});
        QCOMPARE(bound.criticalPath, 1.0);
        QVERIFY(near(bound.area, 10.0 / 11.0));  // split 1 : 10
        QCOMPARE(bound.seconds(), 1.0);
    }
    //  rates 1 and ½ a second: three jobs take 3 / 1.5
    void equalJobsFollowTheRates() { QVERIFY(near(lowerBound({{1, 2}, {1, 2}, {1, 2}}, {{}, {}, {}}).area, 2.0)); }
    //  {4,–} stays on 0; {4,4} goes whole to 1; {2,8} with z of it there: 4 + 2z = 4 + 8(1 − z) → z = 0.8, T = 5.6
    void aJobThatCannotRunEverywhere() { QVERIFY(near(lowerBound({{4, -1}, {4, 4}, {2, 8}}, {{}, {}, {}}).area, 5.6)); }
    //  1 | 3 on one side, 3 | 1 on the other: each where it is fast
    void jobsThatLikeDifferentDevices() { QVERIFY(near(lowerBound({{1, 3}, {3, 1}}, {{}, {}}).area, 1.0)); }
    void aDeviceThatRunsNothingIsNoHelp() { QVERIFY(near(lowerBound({{1, -1}, {2, -1}}, {{}, {}}).area, 3.0)); }
    void jobsThatRunNowhereDoNotCount() {
        const LowerBound bound = lowerBound({{-1, -1}, {2, -1}}, {{}, {0}});
        QVERIFY(near(bound.area, 2.0));
        QCOMPARE(bound.criticalPath, 2.0);
    }
    void devicesOfVeryUnequalSpeed() {
        Costs costs(100, {1e-3, 1.0, 1e3});
        QVERIFY(near(lowerBound(costs, After(100)).area, 100.0 / (1e3 + 1.0 + 1e-3)));
    }
    void emptyAndZero() {
        QCOMPARE(lowerBound({}, {}).seconds(), 0.0);
        QCOMPARE(lowerBound({{0.0, 0.0}}, {{}}).seconds(), 0.0);
        QCOMPARE(lowerBound({{}}, {{}}).seconds(), 0.0);
        QCOMPARE(lowerBound({{0.0, 5.0}, {3.0, 3.0}}, {{}, {}}).criticalPath, 3.0);
    }
    //  1 → 2 → 4, 1 → 3 → 4 with least times 2, 3, 1, 4
    void criticalPathTakesTheLongestWay() {
        QCOMPARE(lowerBound({{2, 9}, {9, 3}, {1, 1}, {4, -1}}, {{}, {0}, {0}, {1, 2}}).criticalPath, 9.0);
    }
    void aCycleEnds() { QCOMPARE(lowerBound({{1}, {1}, {5}}, {{1}, {0}, {}}).criticalPath, 5.0); }

    //  Topcuoglu, Hariri, Wu 2002, figure 3: 10 tasks, 3 processors. Path 1-2-9-10: 9 + 13 + 12 + 7 = 41. The area
    //  bound as a fraction, from all vertices of the dual in exact arithmetic: 18502/601.
    void topcuoglu() {
        const Costs costs = {{14, 16, 9},  {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                             {13, 16, 9},  {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
        const After after = {{}, {0}, {0}, {0}, {0}, {0}, {2}, {1, 3, 5}, {1, 3, 4}, {6, 7, 8}};
        const LowerBound bound = lowerBound(costs, after);
        QCOMPARE(bound.criticalPath, 41.0);
        QVERIFY2(near(bound.area, 18502.0 / 601.0, 1e-5), std::to_string(bound.area).c_str());
        QVERIFY(bound.area <= 18502.0 / 601.0 + 1e-9);
        QCOMPARE(bound.seconds(), 41.0);
    }

    //  A known optimum of any size: prices λ are drawn, each job gets one or two devices where λ·w is least (equal to
    //  its own value), elsewhere more; devices end up with the same load T. Then T is optimal, as both sides agree.
    void aLargeInstanceOfKnownOptimum() {
        constexpr std::size_t devices = 16, jobsEach = 625;
        std::mt19937 random(3);
        std::uniform_real_distribution<double> unit(0.0, 1.0);
        std::vector<double> price(devices);
        for (double& each : price) each = std::pow(10.0, 2.0 * unit(random));
        constexpr double optimum = 100.0;
        Costs costs;
        for (std::size_t device = 0; device < devices; ++device) {
            // Shares of T that add up to T on this device.
            std::vector<double> share(jobsEach);
            double sum = 0.0;
            for (double& each : share) sum += each = 0.1 + unit(random);
            for (const double each : share) {
                const double run = optimum * each / sum;
                std::vector<double> row(devices);
                for (std::size_t other = 0; other < devices; ++other)
                    row[other] = run * price[device] / price[other] * (other == device ? 1.0 : 1.0 + unit(random));
                costs.push_back(std::move(row));
            }
        }
        QElapsedTimer timer;
        timer.start();
        const double area = lowerBound(costs, After(costs.size())).area;
        QVERIFY2(near(area, optimum, 1e-4) && area <= optimum * (1 + 1e-9), std::to_string(area).c_str());
        QVERIFY2(timer.elapsed() < 5000, std::to_string(timer.elapsed()).c_str());
    }
};

QTEST_APPLESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
