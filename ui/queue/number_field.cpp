#include "ui/queue/number_field.h"

#include <QLineEdit>
#include <QLocale>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace heteroscope {
namespace {

/// 1 for "", 1000 for "k", 1024² for "Mi"; nothing for what is no prefix.
std::optional<double> prefixFactor(const QString& prefix) {
    if (prefix.isEmpty()) return 1.0;
    static const QString letters = QStringLiteral("kmgt");
    const auto power = letters.indexOf(prefix[0].toLower());
    if (power < 0 || prefix.size() > 2) return {};
    const bool binary = prefix.size() == 2;
    if (binary && prefix[1].toLower() != QLatin1Char('i')) return {};
    return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power) + 1.0);
}

std::optional<double> plainNumber(QString text) {
    static const QRegularExpression grouped(QStringLiteral("^[+-]?\\d{1,3}(,\\d{3})+(\\.\\d*)?$"));
    if (grouped.match(text).hasMatch()) text.remove(QLatin1Char(','));
    bool isNumber = false;
    const double value = QLocale::c().toDouble(text, &isNumber);
    return isNumber && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

QString grouped(double value) {
    QLocale locale(QLocale::English, QLocale::UnitedStates);
    return value == std::floor(value) && std::abs(value) < 1e15 ? locale.toString(value, 'f', 0) : writeNumber(value);
}

bool isPowerOfTwo(double value) {
    int exponent = 0;
    return value >= 2.0 && std::frexp(value, &exponent) == 0.5;
}

}  // namespace

std::optional<double> readNumber(const QString& text) {
    QString compact = text;
    compact.remove(QLatin1Char(' ')).remove(QChar(0x2009)).remove(QChar(0xA0)).replace(QChar(0x2212), QLatin1Char('-'));
    static const QRegularExpression power(QStringLiteral("^(\\d+)\\^(\\d+)$"));
    if (const auto match = power.match(compact); match.hasMatch()) {
        const double value = std::pow(match.captured(1).toDouble(), match.captured(2).toDouble());
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    static const QRegularExpression prefixed(QStringLiteral("^(.*[\\d.])([kKmMgGtT][iI]?)?$"));
    const auto match = prefixed.match(compact);
    if (!match.hasMatch()) return {};
    const auto value = plainNumber(match.captured(1));
    const auto factor = prefixFactor(match.captured(2));
    return value && factor ? std::optional(*value * *factor) : std::nullopt;
}

QString writeNumber(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return QString::number(value, 'f', 0);
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

NumberField::NumberField(QString name, bool integral, std::optional<double> minimum, std::optional<double> maximum, QWidget* parent)
    : QAbstractSpinBox(parent), name_(std::move(name)), integral_(integral), minimum_(minimum), maximum_(maximum) {
    setAccessibleName(name_);
    connect(lineEdit(), &QLineEdit::textChanged, this, &NumberField::changed);
}

void NumberField::setNumber(double value) { lineEdit()->setText(writeNumber(value)); }

std::optional<double> NumberField::number() const { return problem().isEmpty() ? readNumber(text()) : std::nullopt; }

QString NumberField::problem() const {
    const QString typed = text().trimmed();
    if (typed.isEmpty()) return tr("%1 needs a number").arg(name_);
    const auto value = readNumber(typed);
    if (!value) return tr("“%1” is not a number").arg(typed);
    if (integral_ && *value != std::floor(*value)) return tr("%1 must be a whole number").arg(name_);
    if (minimum_ && *value < *minimum_) return tr("%1 must be at least %2").arg(name_, grouped(*minimum_));
    if (maximum_ && *value > *maximum_) return tr("%1 must be at most %2").arg(name_, grouped(*maximum_));
    return {};
}

QString NumberField::limits() const {
    if (minimum_ && maximum_) return tr("%1 to %2").arg(grouped(*minimum_), grouped(*maximum_));
    if (minimum_) return tr("at least %1").arg(grouped(*minimum_));
    if (maximum_) return tr("at most %1").arg(grouped(*maximum_));
    return {};
}

/// Sizes that are powers of two double and halve; other numbers go by one (fractions by a tenth).
void NumberField::stepBy(int steps) {
    double value = readNumber(text()).value_or(minimum_.value_or(0.0));
    for (int i = 0; i < std::abs(steps); ++i) {
        const bool up = steps > 0;
        if (integral_ && value >= 64.0 && isPowerOfTwo(value)) value = up ? value * 2.0 : value / 2.0;
        else value += (up ? 1.0 : -1.0) * (integral_ ? 1.0 : 0.1);
    }
    if (!integral_) value = std::round(value * 1e9) / 1e9;
    // Arrows stop at the limits; only typing may go beyond, to be told so.
    if (minimum_) value = std::max(value, *minimum_);
    if (maximum_) value = std::min(value, *maximum_);
    setNumber(value);
    selectAll();
}

QValidator::State NumberField::validate(QString&, int&) const { return QValidator::Acceptable; }

QSize NumberField::sizeHint() const {
    QSize size = QAbstractSpinBox::sizeHint();
    size.setWidth(std::max(size.width(), 128));
    return size;
}

QAbstractSpinBox::StepEnabled NumberField::stepEnabled() const { return StepUpEnabled | StepDownEnabled; }

}  // namespace heteroscope
