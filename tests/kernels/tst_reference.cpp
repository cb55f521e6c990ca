// The CPU references against values worked out by hand, and what the check says of results that are not right.
#include "scheduler/kernel/kernel.h"
#include "scheduler/kernel/reference.h"

#include <QtTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace heteroscope;

namespace {

template <class T>
std::vector<std::byte> bytesOf(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// A shipped package and the buffers of an imagined run of it.
class Case {
public:
    explicit Case(const std::string& id, Parameters parameters) : parameters_(std::move(parameters)) {
        std::vector<std::string> warnings;
        auto kernel = loadKernelPackage(std::string(PROJECT_DIR) + "/kernels/" + id, warnings);
        if (!kernel) qFatal("%s", kernel.error().message.c_str());
        kernel_ = std::make_shared<Kernel>(**kernel);
    }

    template <class T>
    Case& before(const char* name, const std::vector<T>& values) {
        slot(name).before = bytesOf(values);
        return *this;
    }
    template <class T>
    Case& after(const char* name, const std::vector<T>& values) {
        slot(name).after = bytesOf(values);
        return *this;
    }
    Case& tolerance(double relative, double absolute) {
        kernel_->relativeTolerance = relative;
        kernel_->absoluteTolerance = absolute;
        return *this;
    }
    Kernel& kernel() { return *kernel_; }

    Result<CheckResult> check() const {
        std::vector<CheckedBuffer> buffers;
        for (const Slot& slot : slots_) buffers.push_back({kernel_->argument(slot.name), slot.before, slot.after});
        return checkAgainstReference(*kernel_, parameters_, buffers);
    }
    bool passes() const {
        const auto result = check();
        if (!result) qWarning("%s", result.error().message.c_str());
        if (result && result->state != CheckResult::State::Passed) qWarning("%s", result->message.c_str());
        return result && result->state == CheckResult::State::Passed;
    }

private:
    struct Slot {
        std::string name;
        std::vector<std::byte> before, after;
    };
    Slot& slot(const char* name) {
        for (Slot& slot : slots_) {
            if (slot.name == name) return slot;
        }
        return slots_.emplace_back(Slot{name, {}, {}});
    }

    std::shared_ptr<Kernel> kernel_;
    Parameters parameters_;
    std::vector<Slot> slots_;
};

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<unsigned> histogramOf(std::vector<std::pair<std::size_t, unsigned>> bins) {
    std::vector<unsigned> counts(256);
    for (const auto& [bin, count] : bins) counts[bin] = count;
    return counts;
}

}  // namespace

class ReferenceTest : public QObject {
    Q_OBJECT
private slots:
    void everyPackageNamesAReferenceThereIs() {
        const std::vector<std::string> names = referenceNames();
        const auto catalogue = KernelCatalogue::load({std::string(PROJECT_DIR) + "/kernels"});
        QCOMPARE(catalogue.kernels().size(), std::size_t{10});
        for (const KernelPtr& kernel : catalogue.kernels()) {
            QVERIFY2(std::ranges::find(names, kernel->reference) != names.end(), kernel->id.c_str());
        }
    }

    void square() {
        QVERIFY(Case("square", {{"n", 3}}).before<float>("x", {-2, 0.5, 3}).after<float>("y", {4, 0.25, 9}).passes());
    }
    void squareFromAnOffsetLeavesTheRestAlone() {
        QVERIFY(Case("square", {{"n", 2}, {"offset", 1}})
                    .before<float>("x", {7, 2, 3, 7})
                    .after<float>("y", {-1, 4, 9, -1})
                    .passes());
    }
    void vectorAdd() {
        QVERIFY(Case("vector-add", {{"n", 2}})
                    .before<float>("a", {1, 2})
                    .before<float>("b", {10, -2})
                    .after<float>("c", {11, 0})
                    .passes());
    }
    void saxpy() {
        QVERIFY(Case("saxpy", {{"n", 3}, {"a", 2.5}})
                    .before<float>("x", {0, 1, 2})
                    .before<float>("y", {1, 1, -5})
                    .after<float>("y", {1, 3.5, 0})
                    .passes());
    }
    void matmul() {
        // 1 2   5 6   19 22
        // 3 4 * 7 8 = 43 50
        QVERIFY(Case("matmul", {{"n", 2}})
                    .before<float>("a", {1, 2, 3, 4})
                    .before<float>("b", {5, 6, 7, 8})
                    .after<float>("c", {19, 22, 43, 50})
                    .passes());
    }
    void matmulOfSomeRows() {
        QVERIFY(Case("matmul", {{"n", 2}, {"row_count", 1}})
                    .before<float>("a", {3, 4})
                    .before<float>("b", {5, 6, 7, 8})
                    .after<float>("c", {43, 50})
                    .passes());
    }
    void matmulOfManyRowsAndColumns() {
        // a[i][k] = i mod 7, b[k][j] = j mod 5: c[i][j] = n * (i mod 7) * (j mod 5). More than one stretch of columns,
        // and a last row that is alone in its block.
        const std::size_t n = 517;
        std::vector<float> a(n * n), b(n * n), c(n * n);
        for (std::size_t i = 0; i < n * n; ++i) {
            a[i] = static_cast<float>(i / n % 7);
            b[i] = static_cast<float>(i % n % 5);
            c[i] = static_cast<float>(n * (i / n % 7) * (i % n % 5));
        }
        c.back() += 1000.0f;
        Case product("matmul", {{"n", static_cast<double>(n)}});
        const auto result = product.before("a", a).before("b", b).after("c", c).check();
        QVERIFY(result && result->state == CheckResult::State::Failed);
        QCOMPARE(result->firstDifference, std::uint64_t{n * n - 1});
        QVERIFY2(result->message.find("; 1 of 267289 elements differ") != std::string::npos, result->message.c_str());
    }
    void reduction() {
        // 256 ones, then 2 and 3 in a group of their own.
        std::vector<float> x(256, 1.0f);
        x.insert(x.end(), {2.0f, 3.0f});
        QVERIFY(Case("reduction", {{"n", 258}}).before("x", x).after<float>("partial", {256, 5}).passes());
    }
    void transpose() {
        // 1 2 3    1 4
        // 4 5 6 →  2 5
        //          3 6
        QVERIFY(Case("transpose", {{"rows", 2}, {"cols", 3}})
                    .before<float>("in", {1, 2, 3, 4, 5, 6})
                    .after<float>("out", {1, 4, 2, 5, 3, 6})
                    .passes());
    }
    void stencilKeepsTheRim() {
        // Only the middle one moves: 10 + 0.1 * (1 + 2 + 3 + 4 - 40) = 7
        QVERIFY(Case("stencil", {{"rows", 3}, {"cols", 3}, {"alpha", 0.1}})
                    .before<float>("in", {9, 1, 9, 2, 10, 3, 9, 4, 9})
                    .after<float>("out", {9, 1, 9, 2, 7, 3, 9, 4, 9})
                    .passes());
    }
    void stencilOfSomeRowsHasItsNeighboursAround() {
        // Row 1 of 4, with rows 0 and 2 around it: 10 + 0.1 * (1 + 2 + 3 + 4 - 40) = 7
        QVERIFY(Case("stencil", {{"rows", 4}, {"cols", 3}, {"alpha", 0.1}, {"first_row", 1}, {"row_count", 1}})
                    .before<float>("in", {9, 1, 9, 2, 10, 3, 9, 4, 9})
                    .after<float>("out", {2, 7, 3})
                    .passes());
    }
    void stencilOfOneCell() {
        QVERIFY(Case("stencil", {{"rows", 1}, {"cols", 1}}).before<float>("in", {5}).after<float>("out", {5}).passes());
    }
    void mandelbrot() {
        // c = -2, -1, 0, 1 on the real axis, 5 iterations. -2 stays at |z| = 2, which is not outside; -1 and 0 stay;
        // 1: 0, 1, 2, 5: outside after three.
        QVERIFY(
            Case("mandelbrot", {{"width", 4}, {"height", 1}, {"iterations", 5}, {"left", -2}, {"top", 0}, {"span", 4}})
                .after<unsigned>("counts", {5, 5, 5, 3})
                .passes());
    }
    void mandelbrotFurtherDown() {
        // Row 2 at step 1 is c = 0 + 2i: 0, 2i, -4+2i: outside after two.
        QVERIFY(Case("mandelbrot", {{"width", 1},
                                    {"height", 1},
                                    {"iterations", 5},
                                    {"left", 0},
                                    {"top", 0},
                                    {"span", 1},
                                    {"first_row", 2}})
                    .after<unsigned>("counts", {2})
                    .passes());
    }
    void blackScholes() {
        // Hull, Options, Futures and Other Derivatives, example 15.6: call 4.76, put 0.81.
        Case hull("black-scholes", {{"n", 1}, {"rate", 0.1}, {"volatility", 0.2}});
        hull.before<float>("price", {42}).before<float>("strike", {40}).before<float>("years", {0.5});
        hull.tolerance(0.0, 0.005);
        QVERIFY(hull.after<float>("call", {4.76f}).after<float>("put", {0.81f}).passes());
        const auto swapped = hull.after<float>("call", {0.81f}).after<float>("put", {4.76f}).check();
        QVERIFY(swapped && swapped->state == CheckResult::State::Failed);
        QCOMPARE(swapped->argument, std::string("call"));
    }
    void histogramAddsToWhatIsThere() {
        QVERIFY(Case("histogram", {{"n", 5}})
                    .before<unsigned char>("data", {0, 255, 7, 7, 7})
                    .before("counts", histogramOf({{7, 100}, {9, 1}}))
                    .after("counts", histogramOf({{0, 1}, {7, 103}, {9, 1}, {255, 1}}))
                    .passes());
    }

    void theFirstDifferenceIsNamed() {
        Case wrong("saxpy", {{"n", 5}, {"a", 2}});
        wrong.before<float>("x", {1, 1, 1, 1, 1}).before<float>("y", {0, 0, 0, 0, 0});
        const auto result = wrong.after<float>("y", {2, 2, 3, 2, 4}).check();
        QVERIFY(bool(result));
        QVERIFY(result->state == CheckResult::State::Failed);
        QCOMPARE(result->argument, std::string("y"));
        QCOMPARE(result->firstDifference, std::uint64_t{2});
        QCOMPARE(result->expected, 2.0);
        QCOMPARE(result->found, 3.0);
        QCOMPARE(result->largestError, 1.0);
        QCOMPARE(result->message,
                 std::string("y[2] is 3, expected 2; 2 of 5 elements differ (largest relative error 1)"));
    }
    void integersAgreeExactly() {
        Case counts("histogram", {{"n", 1}});
        counts.before<unsigned char>("data", {3}).before("counts", histogramOf({{3, 1000000000}}));
        counts.tolerance(0.5, 100.0);
        const auto result = counts.after("counts", histogramOf({{3, 1000000000}})).check();
        QVERIFY(result && result->state == CheckResult::State::Failed);
        QCOMPARE(result->firstDifference, std::uint64_t{3});
        QCOMPARE(result->expected, 1000000001.0);
    }
    void nanEqualsNanOnly_data() {
        QTest::addColumn<float>("x");
        QTest::addColumn<float>("y");
        QTest::addColumn<bool>("passes");
        QTest::newRow("nan for nan") << notANumber << notANumber << true;
        QTest::newRow("number for nan") << notANumber << 0.0f << false;
        QTest::newRow("nan for a number") << 2.0f << notANumber << false;
        QTest::newRow("infinity for infinity") << infinity << infinity << true;
        QTest::newRow("minus infinity for infinity") << infinity << -infinity << false;
        QTest::newRow("a square beyond float is infinite") << 1e30f << infinity << true;
        QTest::newRow("infinity for a number") << 2.0f << infinity << false;
    }
    void nanEqualsNanOnly() {
        QFETCH(float, x);
        QFETCH(float, y);
        QFETCH(bool, passes);
        const auto result =
            Case("square", {{"n", 1}}).tolerance(1.0, 1e9).before<float>("x", {x}).after<float>("y", {y}).check();
        QVERIFY(bool(result));
        QCOMPARE(result->state == CheckResult::State::Passed, passes);
        QCOMPARE(result->largestError, passes ? 0.0 : double(infinity));
    }
    void tolerance_data() {
        QTest::addColumn<double>("relative");
        QTest::addColumn<double>("absolute");
        QTest::addColumn<float>("found");
        QTest::addColumn<bool>("passes");
        QTest::newRow("relative, just within") << 0.01 << 0.0 << 101.0f << true;
        QTest::newRow("relative, just beyond") << 0.01 << 0.0 << 101.001f << false;
        QTest::newRow("absolute, just within") << 0.0 << 1.0 << 99.0f << true;
        QTest::newRow("absolute, just beyond") << 0.0 << 1.0 << 98.999f << false;
        QTest::newRow("both add up") << 0.01 << 1.0 << 102.0f << true;
        QTest::newRow("none") << 0.0 << 0.0 << 100.00001f << false;
    }
    void tolerance() {
        QFETCH(double, relative);
        QFETCH(double, absolute);
        QFETCH(float, found);
        QFETCH(bool, passes);
        const auto result = Case("square", {{"n", 1}})
                                .tolerance(relative, absolute)
                                .before<float>("x", {10})
                                .after<float>("y", {found})
                                .check();
        QVERIFY(bool(result));
        QCOMPARE(result->state == CheckResult::State::Passed, passes);
    }
    void aSumIsJudgedByItsTerms() {
        // 1e6 - 1e6 + rounding: a float sum of such terms may be off by more than the tiny result.
        Case cancelling("reduction", {{"n", 3}});
        cancelling.before<float>("x", {1e6f, -1e6f, 1e-3f}).tolerance(1e-6, 0.0);
        QVERIFY(cancelling.after<float>("partial", {0.0f}).passes());
        const auto wrong = cancelling.after<float>("partial", {3.0f}).check();
        QVERIFY(wrong && wrong->state == CheckResult::State::Failed);
    }

    void noReferenceIsNoCheck() {
        Case own("square", {{"n", 1}});
        own.kernel().reference.clear();
        const auto result = own.check();
        QVERIFY(bool(result));
        QVERIFY(result->state == CheckResult::State::None);
        QVERIFY(result->message.empty());
    }
    void misuseIsAnErrorThatSaysWhat_data() {
        QTest::addColumn<QString>("reference");
        QTest::addColumn<double>("n");
        QTest::addColumn<int>("xs");
        QTest::addColumn<int>("ys");
        QTest::addColumn<QString>("says");
        QTest::newRow("unknown reference") << "cube" << 2.0 << 2 << 2 << "'cube'";
        QTest::newRow("parameter it does not have") << "matmul" << 2.0 << 2 << 2 << "'row_count'";
        QTest::newRow("buffer it does not have") << "reduction" << 2.0 << 2 << 2 << "'partial'";
        QTest::newRow("short input") << "square" << 3.0 << 2 << 3 << "8 bytes before the run, its reference needs 12";
        QTest::newRow("short output") << "square" << 3.0 << 3 << 2 << "8 bytes after the run, its reference needs 12";
        QTest::newRow("no input at all") << "square" << 1.0 << 0 << 1 << "0 bytes before the run";
        QTest::newRow("negative size") << "square" << -1.0 << 2 << 2 << "found -1";
        QTest::newRow("half an element") << "square" << 1.5 << 2 << 2 << "found 1.5";
        QTest::newRow("not a number") << "square" << double(notANumber) << 2 << 2 << "found nan";
        QTest::newRow("absurd size") << "square" << 1e18 << 2 << 2 << "found 1e+18";
    }
    void misuseIsAnErrorThatSaysWhat() {
        QFETCH(QString, reference);
        QFETCH(double, n);
        QFETCH(int, xs);
        QFETCH(int, ys);
        QFETCH(QString, says);
        Case wrong("square", {{"n", n}});
        wrong.kernel().reference = reference.toStdString();
        wrong.before("x", std::vector<float>(std::size_t(xs))).after("y", std::vector<float>(std::size_t(ys)));
        const auto result = wrong.check();
        QVERIFY(!result);
        QVERIFY(result.error().kind == ErrorKind::InvalidInput);
        QVERIFY2(QString::fromStdString(result.error().message).contains(says), result.error().message.c_str());
    }
    void aBufferOfAnotherTypeIsRefused() {
        Case wrong("square", {{"n", 1}});
        wrong.before<float>("x", {1, 0}).after<float>("y", {1, 0});
        for (KernelArgument& argument : wrong.kernel().arguments) argument.type = {Scalar::Double, 1};
        const auto result = wrong.check();
        QVERIFY(!result);
        QCOMPARE(result.error().message,
                 std::string("The reference takes buffer 'x' as float, the kernel declares it double"));
    }
    void nothingExpectedPasses() {
        QVERIFY(Case("square", {{"n", 0}}).before<float>("x", {}).after<float>("y", {}).passes());
        QVERIFY(
            Case("matmul", {{"n", 0}}).before<float>("a", {}).before<float>("b", {}).after<float>("c", {}).passes());
    }
};

QTEST_GUILESS_MAIN(ReferenceTest)
#include "tst_reference.moc"
