#include "ui/format.h"

#include <QDateTime>
#include <QTest>

#include <cmath>
#include <limits>

using namespace heteroscope;

namespace {
/// Expected texts are written with "_" for the thin space and "-" for the minus sign.
QString typeset(const char* text) {
    return QString::fromUtf8(text).replace(QLatin1Char('_'), QChar(0x2009)).replace(QLatin1Char('-'), QChar(0x2212));
}
}  // namespace

class FormatTest : public QObject {
    Q_OBJECT
private slots:
    void seconds_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        const auto row = [](double value, const char* text) { QTest::newRow(text) << value << typeset(text); };
        row(0.0, "0_s");
        row(4.12e-4, "412_µs");
        row(1.456, "1.46_s");
        row(0.0817, "81.7_ms");
        row(9.996, "10.0_s");
        row(9.9949, "9.99_s");
        row(99.96e-3, "100_ms");
        row(999.6e-6, "1.00_ms");
        row(5e-9, "5.00_ns");
        row(59.94, "59.9_s");
        row(59.96, "1_min 0_s");
        row(192.0, "3_min 12_s");
        row(3599.6, "1_h 0_min");
        row(7500.0, "2_h 5_min");
        row(86399.0, "1_d 0_h");
        row(90000.0, "1_d 1_h");
        row(-1.5, "-1.50_s");
        row(std::numeric_limits<double>::quiet_NaN(), "—");
        row(std::numeric_limits<double>::infinity(), "—");
    }
    void seconds() {
        QFETCH(double, value);
        QFETCH(QString, text);
        QCOMPARE(format::seconds(value), text);
    }

    void bytes_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        const auto row = [](double value, const char* text) { QTest::newRow(text) << value << typeset(text); };
        row(0, "0_B");
        row(1, "1_B");
        row(999, "999_B");
        row(1000, "0.977_KiB");
        row(1536, "1.50_KiB");
        row(1010.0 * 1024, "0.986_MiB");
        row(61.2 * 1073741824.0, "61.2_GiB");
        row(140.0 * 1073741824.0, "140_GiB");
        row(std::ldexp(1.0, 60), "1,024_PiB");
    }
    void bytes() {
        QFETCH(double, value);
        QFETCH(QString, text);
        QCOMPARE(format::bytes(value), text);
    }

    void rates() {
        QCOMPARE(format::rate(1.2e10, QStringLiteral("B/s")), typeset("12.0_GB/s"));
        QCOMPARE(format::rate(6.05e13, QStringLiteral("FLOP/s")), typeset("60.5_TFLOP/s"));
        QCOMPARE(format::rate(0.0, QStringLiteral("B/s")), typeset("0_B/s"));
        QCOMPARE(format::rate(0.75, QStringLiteral("jobs/s")), typeset("0.750_jobs/s"));
        QCOMPARE(format::rate(999.7e6, QStringLiteral("B/s")), typeset("1.00_GB/s"));
    }

    void counts() {
        QCOMPARE(format::count(0), QStringLiteral("0"));
        QCOMPARE(format::count(1204), QStringLiteral("1,204"));
        QCOMPARE(format::count(std::numeric_limits<std::uint64_t>::max()), QStringLiteral("18,446,744,073,709,551,615"));
    }

    void percentages() {
        QCOMPARE(format::percent(0.0), typeset("0_%"));
        QCOMPARE(format::percent(0.868), typeset("87_%"));
        QCOMPARE(format::percent(1.0), typeset("100_%"));
        QCOMPARE(format::percent(std::nan("")), QStringLiteral("—"));
    }

    void differences() {
        QCOMPARE(format::difference(0.042), typeset("+4.2_%"));
        QCOMPARE(format::difference(-0.2809), typeset("-28.1_%"));
        QCOMPARE(format::difference(1.28), typeset("+128_%"));
        QCOMPARE(format::difference(0.99949), typeset("+99.9_%"));
        QCOMPARE(format::difference(0.9996), typeset("+100_%"));
        QCOMPARE(format::difference(-0.0002), typeset("0.0_%"));
    }

    void numbers_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        const auto row = [](double value, const char* text) { QTest::newRow(text) << value << typeset(text); };
        row(0, "0");
        row(0.449, "0.449");
        row(0.0817, "0.0817");
        row(0.09996, "0.100");
        row(0.9996, "1.00");
        row(9.996, "10.0");
        row(35.26, "35.3");
        row(999.4, "999");
        row(1234.4, "1,234");
        row(-2.5, "-2.50");
        row(2.4e-7, "2.40e-7");
        row(1.23e7, "1.23e7");
    }
    void numbers() {
        QFETCH(double, value);
        QFETCH(QString, text);
        QCOMPARE(format::number(value), text);
    }

    void times() {
        const QDateTime moment(QDate(2026, 11, 26), QTime(14, 5, 12));
        const std::int64_t ns = moment.toMSecsSinceEpoch() * 1'000'000;
        QCOMPARE(format::clockTime(ns), QStringLiteral("14:05:12"));
        QCOMPARE(format::dateTime(ns), QStringLiteral("26 Nov 2026, 14:05:12"));
        QCOMPARE(format::clockTime(0), QStringLiteral("—"));
    }

    void words() {
        QCOMPARE(format::stateName(JobState::TimedOut), QStringLiteral("timed out"));
        QCOMPARE(format::jobNumber(1042), QStringLiteral("#1042"));
        QCOMPARE(format::jobNumber(0), QStringLiteral("—"));
        for (int state = 0; state < jobStateCount; ++state) QVERIFY(format::stateName(static_cast<JobState>(state)) != format::absent());
    }
};

QTEST_GUILESS_MAIN(FormatTest)
#include "tst_format.moc"
