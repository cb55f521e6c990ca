#include "ui/monitor/readings_row.h"

#include "ui/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <array>

namespace heteroscope {

namespace {
// Shares of the width, for utilisation, memory, power, temperature, clock: memory holds two figures.
constexpr std::array shares{0.19, 0.29, 0.18, 0.17, 0.17};
}  // namespace

ReadingsRow::ReadingsRow(QWidget* parent) : QWidget(parent) {
    setFixedHeight(sizeHint().height());
    setReadings(readingTexts({}, {}));
}

void ReadingsRow::setReadings(std::vector<ReadingText> readings) {
    readings_ = std::move(readings);
    QStringList words;
    for (const auto& reading : readings_) {
        QString text = reading.label + QLatin1Char(' ') + reading.value + QLatin1Char(' ') + reading.unit;
        if (!reading.state.isEmpty()) text += QStringLiteral(" (%1)").arg(reading.state);
        words << text.simplified();
    }
    setAccessibleName(tr("Values"));
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

QRectF ReadingsRow::place(std::size_t index) const {
    double left = 0;
    for (std::size_t i = 0; i < index; ++i) left += shares[i] * width();
    return {left, 0, shares[index] * width() - 8, static_cast<double>(height())};
}

void ReadingsRow::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QFont value = Theme::font(Theme::Type::Value), caption = Theme::font(Theme::Type::Caption);
    for (std::size_t i = 0; i < readings_.size() && i < shares.size(); ++i) {
        const ReadingText& reading = readings_[i];
        const QRectF rect = place(i);
        painter.setFont(value);
        painter.setPen(Theme::color(reading.number ? Token::Text : Token::Secondary));
        const double figureWidth = painter.fontMetrics().horizontalAdvance(reading.value);
        painter.drawText(QPointF(rect.left(), 25), reading.value);
        painter.setFont(caption);
        painter.setPen(Theme::color(Token::Secondary));
        const double unitLeft = rect.left() + figureWidth + 4;
        painter.drawText(QPointF(unitLeft, 25), painter.fontMetrics().elidedText(reading.unit, Qt::ElideRight, static_cast<int>(rect.right() + 6 - unitLeft)));
        painter.drawText(QPointF(rect.left(), 43), painter.fontMetrics().elidedText(reading.label, Qt::ElideRight, static_cast<int>(rect.width())));
        painter.setPen(Theme::color(reading.forbidden ? Token::Warn : Token::Secondary));
        painter.drawText(QPointF(rect.left(), 59), painter.fontMetrics().elidedText(reading.state, Qt::ElideRight, static_cast<int>(rect.width())));
    }
}

bool ReadingsRow::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (std::size_t i = 0; i < readings_.size() && i < shares.size(); ++i)
            if (place(i).contains(help->pos())) {
                const ReadingText& reading = readings_[i];
                QString text = reading.label + QStringLiteral(": ") + reading.value + QLatin1Char(' ') + reading.unit;
                if (!reading.state.isEmpty()) text += QLatin1Char('\n') + reading.state;
                if (!reading.source.isEmpty()) text += QLatin1Char('\n') + tr("from %1").arg(reading.source);
                QToolTip::showText(help->globalPos(), text, this);
                return true;
            }
        QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

}  // namespace heteroscope
