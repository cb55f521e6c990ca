#include "ui/history/history_delegate.h"

#include "ui/history/history_model.h"
#include "ui/theme.h"

#include <QPainter>

namespace heteroscope {
namespace {

constexpr int padding = 8;

void drawText(QPainter* painter, const QRect& rect, const QString& text, Qt::Alignment alignment = Qt::AlignLeft) {
    painter->drawText(rect, static_cast<int>(alignment | Qt::AlignVCenter),
                      QFontMetrics(painter->font()).elidedText(text, Qt::ElideRight, rect.width()));
}

void paintKernel(QPainter* painter, const QRect& rect, const QString& kernel, const QString& parameters) {
    drawText(painter, rect, kernel);
    const QRect rest = rect.adjusted(QFontMetrics(painter->font()).horizontalAdvance(kernel) + padding, 0, 0, 0);
    if (rest.width() < 24) return;
    painter->setFont(Theme::font(Theme::Type::Caption));
    painter->setPen(Theme::color(Token::Secondary));
    drawText(painter, rest, parameters);
}

void paintDevice(QPainter* painter, QRect rect, const QString& device, int series) {
    if (series >= 0) {
        const QPen pen = painter->pen();
        painter->setPen(Qt::NoPen);
        painter->setBrush(Theme::series(series));
        painter->drawRoundedRect(QRectF(rect.left(), rect.center().y() - 3, 8, 8), 2, 2);
        painter->setPen(pen);
        rect.adjust(14, 0, 0, 0);
    }
    drawText(painter, rect, device);
}

}  // namespace

QSize HistoryDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    int width = QFontMetrics(Theme::font(Theme::Type::Text)).horizontalAdvance(index.data().toString()) + 2 * padding + 2;
    if (index.column() == HistoryModel::StateColumn) width += 22;
    if (index.column() == HistoryModel::DeviceColumn) width += 14;
    if (index.column() == HistoryModel::KernelColumn)
        width += QFontMetrics(Theme::font(Theme::Type::Caption)).horizontalAdvance(index.data(HistoryModel::ParametersRole).toString()) + padding;
    return {width, option.fontMetrics.height() + 12};
}

void HistoryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state.testFlag(QStyle::State_Selected)) painter->fillRect(option.rect, Theme::color(Token::Selection));
    else if (option.state.testFlag(QStyle::State_MouseOver)) painter->fillRect(option.rect, Theme::color(Token::Hover));
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), Theme::color(Token::Hover));
    const QRect rect = option.rect.adjusted(padding, 0, -padding, 0);
    const QString text = index.data().toString();  // this also asks for the row's page
    if (!index.data(HistoryModel::LoadedRole).toBool()) {
        painter->fillRect(QRect(rect.left(), rect.center().y() - 3, rect.width() * 2 / 3, 6), Theme::color(Token::Hover));
        painter->restore();
        return;
    }
    const QVariant foreground = index.data(Qt::ForegroundRole);
    const bool dim = index.column() == HistoryModel::SubmittedColumn || text == QStringLiteral("—");
    painter->setPen(foreground.isValid() ? foreground.value<QColor>() : Theme::color(dim ? Token::Secondary : Token::Text));
    painter->setFont(Theme::font(Theme::Type::Text));
    switch (index.column()) {
        case HistoryModel::StateColumn:
            Theme::stateIcon(static_cast<JobState>(index.data(HistoryModel::StateRole).toInt()))
                .paint(painter, QRect(rect.left(), rect.center().y() - 6, 14, 14));
            drawText(painter, rect.adjusted(22, 0, padding, 0), text);
            break;
        case HistoryModel::KernelColumn: paintKernel(painter, rect, text, index.data(HistoryModel::ParametersRole).toString()); break;
        case HistoryModel::DeviceColumn: paintDevice(painter, rect, text, index.data(HistoryModel::SeriesRole).toInt()); break;
        default: drawText(painter, rect, text, Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignHorizontal_Mask));
    }
    painter->restore();
}

}  // namespace heteroscope
