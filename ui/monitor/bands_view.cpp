#include "ui/monitor/bands_view.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace heteroscope {

namespace {

constexpr int bandHeight = 20;
constexpr int copyHeight = 8;
constexpr int laneSpacing = 4;
constexpr int clockHeight = 18;

QColor blend(const QColor& top, const QColor& ground, double share) {
    const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(b + (a - b) * share)); };
    return {mix(top.red(), ground.red()), mix(top.green(), ground.green()), mix(top.blue(), ground.blue())};
}

QColor kernelColour(int kernel) { return kernel < 0 ? Theme::color(Token::Edge) : Theme::series(kernel); }

}  // namespace

BandsView::BandsView(std::vector<Lane> lanes, const JobBands& bands, QWidget* parent)
    : QWidget(parent), lanes_(std::move(lanes)), bands_(bands), boxes_(lanes_.size()) {
    setMouseTracking(true);
    setFont(Theme::font(Theme::Type::Caption));
    setFixedHeight(sizeHint().height());
    setAccessibleName(tr("Jobs that ran"));
}

QSize BandsView::sizeHint() const {
    int height = clockHeight;
    for (const auto& lane : lanes_) height += bandHeight + laneSpacing + (lane.copies ? copyHeight + laneSpacing : 0);
    return {200, height};
}

QRectF BandsView::laneRect(std::size_t lane) const {
    int top = 0;
    for (std::size_t i = 0; i < lane; ++i) top += bandHeight + laneSpacing + (lanes_[i].copies ? copyHeight + laneSpacing : 0);
    return {geometry_.left, static_cast<double>(top), geometry_.right - geometry_.left, static_cast<double>(bandHeight)};
}

void BandsView::setGeometryOfPlot(const PlotGeometry& geometry, std::int64_t nowNs, bool endIsNow) {
    geometry_ = geometry;
    nowNs_ = nowNs;
    endIsNow_ = endIsNow;
    const auto from = static_cast<std::int64_t>(geometry.fromMs * 1e6), to = static_cast<std::int64_t>(geometry.toMs * 1e6);
    for (std::size_t i = 0; i < lanes_.size(); ++i) boxes_[i] = layOutBands(bands_.bands(lanes_[i].device, from, to), geometry, nowNs);
    update();
}

void BandsView::setCrossHair(std::optional<double> timeMs) {
    if (timeMs == crossTime_) return;
    crossTime_ = timeMs;
    update();
}

QString BandsView::describe(const BandBox& box) const {
    const QString kernel = box.kernel < 0 ? tr("several kernels") : bands_.kernels().value(box.kernel);
    QString text = kernel + QLatin1Char(' ') + format::jobNumber(box.job);
    if (box.count > 1) text += tr(" and %1 more").arg(format::count(box.count - 1));
    if (box.failed > 0) text += box.count > 1 ? tr(", %1 failed").arg(format::count(box.failed)) : tr(", failed");
    return text;
}

QString BandsView::whatRanAt(double timeMs) const {
    const double x = geometry_.x(timeMs);
    QStringList words;
    for (const auto& lane : boxes_)
        for (const auto& box : lane)
            if (x >= box.left && x <= box.right) {
                words << describe(box);
                break;
            }
    return words.join(QStringLiteral(", "));
}

const BandBox* BandsView::boxAt(const QPointF& place) const {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const QRectF rect = laneRect(i);
        if (place.y() < rect.top() || place.y() > rect.bottom()) continue;
        // Two pixels of grace: a short job is thinner than a pointer.
        const BandBox* nearest = nullptr;
        double distance = 2.5;
        for (const auto& box : boxes_[i]) {
            const double away = place.x() < box.left ? box.left - place.x() : place.x() > box.right ? place.x() - box.right : 0.0;
            if (away < distance) {
                nearest = &box;
                distance = away;
            }
        }
        return nearest;
    }
    return nullptr;
}

bool BandsView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const BandBox* box = boxAt(help->pos()))
            QToolTip::showText(help->globalPos(), describe(*box) + (box->running ? tr(", runs") : QString()), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

void BandsView::mouseMoveEvent(QMouseEvent* event) {
    const double time = geometry_.time(event->position().x());
    setCursor(boxAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (geometry_.contains(time)) emit hovered(time);
    else emit hoverLeft();
}

void BandsView::mousePressEvent(QMouseEvent* event) {
    if (const BandBox* box = boxAt(event->position()); box && event->button() == Qt::LeftButton) emit jobClicked(box->job);
}

void BandsView::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    emit hoverLeft();
}

void BandsView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    for (std::size_t i = 0; i < lanes_.size(); ++i) paintLane(painter, i);
    paintClock(painter);
    if (crossTime_ && geometry_.contains(*crossTime_)) {
        const double x = std::round(geometry_.x(*crossTime_));
        painter.fillRect(QRectF(x, 0, 1, height() - clockHeight), Theme::color(Token::Text));
    }
}

void BandsView::paintLane(QPainter& painter, std::size_t lane) const {
    const QRectF rect = laneRect(lane);
    const QColor card = Theme::color(Token::Card);
    painter.setPen(Theme::color(Token::Secondary));
    painter.drawText(QRectF(0, rect.top(), rect.left() - 6, rect.height()), Qt::AlignRight | Qt::AlignVCenter,
                     fontMetrics().elidedText(lanes_[lane].label, Qt::ElideMiddle, static_cast<int>(rect.left()) - 6));
    painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), Theme::color(Token::Line));
    const auto advance = [this](const QString& text) { return static_cast<double>(fontMetrics().horizontalAdvance(text)); };
    for (const auto& box : boxes_[lane]) {
        const QColor colour = kernelColour(box.kernel);
        const double gap = box.right - box.left > 4 ? 1.0 : 0.0;  // neighbours stay apart
        const QRectF band(box.left, rect.top(), box.right - box.left - gap, rect.height());
        const bool failed = box.failed > 0;
        painter.fillRect(band, blend(failed ? Theme::color(Token::Bad) : colour, card, 0.22));
        painter.fillRect(QRectF(band.left(), rect.bottom() - 2, band.width(), 2), failed ? Theme::color(Token::Bad) : colour);
        for (const double at : box.breaks) painter.fillRect(QRectF(at, rect.bottom() - 2, 1, 2), card);
        QRectF words = band.adjusted(4, 0, -2, -2);
        if (failed) {
            // The mark is drawn even when the run was too short to see: on its left end.
            const QRectF mark(band.left() + (band.width() >= 14 ? 2 : -5), rect.center().y() - 6, 11, 11);
            Theme::icon(QStringLiteral("state-failed"), Token::Bad).paint(&painter, mark.toRect());
            words.setLeft(mark.right() + 3);
        }
        const QString kernel = box.kernel < 0 ? QString() : bands_.kernels().value(box.kernel);
        const QString label = bandLabel(kernel, box.count, words.width(), advance);
        if (!label.isEmpty()) {
            painter.setPen(Theme::color(Token::Text));
            painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, label);
        }
    }
    if (!lanes_[lane].copies) return;
    const double top = rect.bottom() + laneSpacing;
    const auto from = static_cast<std::int64_t>(geometry_.fromMs * 1e6), to = static_cast<std::int64_t>(geometry_.toMs * 1e6);
    painter.setPen(Theme::color(Token::Secondary));
    painter.drawText(QRectF(0, top - 4, rect.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter, tr("copy"));
    for (const auto& copy : bands_.copies(lanes_[lane].device, from, to)) {
        const double left = geometry_.clampedX(static_cast<double>(copy.start) / 1e6);
        const double right = std::max(geometry_.clampedX(static_cast<double>(copy.finish) / 1e6), left + 1);
        painter.fillRect(QRectF(left, top, right - left, copyHeight), Theme::color(Token::Edge));
    }
    painter.fillRect(QRectF(rect.left(), top + copyHeight, rect.width(), 1), Theme::color(Token::Line));
}

void BandsView::paintClock(QPainter& painter) const {
    painter.setPen(Theme::color(Token::Secondary));
    const double interval = tickInterval(geometry_.toMs - geometry_.fromMs, 6);
    const double offset = 1000.0 * QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(geometry_.toMs)).offsetFromUtc();
    const QString now = endIsNow_ ? tr("now") : QString();
    const double nowLeft = geometry_.right - fontMetrics().horizontalAdvance(now);
    const int top = height() - clockHeight;
    double lastRight = geometry_.left - 100;
    for (const double tick : ticks(geometry_, interval, offset)) {
        const QString text = format::clockTime(static_cast<std::int64_t>(tick * 1e6));
        const double width = fontMetrics().horizontalAdvance(text);
        const double left = geometry_.x(tick) - width / 2;
        if (left < geometry_.left - 4 || left < lastRight + 12 || left + width > nowLeft - 8) continue;
        painter.drawText(QRectF(left, top, width + 1, clockHeight), Qt::AlignCenter, text);
        lastRight = left + width;
    }
    if (endIsNow_) painter.drawText(QRectF(nowLeft, top, geometry_.right - nowLeft, clockHeight), Qt::AlignRight | Qt::AlignVCenter, now);
}

}  // namespace heteroscope
