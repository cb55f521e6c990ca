#include "ui/format.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace heteroscope::format {

namespace {

constexpr QChar thinSpace(0x2009);
constexpr QChar minusSign(0x2212);

/// English figures whatever the desktop's language, so that a value reads the same here, in exports and in JSON.
QLocale plain() {
    QLocale locale(QLocale::English, QLocale::UnitedStates);
    locale.setNumberOptions(QLocale::DefaultNumberOptions);
    return locale;
}

/// Three significant digits of 0 ≤ value < 1000; "1000" from 999.5.
QString threeDigits(double value) {
    if (value == 0.0) return QStringLiteral("0");
    int exponent = static_cast<int>(std::floor(std::log10(value)));
    if (value >= 9.995 * std::pow(10.0, exponent)) ++exponent;  // rounds up to the next power
    const int decimals = std::max(0, 2 - exponent);
    return QString::number(value, 'f', decimals);
}

struct Step {
    double factor;
    QString unit;
};

/// The largest unit in which the rounded value stays below 1000 of it: 999.7 µs is "1.00 ms".
QString scaled(double value, std::span<const Step> steps) {
    const QString sign = value < 0 ? QString(minusSign) : QString();
    const double magnitude = std::abs(value);
    const Step* step = &steps.front();
    for (const auto& candidate : steps)
        if (magnitude >= candidate.factor * 0.9995) step = &candidate;
    const double inUnit = magnitude / step->factor;
    const QString digits = inUnit < 999.5 ? threeDigits(inUnit) : plain().toString(std::round(inUnit), 'f', 0);
    return sign + digits + thinSpace + step->unit;
}

QString withSmallUnit(std::int64_t large, const QString& largeUnit, std::int64_t small, const QString& smallUnit) {
    return QString::number(large) + thinSpace + largeUnit + QLatin1Char(' ') + QString::number(small) + thinSpace + smallUnit;
}

QDateTime local(std::int64_t epochNs) { return QDateTime::fromMSecsSinceEpoch(epochNs / 1'000'000); }

}  // namespace

QString seconds(double value) {
    if (!std::isfinite(value)) return absent();
    const double magnitude = std::abs(value);
    if (magnitude < 59.95) {
        static const std::array steps{Step{1e-9, QStringLiteral("ns")}, Step{1e-6, QStringLiteral("µs")},
                                      Step{1e-3, QStringLiteral("ms")}, Step{1.0, QStringLiteral("s")}};
        return value == 0.0 ? QStringLiteral("0") + thinSpace + QStringLiteral("s") : scaled(value, steps);
    }
    const QString sign = value < 0 ? QString(minusSign) : QString();
    if (magnitude >= 3600.0 * 24 * 36500) return sign + QStringLiteral("> 100") + thinSpace + QStringLiteral("years");
    const auto whole = static_cast<std::int64_t>(std::llround(magnitude));
    const QString s = QStringLiteral("s"), min = QStringLiteral("min"), h = QStringLiteral("h"), d = QStringLiteral("d");
    if (whole < 3600) return sign + withSmallUnit(whole / 60, min, whole % 60, s);
    const auto minutes = static_cast<std::int64_t>(std::llround(magnitude / 60.0));
    if (minutes < 24 * 60) return sign + withSmallUnit(minutes / 60, h, minutes % 60, min);
    const auto hours = static_cast<std::int64_t>(std::llround(magnitude / 3600.0));
    return sign + withSmallUnit(hours / 24, d, hours % 24, h);
}

QString bytes(double value) {
    if (!std::isfinite(value)) return absent();
    static const std::array steps{Step{1.0, QStringLiteral("B")},
                                  Step{1024.0, QStringLiteral("KiB")},
                                  Step{1048576.0, QStringLiteral("MiB")},
                                  Step{1073741824.0, QStringLiteral("GiB")},
                                  Step{1099511627776.0, QStringLiteral("TiB")},
                                  Step{1125899906842624.0, QStringLiteral("PiB")}};
    const double magnitude = std::abs(value);
    if (magnitude < 1000.0)
        return (value < 0 ? QString(minusSign) : QString()) + QString::number(magnitude, 'f', 0) + thinSpace + steps[0].unit;
    // Between 1000 and 1023 of a unit three digits say more in the next one: 1010 KiB is 0.986 MiB.
    std::size_t unit = 0;
    while (unit + 1 < steps.size() && magnitude / steps[unit].factor >= 999.5) ++unit;
    return scaled(value, std::span(steps).subspan(unit, 1));
}

QString rate(double perSecond, const QString& unit) {
    if (!std::isfinite(perSecond)) return absent();
    if (perSecond == 0.0) return QStringLiteral("0") + thinSpace + unit;
    const std::array steps{Step{1.0, unit},
                           Step{1e3, QLatin1Char('k') + unit},
                           Step{1e6, QLatin1Char('M') + unit},
                           Step{1e9, QLatin1Char('G') + unit},
                           Step{1e12, QLatin1Char('T') + unit},
                           Step{1e15, QLatin1Char('P') + unit}};
    return scaled(perSecond, steps);
}

QString count(std::uint64_t n) { return plain().toString(static_cast<qulonglong>(n)); }

QString percent(double ratio) {
    if (!std::isfinite(ratio)) return absent();
    const double whole = std::round(ratio * 100.0);
    return (whole < 0 ? QString(minusSign) : QString()) + plain().toString(std::abs(whole), 'f', 0) + thinSpace + QLatin1Char('%');
}

QString difference(double ratio) {
    if (!std::isfinite(ratio)) return absent();
    const double value = std::abs(ratio) * 100.0;
    const QString digits = value < 99.95 ? QString::number(value, 'f', 1) : plain().toString(std::round(value), 'f', 0);
    QString sign = ratio < 0 ? QString(minusSign) : QStringLiteral("+");
    if (value < 0.05) sign.clear();
    return sign + digits + thinSpace + QLatin1Char('%');
}

QString clockTime(std::int64_t epochNs) {
    return epochNs <= 0 ? absent() : local(epochNs).toString(QStringLiteral("HH:mm:ss"));
}

QString dateTime(std::int64_t epochNs) {
    return epochNs <= 0 ? absent() : plain().toString(local(epochNs), QStringLiteral("d MMM yyyy, HH:mm:ss"));
}

QString number(double value) {
    if (!std::isfinite(value)) return absent();
    const QString sign = value < 0 ? QString(minusSign) : QString();
    const double magnitude = std::abs(value);
    if (magnitude == 0.0) return QStringLiteral("0");
    if (magnitude < 9.995e-4 || magnitude >= 999'999.5)
        return sign + QString::number(magnitude, 'e', 2)
                          .replace(QStringLiteral("e-0"), QStringLiteral("e-"))
                          .replace(QStringLiteral("e+0"), QStringLiteral("e"))
                          .replace(QStringLiteral("e+"), QStringLiteral("e"))
                          .replace(QLatin1Char('-'), minusSign);
    if (magnitude >= 999.5) return sign + plain().toString(std::round(magnitude), 'f', 0);
    return sign + threeDigits(magnitude);
}

QString stateName(JobState state) {
    const auto word = [](const char* text) { return QCoreApplication::translate("JobState", text); };
    switch (state) {
        case JobState::Waiting: return word("waiting");
        case JobState::Ready: return word("ready");
        case JobState::Assigned: return word("assigned");
        case JobState::Staging: return word("staging");
        case JobState::Running: return word("running");
        case JobState::Succeeded: return word("succeeded");
        case JobState::Failed: return word("failed");
        case JobState::Cancelled: return word("cancelled");
        case JobState::TimedOut: return word("timed out");
        case JobState::Interrupted: return word("interrupted");
        case JobState::Skipped: return word("skipped");
    }
    return absent();
}

QString jobNumber(JobId id) { return id == 0 ? absent() : QLatin1Char('#') + QString::number(id); }

QString absent() { return QStringLiteral("—"); }

}  // namespace heteroscope::format
