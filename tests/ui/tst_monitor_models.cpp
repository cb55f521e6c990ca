#include "fake_services.h"
#include "ui/format.h"
#include "ui/monitor/job_bands.h"
#include "ui/monitor/latest_model.h"
#include "ui/monitor/plot_geometry.h"
#include "ui/monitor/reading_text.h"
#include "ui/monitor/time_series.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <cmath>

using namespace heteroscope;

namespace {

constexpr std::int64_t second = 1'000'000'000;

JobSnapshot ran(JobId id, const char* kernel, std::int64_t startS, std::int64_t finishS, JobState state = JobState::Succeeded) {
    JobSnapshot job;
    job.id = id;
    job.kernel = kernel;
    job.device = "cpu-0";
    job.state = state;
    job.times.started = startS * second;
    job.times.finished = finishS * second;
    job.times.ended = job.times.finished;
    return job;
}

NamedReading reading(const char* name, double value, const char* unit, ReadingState state = ReadingState::Known, const char* source = "test") {
    return {name, {state, value, unit, source, std::chrono::steady_clock::now()}};
}

QString thin(const char* text) { return QString::fromUtf8(text).replace(QLatin1Char('_'), QChar(0x2009)); }

}  // namespace

class MonitorModelsTest : public QObject {
    Q_OBJECT
private slots:
    // Geometry.
    void timeToPixelAndBack() {
        const PlotGeometry plot{48, 648, 1000, 61000};
        QCOMPARE(plot.x(1000), 48.0);
        QCOMPARE(plot.x(61000), 648.0);
        QCOMPARE(plot.x(31000), 348.0);
        QCOMPARE(plot.time(348.0), 31000.0);
        QCOMPARE(plot.clampedX(0), 48.0);
        QCOMPARE(plot.clampedX(99000), 648.0);
        QVERIFY(!plot.contains(999));
    }
    void ticksAreWholeMinutesOfTheLocalClock() {
        QCOMPARE(tickInterval(300'000, 6), 60'000.0);
        QCOMPARE(tickInterval(60'000, 6), 10'000.0);
        QCOMPARE(tickInterval(900'000, 6), 300'000.0);
        const PlotGeometry plot{0, 100, 30'000, 330'000};
        QCOMPARE(ticks(plot, 60'000, 0), (std::vector<double>{60'000, 120'000, 180'000, 240'000, 300'000}));
        // India is half an hour off: minutes still match, half hours are shifted.
        QCOMPARE(ticks({0, 1, 0, 3'600'000}, 3'600'000, 1'800'000), (std::vector<double>{1'800'000}));
    }

    // Time series.
    void seriesKeepsPeaks() {
        TimeSeries series(60'000, 60);  // buckets of a second
        for (int i = 0; i < 1000; ++i) series.push(10'000 + i, i == 500 ? 1.0 : 0.25);
        double highest = 0, lowest = 1;
        for (const auto& point : series.points(0, 20'000)) {
            highest = std::max(highest, point.y());
            lowest = std::min(lowest, point.y());
        }
        QCOMPARE(highest, 1.0);
        QCOMPARE(lowest, 0.25);
        QVERIFY(series.size() <= 2);
    }
    void seriesIsBounded() {
        TimeSeries series(60'000, 300);
        for (int i = 0; i < 100'000; ++i) series.push(std::int64_t{i} * 100, std::sin(i));
        QVERIFY(series.size() <= 604);
        TimeSeries broken(60'000, 300);  // a break after every sample
        for (int i = 0; i < 100'000; ++i) {
            broken.push(i, 0.5);
            broken.pushGap(i);
        }
        QVERIFY(broken.size() <= 604);
    }
    void silenceIsAGap() {
        TimeSeries series(300'000, 300);
        series.push(1000, 0.5);
        series.push(2000, 0.5);
        series.push(14'000, 0.5);
        QCOMPARE(series.gaps(0, 14'500), (QList<TimeSeries::Gap>{{2000, 14'000}}));
        QVERIFY(!series.valueAt(8000));
        QCOMPARE(series.valueAt(14'100), std::optional<double>(0.5));
        QVERIFY(!series.valueAt(500));
        QCOMPARE(series.gaps(0, 30'000).size(), 2);  // and it goes on to the right edge
    }
    void aSlowerIntervalIsLearnt() {
        TimeSeries series(900'000, 300);
        series.push(1000, 0.5);
        series.push(2000, 0.5);
        for (int i = 1; i <= 10; ++i) series.push(2000 + i * 5000, 0.5);
        QVERIFY(series.gaps(0, 54'000).size() <= 2);                // the first two steps, then it is usual
        QVERIFY(!series.gaps(0, 54'000).contains({47'000, 52'000}));
    }
    void absentValuesAreAGapNotZero() {
        TimeSeries series(300'000, 300);
        series.push(1000, 0.8);
        series.pushGap(2000);
        series.push(3000, 0.8);
        QCOMPARE(series.gaps(0, 3000), (QList<TimeSeries::Gap>{{1000, 3000}}));
        for (const auto& point : series.points(0, 4000)) QCOMPARE(point.y(), 0.8);
        series.push(4000, std::nan(""));
        QCOMPARE(series.gaps(0, 5000).size(), 2);
    }
    void clockSetBackDropsTheFuture() {
        TimeSeries series(300'000, 300);
        for (int i = 1; i <= 10; ++i) series.push(i * 1000, i);
        series.push(5500, 42);
        const auto points = series.points(0, 100'000);
        for (qsizetype i = 1; i < points.size(); ++i) QVERIFY(points[i].x() >= points[i - 1].x());
        QCOMPARE(points.last().y(), 42.0);
    }

    // Bands.
    void bandsLieWhereTheChartIs() {
        JobBands bands;
        bands.update(ran(1, "matmul", 10, 20));
        const PlotGeometry plot{48, 648, 0, 60'000};
        const auto boxes = layOutBands(bands.bands("cpu-0", 0, 60 * second), plot, 60 * second);
        QCOMPARE(boxes.size(), std::size_t{1});
        QCOMPARE(boxes[0].left, plot.x(10'000));
        QCOMPARE(boxes[0].right, plot.x(20'000));
    }
    void neighboursOfOneKernelJoin() {
        JobBands bands;
        bands.update(ran(1, "matmul", 10, 20));
        bands.update(ran(2, "matmul", 20, 30));
        bands.update(ran(3, "saxpy", 30, 40));
        const auto boxes = layOutBands(bands.bands("cpu-0", 0, 60 * second), {0, 600, 0, 60'000}, 60 * second);
        QCOMPARE(boxes.size(), std::size_t{2});
        QCOMPARE(boxes[0].count, 2u);
        QCOMPARE(boxes[0].breaks, (std::vector<double>{200.0}));
        QCOMPARE(boxes[1].job, JobId{3});
    }
    void failuresStayApart() {
        JobBands bands;
        bands.update(ran(1, "matmul", 10, 20));
        bands.update(ran(2, "matmul", 20, 30, JobState::Failed));
        const auto boxes = layOutBands(bands.bands("cpu-0", 0, 60 * second), {0, 600, 0, 60'000}, 60 * second);
        QCOMPARE(boxes.size(), std::size_t{2});
        QCOMPARE(boxes[1].failed, 1u);
    }
    void failedBeforeItRanIsAMark() {
        JobBands bands;
        auto job = ran(7, "spmv", 0, 0, JobState::Failed);
        job.times = {};
        job.times.ended = 30 * second;
        bands.update(job);
        const auto boxes = layOutBands(bands.bands("cpu-0", 0, 60 * second), {0, 600, 0, 60'000}, 60 * second);
        QCOMPARE(boxes.size(), std::size_t{1});
        QCOMPARE(boxes[0].left, 300.0);
        QCOMPARE(boxes[0].right, 301.0);
    }
    void runningReachesNowAndEndsOnce() {
        JobBands bands;
        auto job = ran(1, "matmul", 10, 0, JobState::Running);
        job.times.finished = job.times.ended = 0;
        bands.update(job);
        auto boxes = layOutBands(bands.bands("cpu-0", 0, 60 * second), {0, 600, 0, 60'000}, 40 * second);
        QCOMPARE(boxes.at(0).right, 400.0);
        QVERIFY(boxes.at(0).running);
        bands.update(ran(1, "matmul", 10, 50));
        bands.update(ran(1, "matmul", 10, 50));  // told twice
        QCOMPARE(bands.size("cpu-0"), std::size_t{1});
    }
    void movedToAnotherDeviceLeavesTheFirst() {
        JobBands bands;
        auto job = ran(1, "matmul", 10, 0, JobState::Running);
        job.times.finished = job.times.ended = 0;
        bands.update(job);
        job.device = "cpu-1";
        bands.update(job);
        QCOMPARE(bands.size("cpu-0"), std::size_t{0});
        QCOMPARE(bands.size("cpu-1"), std::size_t{1});
    }
    void manyShortJobsAreFolded() {
        JobBands bands;
        JobSnapshot job = ran(1, "a", 1, 2);
        constexpr std::int64_t millisecond = 1'000'000;
        for (int i = 0; i < 120'000; ++i) {
            job.id = static_cast<JobId>(i + 1);
            job.kernel = i % 2 ? "a" : "b";
            job.times.started = second + i * millisecond;
            job.times.finished = job.times.ended = job.times.started + millisecond;
            bands.update(job);
        }
        bands.trim(job.times.ended);
        QVERIFY(bands.size("cpu-0") < 100'000);
        std::uint64_t all = 0;
        for (const auto& band : bands.bands("cpu-0", 0, 1000 * second)) all += band.count;
        QCOMPARE(all, std::uint64_t{120'000});
        bands.trim(job.times.ended + 2 * JobBands::keptNs);
        QCOMPARE(bands.size("cpu-0"), std::size_t{0});
    }
    void labelsShortenToThreeLetters() {
        const auto advance = [](const QString& text) { return 10.0 * static_cast<double>(text.size()); };
        const QString name = QStringLiteral("histogram");
        QCOMPARE(bandLabel(name, 2, 200, advance), QStringLiteral("histogram ×2"));
        QCOMPARE(bandLabel(name, 2, 100, advance), name);
        QCOMPARE(bandLabel(name, 1, 60, advance), QStringLiteral("histo…"));
        QCOMPARE(bandLabel(name, 1, 40, advance), QStringLiteral("his…"));
        QCOMPARE(bandLabel(name, 1, 39, advance), QString());
    }

    // Readings.
    void readingsInWords() {
        TelemetryFrame frame;
        frame.readings = {reading(metric::utilisation, 0.868, "ratio"),
                          reading(metric::memoryUsed, 61.2 * 1073741824.0, "B"),
                          reading(metric::memoryTotal, 140.0 * 1073741824.0, "B"),
                          reading(metric::power, 0, "W", ReadingState::NoPermission, "/sys/class/powercap/x"),
                          reading(metric::clock, 1.98e9, "Hz")};
        const auto texts = readingTexts({frame}, std::chrono::steady_clock::now());
        QCOMPARE(texts.size(), std::size_t{5});
        QCOMPARE(texts[0].value, QStringLiteral("87"));
        QCOMPARE(texts[0].unit, QStringLiteral("%"));
        QCOMPARE(texts[1].value, QStringLiteral("61.2"));
        QCOMPARE(texts[1].unit, thin("/ 140_GiB"));
        QCOMPARE(texts[2].value, QStringLiteral("—"));
        QCOMPARE(texts[2].state, QStringLiteral("no permission"));
        QVERIFY(texts[2].forbidden && !texts[2].number);
        QCOMPARE(texts[3].state, QStringLiteral("not reported"));
        QCOMPARE(texts[4].value + texts[4].unit, QStringLiteral("1.98GHz"));
    }
    void utilisationFromOwnProfileIsLabelled() {
        TelemetryFrame frame;
        frame.readings = {reading(metric::utilisation, 0, "ratio", ReadingState::NotSupported),
                          reading(metric::computeBusy, 0.42, "ratio", ReadingState::Known, "own event profile")};
        const auto texts = readingTexts({frame}, std::chrono::steady_clock::now());
        QCOMPARE(texts[0].value, QStringLiteral("42"));
        QCOMPARE(texts[0].state, QStringLiteral("own event profile"));
    }
    void staleValuesSayTheirAge() {
        TelemetryFrame frame;
        const auto now = std::chrono::steady_clock::now();
        frame.readings = {reading(metric::temperature, 71, "degC", ReadingState::Stale)};
        frame.readings[0].reading.taken = now - std::chrono::seconds(4);
        const auto texts = readingTexts({frame}, now);
        QCOMPARE(texts[3].value, QStringLiteral("71"));
        QCOMPARE(texts[3].state, thin("4.00_s old"));
    }
    void nothingMeasuredYet() {
        for (const auto& text : readingTexts({}, std::chrono::steady_clock::now())) {
            QCOMPARE(text.value, QStringLiteral("—"));
            QCOMPARE(text.state, QStringLiteral("no sample yet"));
        }
    }

    // Latest.
    void latestTellsPlacementsAndEnds() {
        FakeServices services;
        services.deviceList = {FakeServices::describe("cpu-0", "EPYC")};
        JobBoard board(services);
        LatestModel model(board);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        EngineUpdate update;
        auto good = ran(1, "matmul", 10, 12);
        good.runSeconds = 1.31;
        good.check.state = CheckResult::State::Passed;
        auto bad = ran(2, "spmv", 20, 21, JobState::Failed);
        bad.error = Error{ErrorKind::BuildFailed, "spmv.cl:41: undeclared\nmore"};
        update.jobs = {good, bad};
        emit services.updated(update);
        model.note({1, 2});
        QCOMPARE(model.rowCount(), 0);
        QVERIFY(model.publish());
        QVERIFY(!model.publish());
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, LatestModel::JobColumn).data().toString(), QStringLiteral("#2"));  // newest first
        QCOMPARE(model.index(0, LatestModel::TextColumn).data().toString(), QStringLiteral("on EPYC: spmv.cl:41: undeclared"));
        QCOMPARE(model.index(1, LatestModel::TextColumn).data().toString(), thin("on EPYC in 1.31_s, check passed"));
        std::vector<JobId> many;
        update.jobs.clear();
        for (JobId id = 3; id < 300; ++id) {
            update.jobs.push_back(ran(id, "saxpy", 30 + static_cast<std::int64_t>(id), 31 + static_cast<std::int64_t>(id)));
            many.push_back(id);
        }
        emit services.updated(update);
        model.note(many);
        model.publish();
        QCOMPARE(model.rowCount(), static_cast<int>(LatestModel::kept));
        QCOMPARE(model.index(0, LatestModel::JobColumn).data().toString(), QStringLiteral("#299"));
    }
};

QTEST_MAIN(MonitorModelsTest)
#include "tst_monitor_models.moc"
