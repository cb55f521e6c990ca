#include "ui/score_table.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>

namespace heteroscope {
namespace {

constexpr int rowHeight = 24, headerHeight = 22, checkRoom = 16, swatchRoom = 14, left = 4, padding = 7;
constexpr int figureCount = 5, dataInColumn = 2;

QString secondsOrDash(double seconds) {
    return seconds < 0.0 ? format::absent() : (seconds == 0.0 ? QStringLiteral("0") : format::seconds(seconds));
}

std::array<QString, figureCount> figures(const ScoreRow& row) {
    return {row.queued, row.freeIn, row.dataIn, row.run, row.finish};
}

std::array<QString, figureCount> headers() {
    return {ScoreTable::tr("Queue"), ScoreTable::tr("Free in"), ScoreTable::tr("Data in"), ScoreTable::tr("Run"),
            ScoreTable::tr("Finish")};
}

QFont bolded(QFont font, bool bold) {
    font.setBold(bold);
    return font;
}

}  // namespace

std::vector<ScoreRow> scoreRows(const Decision& decision, const std::vector<std::string>& deviceNames,
                                const std::vector<QColor>& swatches) {
    std::vector<ScoreRow> rows;
    rows.reserve(decision.candidates.size());
    for (const Candidate& candidate : decision.candidates) {
        ScoreRow row;
        row.device = candidate.device < deviceNames.size() ? QString::fromStdString(deviceNames[candidate.device])
                                                           : ScoreTable::tr("device %1").arg(candidate.device);
        if (candidate.device < swatches.size()) row.swatch = swatches[candidate.device];
        row.chosen = candidate.device == decision.chosen;
        row.excluded = QString::fromStdString(candidate.excluded);
        row.queued = format::count(candidate.queued);
        row.freeIn = secondsOrDash(candidate.freeIn);
        row.dataIn = secondsOrDash(candidate.dataIn);
        row.run = secondsOrDash(candidate.run);
        row.finish = secondsOrDash(candidate.finish);
        row.score = format::number(candidate.score);
        rows.push_back(std::move(row));
    }
    return rows;
}

ScoreTable::ScoreTable(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ScoreTable::setRows(std::vector<ScoreRow> rows) {
    const bool resized = rows.size() != rows_.size();
    rows_ = std::move(rows);
    setAccessibleDescription(asText());
    if (resized) updateGeometry();
    update();
}

QString ScoreTable::asText() const {
    QString text = tr("Device") + QLatin1Char('\t');
    const auto names = headers();
    text += QStringList(names.begin(), names.end()).join(QLatin1Char('\t')) + QLatin1Char('\t') + tr("Score") + QLatin1Char('\n');
    for (const ScoreRow& row : rows_) {
        text += row.device + (row.chosen ? tr(" (chosen)") : QString()) + QLatin1Char('\t');
        if (!row.excluded.isEmpty()) {
            text += tr("excluded: %1").arg(row.excluded) + QLatin1Char('\n');
            continue;
        }
        const auto cells = figures(row);
        text += QStringList(cells.begin(), cells.end()).join(QLatin1Char('\t')) + QLatin1Char('\t') + row.score + QLatin1Char('\n');
    }
    return text;
}

QSize ScoreTable::sizeHint() const { return {336, headerHeight + rowHeight * static_cast<int>(rows_.size())}; }
QSize ScoreTable::minimumSizeHint() const { return {240, sizeHint().height()}; }

/// Widths of the figures' columns, from their widest cell.
std::vector<int> ScoreTable::columnWidths(const QFont& font) const {
    const QFontMetrics metrics(bolded(font, true));
    const QFontMetrics headerMetrics(Theme::font(Theme::Type::Caption));
    const auto names = headers();
    std::vector<int> widths;
    for (const QString& name : names) widths.push_back(headerMetrics.horizontalAdvance(name) + padding);
    for (const ScoreRow& row : rows_) {
        if (!row.excluded.isEmpty()) continue;
        const auto cells = figures(row);
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], metrics.horizontalAdvance(cells[i]) + padding);
    }
    return widths;
}

void ScoreTable::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    // The smaller type where the larger one would leave no room for the device's name.
    QFont font = Theme::font(Theme::Type::Text);
    auto widths = columnWidths(font);
    const auto used = [&] {
        int sum = 0;
        for (const int w : widths) sum += w;
        return sum;
    };
    if (width() - used() < 130) {
        font = Theme::font(Theme::Type::Caption);
        widths = columnWidths(font);
        if (width() - used() < 90) widths[dataInColumn] = 0;  // the tooltip still has it
    }
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.setPen(Theme::color(Token::Secondary));
    painter.drawText(QRect(left + checkRoom, 0, width(), headerHeight), Qt::AlignVCenter | Qt::AlignLeft, tr("Device"));
    int right = width() - padding / 2;
    const auto names = headers();
    for (int i = figureCount - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        if (widths[at] == 0) continue;
        painter.drawText(QRect(right - widths[at], 0, widths[at], headerHeight), Qt::AlignVCenter | Qt::AlignRight, names[at]);
        right -= widths[at];
    }
    painter.fillRect(QRect(0, headerHeight - 1, width(), 1), Theme::color(Token::Line));
    int top = headerHeight;
    for (const ScoreRow& row : rows_) {
        paintRow(painter, row, top, widths, font);
        top += rowHeight;
    }
}

void ScoreTable::paintRow(QPainter& painter, const ScoreRow& row, int top, const std::vector<int>& widths,
                          const QFont& font) const {
    if (row.chosen) painter.fillRect(QRect(0, top, width(), rowHeight), Theme::color(Token::Selection));
    if (row.swatch.isValid()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(row.swatch);
        painter.drawRoundedRect(QRectF(left + checkRoom, top + 8, 8, 8), 2, 2);
    }
    const int nameLeft = left + checkRoom + swatchRoom;
    int figuresWidth = 0;
    for (const int w : widths) figuresWidth += w;
    const QFont nameFont = bolded(Theme::font(Theme::Type::Text), row.chosen);
    const QFontMetrics nameMetrics(nameFont);
    painter.setFont(nameFont);
    painter.setPen(Theme::color(row.excluded.isEmpty() ? Token::Text : Token::Secondary));
    const int nameRoom = row.excluded.isEmpty()
                             ? width() - nameLeft - figuresWidth - padding / 2
                             : std::min(nameMetrics.horizontalAdvance(row.device) + 8, width() / 2);
    const QString name = nameMetrics.elidedText(row.device, Qt::ElideRight, nameRoom);
    painter.drawText(QRect(nameLeft, top, nameRoom + 1, rowHeight), Qt::AlignVCenter | Qt::AlignLeft, name);
    if (!row.excluded.isEmpty()) {
        painter.setFont(Theme::font(Theme::Type::Caption));
        const QRect room(nameLeft + nameRoom, top, width() - nameLeft - nameRoom - padding / 2, rowHeight);
        const QString why = tr("excluded: %1").arg(row.excluded);
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignRight,
                         QFontMetrics(painter.font()).elidedText(why, Qt::ElideRight, room.width()));
        return;
    }
    if (row.chosen)
        Theme::icon(QStringLiteral("check")).paint(&painter, QRect(left, top + 5, 14, 14));
    int right = width() - padding / 2;
    const auto cells = figures(row);
    painter.setPen(Theme::color(Token::Text));
    for (int i = figureCount - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        if (widths[at] == 0) continue;
        painter.setFont(bolded(font, row.chosen && i == figureCount - 1));
        painter.drawText(QRect(right - widths[at], top, widths[at], rowHeight), Qt::AlignVCenter | Qt::AlignRight, cells[at]);
        right -= widths[at];
    }
}

void ScoreTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) update();
}

bool ScoreTable::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = (help->pos().y() - headerHeight) / rowHeight;
    if (help->pos().y() < headerHeight || index >= static_cast<int>(rows_.size())) {
        QToolTip::hideText();
        return true;
    }
    const ScoreRow& row = rows_[static_cast<std::size_t>(index)];
    QToolTip::showText(help->globalPos(),
                       row.excluded.isEmpty()
                           ? tr("%1: %2 jobs before it, free in %3, data in %4, run %5, finish %6; score %7 (the lowest wins)")
                                 .arg(row.device, row.queued, row.freeIn, row.dataIn, row.run, row.finish, row.score)
                           : tr("%1 excluded: %2").arg(row.device, row.excluded),
                       this);
    return true;
}

}  // namespace heteroscope
