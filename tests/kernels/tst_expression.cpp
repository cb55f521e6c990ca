// Expressions of packages: values, what they refuse, and that refusals say what is unknown.
#include "scheduler/kernel/expression.h"

#include <QtTest>

#include <atomic>
#include <clocale>
#include <cmath>
#include <thread>

using namespace heteroscope;

namespace {

#define VERIFY_SAYS(error, part) \
    QVERIFY2((error).message.find(part) != std::string::npos, (error).message.c_str())

}  // namespace

class ExpressionTest : public QObject {
    Q_OBJECT

private slots:
    void values_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<double>("value");
        const auto row = [](const char* text, double value) { QTest::newRow(text) << QString::fromLatin1(text) << value; };
        row("2*n", 2000);
        row("ceil(n/256)", 4);
        row("floor(n/256)", 3);
        row("round(2.5)", 3);
        row("trunc(-2.5)", -2);
        row("min(n, 5, 7)", 5);
        row("max(n, 5)", 1000);
        row("mod(n, 256)", 232);
        row("2^10", 1024);
        row("n > 5 ? 1 : 2", 1);
        row("count > 0 ? count : n", 1000);
        row("n >= 1000 && n <= 1000", 1);
        row("n == 1000", 1);
        row("1e3", 1000);
        row(" ( n ) ", 1000);
        row("min(n,2)*max(3,n)", 2000);
    }
    void values() {
        QFETCH(QString, expression);
        QFETCH(double, value);
        const auto found = evaluate(expression.toStdString(), {{"n", 1000}, {"count", 0}});
        QVERIFY2(bool(found), found ? "" : found.error().message.c_str());
        QCOMPARE(*found, value);
    }

    void refused_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* text, const char* says) {
            QTest::newRow(text) << QString::fromLatin1(text) << QString::fromUtf8(says);
        };
        row("", "is empty");
        row("  ", "is empty");
        row("2*size", "unknown name \"size\"");
        row("wdith*2", "did you mean \"width\"?");
        row("n/0", "infinite");
        row("0/0", "not a number");
        row("sqrt(-1)", "not a number");
        row("2^5000", "infinite");
        row("n = 5", "assigns");
        row("1, 2", "several values");
        row("(n", "not closed");
        row("n)", "without an opening one");
        row("n +", "\"n +\"");
        row("\"text\"", "unexpected character");
        row("n; n", "unexpected character");
        row("foo(3)", "foo");
        row("min()", "min()");
    }
    void refused() {
        QFETCH(QString, expression);
        QFETCH(QString, says);
        const auto found = evaluate(expression.toStdString(), {{"n", 1000}, {"width", 3}});
        QVERIFY(!found);
        QVERIFY(found.error().kind == ErrorKind::InvalidInput);
        VERIFY_SAYS(found.error(), says.toStdString());
    }

    void counts() {
        QCOMPARE(*evaluateCount("2*n", {{"n", 21}}), std::uint64_t{42});
        QCOMPARE(*evaluateCount("0.1*30", {}), std::uint64_t{3});  // a rounding error away from 3
        QCOMPARE(*evaluateCount("2^53", {}), std::uint64_t{1} << 53);
        QCOMPARE(*evaluateCount("n", {{"n", 0}}), std::uint64_t{0});
        VERIFY_SAYS(evaluateCount("n/256", {{"n", 1000}}).error(), "gives 3.90625");
        VERIFY_SAYS(evaluateCount("n-2", {{"n", 1}}).error(), "gives -1");
        VERIFY_SAYS(evaluateCount("2^53 + 2", {}).error(), "2^53");
        VERIFY_SAYS(evaluateCount("n*n", {{"n", 1e300}}).error(), "infinite");
    }

    /// The parser of an expression is kept: another set of parameters must not see the first one's.
    void keptParsersForgetOldParameters() {
        QCOMPARE(*evaluate("a+b", {{"a", 1}, {"b", 2}}), 3.0);
        QCOMPARE(*evaluate("a+b", {{"a", 10}, {"b", 20}, {"c", 5}}), 30.0);
        VERIFY_SAYS(evaluate("a+b", {{"a", 10}}).error(), "unknown name \"b\"");
        for (int i = 0; i < 1000; ++i) QCOMPARE(*evaluate("a+" + std::to_string(i), {{"a", 1}}), 1.0 + i);
        QCOMPARE(*evaluate("a+b", {{"a", 1}, {"b", 2}}), 3.0);
    }

    void nanParametersDoNotSlipThrough() {
        QVERIFY(!evaluate("n*2", {{"n", std::nan("")}}));
        QVERIFY(!evaluateCount("n", {{"n", INFINITY}}));
    }

    void longAndDeepExpressions() {
        QVERIFY(!evaluate(std::string(100'000, '('), {}));
        QVERIFY(!evaluate(std::string(5'000, '1'), {}));
        QCOMPARE(*evaluate(std::string(500, '(') + "7" + std::string(500, ')'), {}), 7.0);
    }

    void manyThreadsAtOnce() {
        std::vector<std::thread> threads;
        std::atomic<int> wrong{0};
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([t, &wrong] {
                for (int i = 0; i < 2000; ++i)
                    if (*evaluate("x*y+1", {{"x", double(t)}, {"y", double(i)}}) != double(t) * i + 1) ++wrong;
            });
        for (auto& thread : threads) thread.join();
        QCOMPARE(wrong.load(), 0);
    }

    void localeDoesNotMatter() {
        const std::string before = std::setlocale(LC_ALL, nullptr);
        for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "C"})
            if (std::setlocale(LC_ALL, name)) {
                QCOMPARE(*evaluate("0.5*3", {}), 1.5);
            }
        std::setlocale(LC_ALL, before.c_str());
    }
};

QTEST_APPLESS_MAIN(ExpressionTest)
#include "tst_expression.moc"
