#include "ui/queue/job_delegate.h"

#include "ui/queue/job_table_model.h"
#include "ui/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr int padding = 8, barWidth = 64, barHeight = 8;

QRect cellOf(const QStyleOptionViewItem& option) { return option.rect.adjusted(padding, 0, -padding, 0); }

void drawText(QPainter* painter, const QRect& rect, const QString& text, Qt::Alignment alignment = Qt::AlignLeft) {
    painter->drawText(rect, static_cast<int>(alignment | Qt::AlignVCenter),
                      QFontMetrics(painter->font()).elidedText(text, Qt::ElideRight, rect.width()));
}

bool isDim(const QModelIndex& index) {
    return index.column() == JobTableModel::SubmittedColumn || index.data().toString() == QStringLiteral("—");
}

}  // namespace

std::vector<JobLink> jobLinks(const QString& text, const QRect& rect, const QFont& font) {
    static const QRegularExpression pattern(QStringLiteral("#(\\d+)"));
    std::vector<JobLink> links;
    const QFontMetricsF metrics(font);
    for (auto match = pattern.globalMatch(text); match.hasNext();) {
        const auto found = match.next();
        const double left = rect.left() + metrics.horizontalAdvance(text.left(found.capturedStart()));
        const double width = metrics.horizontalAdvance(found.captured());
        if (left + width > rect.right() + 1) break;
        links.push_back({found.captured(1).toULongLong(), QRectF(left, rect.top(), width, rect.height())});
    }
    return links;
}

QSize JobDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QFontMetrics metrics(Theme::font(Theme::Type::Text));
    int width = metrics.horizontalAdvance(index.data().toString()) + 2 * padding + 2;
    if (index.column() == JobTableModel::StateColumn) width += 22;
    if (index.column() == JobTableModel::DeviceColumn) width += 14;
    if (index.column() == JobTableModel::KernelColumn && showParameters_)
        width += QFontMetrics(Theme::font(Theme::Type::Caption)).horizontalAdvance(index.data(JobTableModel::ParametersRole).toString()) + padding;
    return {width, option.fontMetrics.height() + 12};
}

void JobDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected) painter->fillRect(option.rect, Theme::color(Token::Selection));
    else if (option.state.testFlag(QStyle::State_MouseOver)) painter->fillRect(option.rect, Theme::color(Token::Hover));
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), Theme::color(Token::Hover));
    QRect rect = cellOf(option);
    painter->setFont(Theme::font(Theme::Type::Text));
    const QVariant foreground = index.data(Qt::ForegroundRole);
    painter->setPen(foreground.isValid() ? foreground.value<QColor>() : Theme::color(isDim(index) ? Token::Secondary : Token::Text));
    const QString text = index.data().toString();
    switch (index.column()) {
        case JobTableModel::StateColumn: {
            const auto state = static_cast<JobState>(index.data(JobTableModel::StateRole).toInt());
            Theme::stateIcon(state).paint(painter, QRect(rect.left(), rect.center().y() - 6, 14, 14));
            drawText(painter, rect.adjusted(22, 0, padding, 0), text);
            break;
        }
        case JobTableModel::KernelColumn: {
            const int width = QFontMetrics(painter->font()).horizontalAdvance(text);
            drawText(painter, rect, text);
            const QRect rest = rect.adjusted(width + padding, 0, 0, 0);
            if (!showParameters_ || rest.width() < 24) break;
            painter->setFont(Theme::font(Theme::Type::Caption));
            painter->setPen(Theme::color(Token::Secondary));
            drawText(painter, rest, index.data(JobTableModel::ParametersRole).toString());
            break;
        }
        case JobTableModel::DeviceColumn: {
            const int series = index.data(JobTableModel::SeriesRole).toInt();
            if (series >= 0) {
                const QPen pen = painter->pen();
                painter->setPen(Qt::NoPen);
                painter->setBrush(Theme::series(series));
                painter->drawRoundedRect(QRectF(rect.left(), rect.center().y() - 3, 8, 8), 2, 2);
                painter->setPen(pen);
                rect.adjust(14, 0, 0, 0);
            }
            drawText(painter, rect, text);
            break;
        }
        case JobTableModel::ProgressColumn: paintProgress(painter, rect, index); break;
        default: drawText(painter, rect, text, Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignHorizontal_Mask));
    }
    painter->restore();
}

void JobDelegate::paintProgress(QPainter* painter, const QRect& rect, const QModelIndex& index) const {
    const QString text = index.data().toString();
    const double ratio = index.data(JobTableModel::ProgressRatioRole).toDouble();
    if (ratio >= 0.0) {
        const QRectF groove(rect.left(), rect.center().y() - barHeight / 2 + 1, barWidth, barHeight);
        painter->fillRect(groove, Theme::color(Token::Line));
        painter->fillRect(QRectF(groove.topLeft(), QSizeF(barWidth * std::clamp(ratio, 0.0, 1.0), barHeight)), Theme::color(Token::Accent));
        drawText(painter, rect.adjusted(barWidth + padding, 0, 0, 0), text);
        return;
    }
    const bool isError = index.data(Qt::ForegroundRole).isValid();
    const auto links = isError ? std::vector<JobLink>() : jobLinks(text, rect, painter->font());
    QRegion plain(rect.adjusted(-padding, 0, padding, 0));
    for (const JobLink& link : links) plain -= link.place.toAlignedRect();
    painter->setClipRegion(plain);
    drawText(painter, rect, text);
    painter->setClipping(false);
    painter->setPen(Theme::color(Token::Accent));
    for (const JobLink& link : links)
        painter->drawText(link.place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextDontClip,
                          QStringLiteral("#%1").arg(link.job));
}

bool JobDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                              const QModelIndex& index) {
    if (event->type() == QEvent::MouseButtonRelease && index.column() == JobTableModel::ProgressColumn &&
        index.data(JobTableModel::ProgressRatioRole).toDouble() < 0.0) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        for (const JobLink& link : jobLinks(index.data().toString(), cellOf(option), Theme::font(Theme::Type::Text)))
            if (link.place.contains(mouse->position())) {
                emit jobLinkClicked(link.job);
                return true;
            }
    }
    return QStyledItemDelegate::editorEvent(event, model, option, index);
}

}  // namespace heteroscope
