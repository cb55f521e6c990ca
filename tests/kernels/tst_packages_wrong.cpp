// For every shipped kernel, variants of its source that are wrong on purpose: the check has to refuse each of them,
// and name the first element that differs.
#include "device_run.h"
#include "devices/discovery.h"

#include <QtTest>

#include <set>

using namespace heteroscope;
using namespace heteroscope::test;

namespace {

struct WrongVariant {
    const char* kernel;
    const char* what;
    Parameters parameters;
    const char* right;  ///< occurs once in the source
    const char* wrong;
    const char* argument;                     ///< that differs first
    std::optional<std::uint64_t> difference;  ///< first element, where it can be told
};

const std::vector<WrongVariant> wrongVariants{
    {"square", "last one left out", {{"n", 1001}}, "i >= n", "i + 1 >= n", "y", 1000},
    {"square", "wrong coefficient", {{"n", 1001}}, "value * value", "value * value * 1.00001f", "y", 0},
    {"square", "offset forgotten", {{"n", 10}, {"offset", 5}}, "x[offset + i]", "x[i]", "y", 5},
    {"vector-add", "difference", {{"n", 1001}}, "a[i] + b[i]", "a[i] - b[i]", "c", 0},
    {"vector-add", "neighbour", {{"n", 1001}}, "a[i] + b[i]", "a[i] + b[i / 2 * 2]", "c", 1},
    {"saxpy", "factor forgotten", {{"n", 1001}}, "a * x[i]", "x[i]", "y", 0},
    {"saxpy", "y overwritten", {{"n", 1001}}, "a * x[i] + y[i]", "a * x[i]", "y", 1},
    {"saxpy", "last one left out", {{"n", 1001}}, "i < n", "i + 1 < n", "y", 1000},
    {"matmul", "rest of the tiles left out", {{"n", 37}}, "first < n; first", "first + TILE <= n; first", "c", 0},
    {"matmul", "tile one short", {{"n", 37}}, "k < TILE", "k < TILE - 1", "c", 0},
    {"matmul", "b transposed", {{"n", 37}}, "b[(first + y) * n + column]", "b[column * n + first + y]", "c", {}},
    {"matmul", "tile of b read across", {{"n", 37}}, "tileB[k][x]", "tileB[x][k]", "c", {}},
    {"reduction", "tree one level short", {{"n", 1001}}, "half_width > 0", "half_width > 1", "partial", 0},
    {"reduction", "every other level missed", {{"n", 1001}}, "half_width /= 2", "half_width /= 4", "partial", 0},
    {"reduction", "last element left out", {{"n", 1001}}, "i < n ?", "i + 1 < n ?", "partial", 3},
    {"transpose", "tile as it was", {{"rows", 37}, {"cols", 53}}, "tile[x][y]", "tile[y][x]", "out", 1},
    {"transpose",
     "last row left out",
     {{"rows", 37}, {"cols", 53}},
     "tileRow + y < rows",
     "tileRow + y + 1 < rows",
     "out",
     36},
    {"stencil", "wrong coefficient", {{"rows", 37}, {"cols", 53}}, "4.0f", "3.0f", "out", 54},
    {"stencil", "left border moves", {{"rows", 37}, {"cols", 53}}, "column > 0 && ", "", "out", 53},
    {"stencil",
     "rim two rows thick below",
     {{"rows", 37}, {"cols", 53}, {"row_count", 36}},
     "row + 1 < rows",
     "row + 2 < rows",
     "out",
     35 * 53 + 1},
    {"mandelbrot",
     "one iteration short",
     {{"width", 8}, {"height", 8}, {"span", 0}, {"left", 0}, {"top", 0}},
     "count < iterations",
     "count + 1 < iterations",
     "counts",
     0},
    {"mandelbrot", "another radius", {{"width", 61}, {"height", 47}}, "> 4.0f", "> 2.0f", "counts", {}},
    {"mandelbrot",
     "rows from the top",
     {{"width", 61}, {"height", 9}, {"first_row", 20}},
     "(first_row + row)",
     "row",
     "counts",
     {}},
    {"mandelbrot", "imaginary part not doubled", {{"width", 61}, {"height", 47}}, "(xy + xy)", "xy", "counts", {}},
    {"black-scholes", "drift without the half", {{"n", 1001}}, "0.5f * volatility", "volatility", "call", 0},
    {"black-scholes", "short digits in the series", {{"n", 1001}}, "1.330274429f", "1.3302f", "call", {}},
    {"black-scholes", "put of another sign", {{"n", 1001}}, "normal_cdf(-d2)", "normal_cdf(d2)", "put", 0},
    {"histogram", "one bin too far", {{"n", 100003}}, "[data[i]]", "[(data[i] + 1) % BINS]", "counts", {}},
    {"histogram", "last one left out", {{"n", 100003}}, "i < n", "i + 1 < n", "counts", {}},
    {"histogram",
     "groups overwrite each other",
     {{"n", 100003}},
     "atomic_add(&counts[item], bins[item])",
     "counts[item] = bins[item]",
     "counts",
     0},
};

std::string replacedOnce(std::string text, const std::string& right, const std::string& wrong) {
    const std::size_t at = text.find(right);
    if (at == std::string::npos || text.find(right, at + 1) != std::string::npos) return {};
    return text.replace(at, right.size(), wrong);
}

}  // namespace

class PackagesWrongTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        catalogue_ = KernelCatalogue::load({std::filesystem::path(PROJECT_DIR) / "kernels"});
        discovery_ = discoverDevices();
        QVERIFY2(!discovery_.devices.empty(), "no device");
    }
    void cleanupTestCase() { discovery_.devices.clear(); }

    void wrongVariantIsRefused_data() {
        QTest::addColumn<const WrongVariant*>("variant");
        for (const WrongVariant& variant : wrongVariants) {
            QTest::newRow(
                qPrintable(QString::fromUtf8(variant.kernel) + QStringLiteral(": ") + QString::fromUtf8(variant.what)))
                << &variant;
        }
    }
    void wrongVariantIsRefused() {
        QFETCH(const WrongVariant*, variant);
        const KernelPtr kernel = catalogue_.find(variant->kernel);
        const std::string text =
            replacedOnce(kernel->variant(Language::OpenClC)->source.text, variant->right, variant->wrong);
        QVERIFY2(!text.empty(), "the place to change is not there, or there more than once");
        // One device each, in turn: what is tested is the check.
        Device& device = *discovery_.devices[turn_++ % discovery_.devices.size()];
        const auto run = runOn(device, kernel, variant->parameters, text);
        QVERIFY2(bool(run), run ? "" : run.error().message.c_str());
        const auto check = checkRun(*run);
        QVERIFY2(bool(check), check ? "" : check.error().message.c_str());
        QVERIFY2(check->state == CheckResult::State::Failed, (device.info().id + ": " + check->message).c_str());
        QCOMPARE(check->argument, std::string(variant->argument));
        if (variant->difference) QCOMPARE(check->firstDifference, *variant->difference);
    }
    void everyKernelHasAWrongVariant() {
        std::set<std::string> tried;
        for (const WrongVariant& variant : wrongVariants) tried.insert(variant.kernel);
        QCOMPARE(tried.size(), catalogue_.kernels().size());
    }

private:
    KernelCatalogue catalogue_;
    Discovery discovery_;
    std::size_t turn_ = 0;
};

QTEST_GUILESS_MAIN(PackagesWrongTest)
#include "tst_packages_wrong.moc"
