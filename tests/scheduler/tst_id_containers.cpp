#include "scheduler/id_intervals.h"
#include "scheduler/id_map.h"
#include "scheduler/job.h"
#include "scheduler/ordered_jobs.h"

#include <QTest>

#include <random>
#include <set>
#include <unordered_map>

using namespace heteroscope;

class TestIdContainers : public QObject {
    Q_OBJECT

private slots:
    void idMapAgreesWithTheStandardOne() {
        std::mt19937_64 random(1);
        IdMap<int> ours;
        std::unordered_map<JobId, int> standard;
        for (int step = 0; step < 200'000; ++step) {
            // Neighbours, and ids that are far apart but collide: multiples of a power of two.
            const JobId id = random() % 2 ? 1 + random() % 3000 : (1 + random() % 500) << 20;
            if (random() % 3 != 0) {
                ours.set(id, step);
                standard[id] = step;
            } else {
                QCOMPARE(ours.erase(id), standard.erase(id) == 1);
            }
            const JobId asked = random() % 2 ? id : 1 + random() % 3000;
            const auto found = standard.find(asked);
            QCOMPARE(ours.find(asked) != nullptr, found != standard.end());
            if (found != standard.end()) QCOMPARE(*ours.find(asked), found->second);
            QCOMPARE(ours.size(), standard.size());
        }
        QVERIFY(!ours.find(0));
        QVERIFY(!IdMap<int>().find(7));
    }

    void idIntervalsAgreeWithASet() {
        std::mt19937 random(1);
        IdIntervals ours;
        std::set<JobId> standard;
        for (int step = 0; step < 20'000; ++step) {
            const JobId id = 1 + random() % 200;
            if (random() % 2) {
                ours.insert(id);
                standard.insert(id);
            } else {
                ours.erase(id);
                standard.erase(id);
            }
            const JobId asked = random() % 203;
            QCOMPARE(ours.contains(asked), standard.contains(asked));
        }
        std::size_t runs = 0;
        for (const JobId id : standard) runs += !standard.contains(id - 1);
        QCOMPARE(ours.intervals(), runs);
    }

    void neighboursShareAnInterval() {
        IdIntervals ids;
        for (JobId id = 100'000; id > 0; --id) ids.insert(id);
        QCOMPARE(ids.intervals(), std::size_t{1});
    }

    void orderedJobsComeInOrder() {
        std::mt19937 random(5);
        OrderedJobs ours;
        const auto later = [](const OrderedJobs::Entry& a, const OrderedJobs::Entry& b) { return a.before(b); };
        std::multiset<OrderedJobs::Entry, decltype(later)> standard(later);
        std::uint64_t ticket = 0;
        for (int step = 0; step < 50'000; ++step) {
            if (random() % 5 < 3) {
                const OrderedJobs::Entry entry{static_cast<double>(random() % 4), static_cast<std::int64_t>(random() % 3), ++ticket, ticket};
                ours.push(entry);
                standard.insert(entry);
            } else if (!standard.empty()) {
                QCOMPARE(ours.first().ticket, standard.begin()->ticket);
                ours.popFirst();
                standard.erase(standard.begin());
            }
            if (step % 5000 == 4999) {
                ours.keepOnly([](const OrderedJobs::Entry& entry) { return entry.job % 3 != 0; });
                std::erase_if(standard, [](const OrderedJobs::Entry& entry) { return entry.job % 3 == 0; });
            }
            QCOMPARE(ours.size(), standard.size());
        }
    }

    void statesHaveTheirWords() {
        for (int state = 0; state < jobStateCount; ++state)
            QVERIFY(jobStateFromString(toString(static_cast<JobState>(state))) == static_cast<JobState>(state));
        QCOMPARE(toString(JobState::TimedOut), std::string_view("timed-out"));
        QVERIFY(!jobStateFromString("Running"));
        QVERIFY(!jobStateFromString(""));
        QVERIFY(isFinal(JobState::Skipped) && isFinal(JobState::Succeeded) && !isFinal(JobState::Running));
    }
};

QTEST_APPLESS_MAIN(TestIdContainers)
#include "tst_id_containers.moc"
