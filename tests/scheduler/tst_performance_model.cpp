#include "scheduler/performance_model.h"

#include <QTest>

#include <cmath>

using namespace heteroscope;

namespace {

/// A plan as planLaunch() would make it, with nothing but what a prediction looks at.
LaunchPlan plan(const char* kernel, double n, std::optional<double> flopsPerElement = 2.0) {
    static std::map<std::string, KernelPtr> kernels;
    KernelPtr& made = kernels[kernel];
    if (!made) {
        auto fresh = std::make_shared<Kernel>();
        fresh->id = kernel;
        made = fresh;
    }
    LaunchPlan result;
    result.kernel = made;
    result.parameters = {{"n", n}};
    result.range.global = {static_cast<std::size_t>(n), 1, 1};
    if (flopsPerElement) {
        result.flops = *flopsPerElement * n;
        result.bytes = 8.0 * n;
    }
    return result;
}

bool near(double actual, double expected) {
    return std::abs(actual - expected) <= 1e-6 * std::abs(expected);
}

}  // namespace

class TestPerformanceModel : public QObject {
    Q_OBJECT

private slots:
    void nothingIsKnownAtFirst() {
        const PerformanceModel model;
        const Prediction prediction = model.predict(plan("saxpy", 1024), "cpu-0");
        QVERIFY(prediction.seconds < 0.0);
        QCOMPARE(prediction.samples, 0u);
    }
    void theMeanOfWhatWasMeasured() {
        PerformanceModel model;
        for (const double seconds : {0.9, 1.0, 1.1}) model.record(plan("saxpy", 1024), "cpu-0", seconds);
        const Prediction prediction = model.predict(plan("saxpy", 1024), "cpu-0");
        QVERIFY(near(prediction.seconds, 1.0));
        QVERIFY(near(prediction.relativeSpread, 0.1));  // standard deviation of the three
        QCOMPARE(prediction.samples, 3u);
    }
    void devicesAreApart() {
        PerformanceModel model;
        model.record(plan("saxpy", 1024), "cpu-0", 1.0);
        QVERIFY(model.predict(plan("saxpy", 1024), "cpu-1").seconds < 0.0);
    }
    //  100 µs + 1 ns an element, measured at two sizes; a third one lies on the line
    void otherSizesComeFromALine() {
        PerformanceModel model;
        const auto real = [](double n) { return 100e-6 + 1e-9 * n; };
        model.record(plan("saxpy", 1e4), "cpu-0", real(1e4));
        model.record(plan("saxpy", 1e7), "cpu-0", real(1e7));
        const Prediction prediction = model.predict(plan("saxpy", 1e6), "cpu-0");
        QVERIFY2(near(prediction.seconds, real(1e6)), std::to_string(prediction.seconds).c_str());
        QCOMPARE(prediction.samples, 0u);
    }
    void oneSizeScalesInProportion() {
        PerformanceModel model;
        model.record(plan("saxpy", 1e6), "cpu-0", 1e-3);
        QVERIFY(near(model.predict(plan("saxpy", 4e6), "cpu-0").seconds, 4e-3));
        QVERIFY(near(model.predict(plan("saxpy", 1e5), "cpu-0").seconds, 1e-4));
    }
    //  one element took 20 µs: says nothing of sixteen million
    void oneTinySizeSaysNothingOfAHugeOne() {
        PerformanceModel model;
        model.record(plan("saxpy", 1), "cpu-0", 20e-6);
        QVERIFY(model.predict(plan("saxpy", 16e6), "cpu-0").seconds < 0.0);
        QVERIFY(model.predict(plan("other", 16e6), "cpu-0").seconds < 0.0);
        // With the device's line known (50 µs and 1 ns an element by another kernel) it does.
        model.record(plan("other", 1e3), "cpu-0", 50e-6 + 1e-6);
        model.record(plan("other", 1e7), "cpu-0", 50e-6 + 1e-2);
        const double seconds = model.predict(plan("saxpy", 16e6), "cpu-0").seconds;
        QVERIFY2(seconds > 8e-3 && seconds < 32e-3, std::to_string(seconds).c_str());
    }
    void anUnknownKernelTakesTheDevicesRate() {
        PerformanceModel model;
        model.record(plan("saxpy", 1e6), "cpu-0", 1e-3);
        const Prediction prediction = model.predict(plan("other", 2e6), "cpu-0");
        QVERIFY(near(prediction.seconds, 2e-3));
        QVERIFY(prediction.relativeSpread >= 1.0);
    }
    void withoutAnEstimateWorkItemsCountButOnlyForTheSameKernel() {
        PerformanceModel model;
        model.record(plan("mine.cl:a", 1000, std::nullopt), "cpu-0", 1e-3);
        QVERIFY(near(model.predict(plan("mine.cl:a", 3000, std::nullopt), "cpu-0").seconds, 3e-3));
        QVERIFY(model.predict(plan("mine.cl:b", 3000, std::nullopt), "cpu-0").seconds < 0.0);
        QVERIFY(model.predict(plan("saxpy", 3000), "cpu-0").seconds < 0.0);
    }
    void aFirstRunThatCompiledIsDropped() {
        PerformanceModel model;
        model.record(plan("saxpy", 1e6), "cpu-0", 0.5);
        model.record(plan("saxpy", 1e6), "cpu-0", 1e-3);
        model.record(plan("saxpy", 1e6), "cpu-0", 1e-3);
        const Prediction prediction = model.predict(plan("saxpy", 1e6), "cpu-0");
        QVERIFY(near(prediction.seconds, 1e-3));
        QCOMPARE(prediction.samples, 2u);
        QVERIFY(near(model.predict(plan("saxpy", 2e6), "cpu-0").seconds, 2e-3));
    }
    void aDriftIsFollowed() {
        PerformanceModel model;
        for (int i = 0; i < 1000; ++i) model.record(plan("saxpy", 1e6), "cpu-0", 1.0);
        for (int i = 0; i < 400; ++i) model.record(plan("saxpy", 1e6), "cpu-0", 2.0);
        const Prediction prediction = model.predict(plan("saxpy", 1e6), "cpu-0");
        QVERIFY(prediction.seconds > 1.95 && prediction.seconds <= 2.0);
        QCOMPARE(prediction.samples, 1400u);
    }
    void frozenModelsLearnNothing() {
        PerformanceModel model;
        model.record(plan("saxpy", 1e6), "cpu-0", 1.0);
        model.setFrozen(true);
        model.record(plan("saxpy", 1e6), "cpu-0", 3.0);
        QVERIFY(near(model.predict(plan("saxpy", 1e6), "cpu-0").seconds, 1.0));
        model.setFrozen(false);
        model.record(plan("saxpy", 1e6), "cpu-0", 3.0);
        QVERIFY(near(model.predict(plan("saxpy", 1e6), "cpu-0").seconds, 2.0));
    }
    void noDurationIsNoSample() {
        PerformanceModel model;
        for (const double bad : {-1.0, std::nan(""), static_cast<double>(INFINITY)}) model.record(plan("saxpy", 8), "cpu-0", bad);
        QVERIFY(model.predict(plan("saxpy", 8), "cpu-0").seconds < 0.0);
        model.record(plan("saxpy", 8), "cpu-0", 0.0);
        QCOMPARE(model.predict(plan("saxpy", 8), "cpu-0").samples, 1u);
        QVERIFY(std::isfinite(model.predict(plan("saxpy", 9), "cpu-0").seconds));
    }
    //  whatever is measured, predictions are numbers and never below zero
    void predictionsAreNeverNegative() {
        PerformanceModel model;
        double seconds = 1.0;
        for (double n = 1; n < 1e9; n *= 3.7) model.record(plan("odd", n), "cpu-0", seconds *= 0.7);  // faster when larger
        for (double n = 1; n < 1e12; n *= 1.9) {
            const double predicted = model.predict(plan("odd", n), "cpu-0").seconds;
            QVERIFY(std::isfinite(predicted) && predicted >= 0.0);
        }
    }
};

QTEST_APPLESS_MAIN(TestPerformanceModel)
#include "tst_performance_model.moc"
