// Every shipped kernel on every device at hand, its result held against the CPU reference.
#include "device_run.h"
#include "devices/discovery.h"

#include <QtTest>

#include <map>
#include <set>

using namespace heteroscope;
using namespace heteroscope::test;

namespace {

const std::filesystem::path packageFolder = std::filesystem::path(PROJECT_DIR) / "kernels";

/// A size at which every kernel has more than one work-group and a rest.
const std::map<std::string, std::vector<Parameters>> oddSizes{
    {"black-scholes", {{{"n", 1001}, {"rate", -0.01}, {"volatility", 0.6}}}},
    {"histogram", {{{"n", 100003}}, {{"n", 255}}}},
    {"mandelbrot", {{{"width", 61}, {"height", 47}}, {{"width", 33}, {"height", 5}, {"first_row", 20}}}},
    {"matmul", {{{"n", 37}}, {{"n", 50}, {"row_count", 13}}, {{"n", 17}, {"row_count", 40}}}},
    {"reduction", {{{"n", 1001}}, {{"n", 255}}, {{"n", 257}}}},
    {"saxpy", {{{"n", 1001}, {"a", -1e6}}, {{"n", 7}, {"a", 0}}}},
    {"square", {{{"n", 1001}}, {{"n", 259}, {"offset", 513}}}},
    {"stencil",
     {{{"rows", 37}, {"cols", 53}},
      {{"rows", 1}, {"cols", 19}},
      {{"rows", 19}, {"cols", 2}},
      {{"rows", 30}, {"cols", 21}, {"row_count", 9}},
      {{"rows", 30}, {"cols", 21}, {"first_row", 9}, {"row_count", 12}},
      {{"rows", 30}, {"cols", 21}, {"first_row", 21}}}},
    {"transpose", {{{"rows", 37}, {"cols", 53}}, {{"rows", 1}, {"cols", 129}}}},
    {"vector-add", {{{"n", 1001}}}},
};

/// Sizes that are set to 1 for "size 1".
const std::set<std::string> sizeNames{"n", "rows", "cols", "width", "height"};

std::string toText(const Parameters& parameters) {
    std::string text;
    for (const auto& [name, value] : parameters) text += " " + name + "=" + QString::number(value).toStdString();
    return text;
}

}  // namespace

class PackagesTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        catalogue_ = KernelCatalogue::load({packageFolder});
        for (const Error& problem : catalogue_.problems()) qWarning("%s", problem.message.c_str());
        QVERIFY(catalogue_.problems().empty());
        discovery_ = discoverDevices();
        for (const DeviceProblem& problem : discovery_.problems) qWarning("%s", problem.what.c_str());
        QVERIFY2(discovery_.devices.size() >= 2, "POCL_DEVICES=\"pthread basic\" gives two");
    }
    void cleanupTestCase() { discovery_.devices.clear(); }

    void theTenKernelsAreThere() {
        std::vector<std::string> ids;
        for (const KernelPtr& kernel : catalogue_.kernels()) ids.push_back(kernel->id);
        QCOMPARE(ids, (std::vector<std::string>{"black-scholes", "histogram", "mandelbrot", "matmul", "reduction",
                                                "saxpy", "square", "stencil", "transpose", "vector-add"}));
    }
    void eachIsComplete() {
        for (const KernelPtr& kernel : catalogue_.kernels()) {
            const char* id = kernel->id.c_str();
            std::vector<std::string> warnings;
            QVERIFY2(bool(loadKernelPackage(packageFolder / kernel->id, warnings)), id);
            QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
            for (Language language : {Language::OpenClC, Language::CudaCpp}) {
                const KernelVariant* variant = kernel->variant(language);
                QVERIFY2(variant != nullptr, id);
                QVERIFY2(variant->source.text.find(variant->entry + "(") != std::string::npos, id);
            }
            QVERIFY2(!kernel->title.empty() && !kernel->description.empty(), id);
            QVERIFY2(!kernel->flops.empty() && !kernel->bytes.empty(), id);
            QVERIFY2(kernel->range.guarded, id);
            QVERIFY2(oddSizes.contains(kernel->id), id);
        }
    }
    void workIsEstimated_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<double>("n");
        QTest::addColumn<double>("flops");
        QTest::addColumn<double>("bytes");
        QTest::newRow("matmul") << "matmul" << 100.0 << 2e6 << 120000.0;
        QTest::newRow("saxpy") << "saxpy" << 1000.0 << 2000.0 << 12000.0;
        QTest::newRow("reduction") << "reduction" << 1000.0 << 1000.0 << 4016.0;
        QTest::newRow("histogram") << "histogram" << 1000.0 << 0.0 << 3048.0;
    }
    void workIsEstimated() {
        QFETCH(QString, id);
        QFETCH(double, n);
        const auto plan = planLaunch(catalogue_.find(id.toStdString()), {{"n", n}});
        QVERIFY2(bool(plan), plan ? "" : plan.error().message.c_str());
        QTEST(plan->flops.value_or(-1), "flops");
        QTEST(plan->bytes.value_or(-1), "bytes");
    }
    /// A part is the same kernel with its extent set: what a divided job would ask for has to be plannable.
    void partsOfASplitCanBePlanned() {
        for (const KernelPtr& kernel : catalogue_.kernels()) {
            if (!kernel->split) continue;
            Parameters part{{kernel->split->extent, 5}};
            if (!kernel->split->offset.empty()) part[kernel->split->offset] = 3;
            const auto plan = planLaunch(kernel, part);
            QVERIFY2(bool(plan), plan ? "" : plan.error().message.c_str());
            QVERIFY2(plan->range.dimensions > kernel->split->dimension, kernel->id.c_str());
            const std::size_t group = std::max<std::size_t>(plan->range.local[kernel->split->dimension], 1);
            QCOMPARE(plan->range.global[kernel->split->dimension], group);  // 5 (or 1) rounded up to one work-group
            for (const auto& [buffer, perIndex] : kernel->split->divide) {
                const auto elements = evaluateCount(perIndex, plan->parameters);
                QVERIFY2(bool(elements), kernel->id.c_str());
                const auto planned = std::ranges::find_if(
                    plan->arguments, [&, name = buffer](const auto& one) { return one.argument->name == name; });
                QVERIFY(planned != plan->arguments.end());
                const std::uint64_t halo = kernel->split->halo.contains(buffer)
                                               ? 2 * *evaluateCount(kernel->split->halo.at(buffer), plan->parameters)
                                               : 0;
                QCOMPARE(planned->count, 5 * *elements + halo);
            }
        }
    }

    void passesOnEveryDevice_data() {
        QTest::addColumn<KernelPtr>("kernel");
        QTest::addColumn<Parameters>("parameters");
        for (const KernelPtr& kernel : catalogue_.kernels()) {
            auto row = [&](const std::string& name) -> QTestData& {
                return QTest::newRow((kernel->id + name).c_str());
            };
            row(", default size") << kernel << Parameters{};
            Parameters ones;
            for (const KernelParameter& parameter : kernel->parameters) {
                if (sizeNames.contains(parameter.name)) ones[parameter.name] = 1;
            }
            row(", size 1") << kernel << ones;
            for (const Parameters& odd : oddSizes.at(kernel->id)) row("," + toText(odd)) << kernel << odd;
        }
    }
    void passesOnEveryDevice() {
        QFETCH(KernelPtr, kernel);
        QFETCH(Parameters, parameters);
        for (const auto& device : discovery_.devices) {
            const auto run = runOn(*device, kernel, parameters);
            QVERIFY2(bool(run), run ? "" : (device->info().id + ": " + run.error().message).c_str());
            const auto check = checkRun(*run);
            QVERIFY2(bool(check), check ? "" : check.error().message.c_str());
            QVERIFY2(check->state == CheckResult::State::Passed, (device->info().id + ": " + check->message).c_str());
        }
    }

private:
    KernelCatalogue catalogue_;
    Discovery discovery_;
};

QTEST_GUILESS_MAIN(PackagesTest)
#include "tst_packages.moc"
