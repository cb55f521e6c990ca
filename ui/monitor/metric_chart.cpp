#include "ui/monitor/metric_chart.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QAreaSeries>
#include <QChart>
#include <QDateTime>
#include <QGraphicsLayout>
#include <QKeyEvent>
#include <QLineSeries>
#include <QMouseEvent>
#include <QPainter>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace heteroscope {

MetricChart::MetricChart(int series, int gutter, QWidget* parent)
    : QChartView(parent), series_(series), gutter_(gutter), line_(new QLineSeries), area_(new QAreaSeries(line_)),
      timeAxis_(new QValueAxis), valueAxis_(new QValueAxis) {
    auto* chart = this->chart();
    chart->setAnimationOptions(QChart::NoAnimation);
    chart->legend()->hide();
    chart->setMargins({});
    chart->layout()->setContentsMargins(0, 0, 0, 0);
    chart->setBackgroundRoundness(0);
    chart->addSeries(area_);
    chart->addSeries(line_);
    // The axes only carry the ranges. Qt Charts lays out their lines and labels without regard to a plot area that was
    // set, so grid and labels are drawn here, from the same rectangle as bands and cross-hair.
    timeAxis_->setVisible(false);
    valueAxis_->setVisible(false);
    valueAxis_->setRange(0, 1);
    chart->addAxis(timeAxis_, Qt::AlignBottom);
    chart->addAxis(valueAxis_, Qt::AlignLeft);
    for (QAbstractSeries* each : std::initializer_list<QAbstractSeries*>{area_, line_}) {
        each->attachAxis(timeAxis_);
        each->attachAxis(valueAxis_);
    }
    setFrameShape(QFrame::NoFrame);
    setRenderHint(QPainter::Antialiasing);
    setMouseTracking(true);
    viewport()->setMouseTracking(true);
    setFocusPolicy(Qt::TabFocus);
    setViewportUpdateMode(QGraphicsView::FullViewportUpdate);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    recolour();
}

void MetricChart::setSeries(int series) {
    series_ = series;
    recolour();
}

void MetricChart::setAxis(double maximum, const QStringList& labels) {
    if (maximum > 0 && !qFuzzyCompare(maximum, valueAxis_->max())) valueAxis_->setRange(0, maximum);
    labels_ = labels;
}

void MetricChart::setData(const TimeSeries& measured, double fromMs, double toMs) {
    fromMs_ = fromMs;
    toMs_ = toMs;
    gaps_ = measured.gaps(fromMs, toMs);
    timeAxis_->setRange(fromMs, toMs);
    const auto points = measured.points(fromMs, toMs);
    hasData_ = !points.isEmpty();
    line_->replace(points);
    viewport()->update();
}

void MetricChart::setCrossHair(std::optional<double> timeMs, std::optional<double> value) {
    if (timeMs == crossTime_ && value == crossValue_) return;
    crossTime_ = timeMs;
    crossValue_ = value;
    viewport()->update();
}

PlotGeometry MetricChart::geometryOfPlot() const {
    const QRectF plot = chart()->plotArea();
    return {plot.left(), plot.right(), fromMs_, toMs_};
}

void MetricChart::placePlot() {
    chart()->resize(size());
    chart()->setPlotArea(QRectF(gutter_, 7, std::max(1, width() - gutter_), std::max(1, height() - 12)));
}

void MetricChart::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    placePlot();
}

void MetricChart::changeEvent(QEvent* event) {
    QChartView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) recolour();
}

void MetricChart::recolour() {
    const QColor colour = Theme::series(series_);
    const QColor card = Theme::color(Token::Card);
    chart()->setBackgroundVisible(false);
    setBackgroundBrush(card);
    line_->setPen(QPen(colour, 1.5));
    QColor ground = colour;
    ground.setAlpha(28);
    area_->setBrush(ground);
    area_->setPen(Qt::NoPen);
}

void MetricChart::drawBackground(QPainter* painter, const QRectF& rect) {
    painter->fillRect(rect, Theme::color(Token::Card));
    const QRectF plot = chart()->plotArea();
    const PlotGeometry geometry = geometryOfPlot();
    const QColor grid = Theme::color(Token::Line);
    for (const double share : {0.0, 0.5, 1.0})
        painter->fillRect(QRectF(plot.left(), std::round(plot.bottom() - share * plot.height()), plot.width(), 1), grid);
    const double offset = 1000.0 * QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(toMs_)).offsetFromUtc();
    for (const double tick : ticks(geometry, tickInterval(toMs_ - fromMs_, 6), offset))
        painter->fillRect(QRectF(std::round(geometry.x(tick)), plot.top(), 1, plot.height()), grid);
}

void MetricChart::mouseMoveEvent(QMouseEvent* event) {
    const PlotGeometry plot = geometryOfPlot();
    const double time = plot.time(event->position().x());
    if (plot.contains(time)) emit hovered(time);
    else emit hoverLeft();
}

void MetricChart::leaveEvent(QEvent* event) {
    QChartView::leaveEvent(event);
    emit hoverLeft();
}

void MetricChart::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right) {
        // Not the view's own keys: they would scroll. Space and Page keys belong to the page.
        event->ignore();
        return;
    }
    const double step = (toMs_ - fromMs_) / 60.0 * (event->key() == Qt::Key_Left ? -1.0 : 1.0);
    emit hovered(std::clamp(crossTime_.value_or(toMs_) + step, fromMs_, toMs_));
}

void MetricChart::focusInEvent(QFocusEvent* event) {
    QChartView::focusInEvent(event);
    viewport()->update();
}

void MetricChart::focusOutEvent(QFocusEvent* event) {
    QChartView::focusOutEvent(event);
    emit hoverLeft();
    viewport()->update();
}

void MetricChart::drawForeground(QPainter* painter, const QRectF&) {
    painter->save();
    const QRectF plot = chart()->plotArea();
    const PlotGeometry geometry = geometryOfPlot();
    painter->setFont(Theme::font(Theme::Type::Caption));
    for (const auto& gap : gaps_) {
        const QRectF hole(geometry.x(gap.fromMs) + 1, plot.top(), geometry.x(gap.toMs) - geometry.x(gap.fromMs) - 2, plot.height());
        if (hole.width() < 1) continue;
        painter->fillRect(hole, Theme::color(Token::Card));
        painter->fillRect(hole, QBrush(Theme::color(Token::Edge), Qt::BDiagPattern));
        const QString words = tr("no sample for %1").arg(format::seconds(std::round((gap.toMs - gap.fromMs) / 1000.0)));
        const double width = painter->fontMetrics().horizontalAdvance(words) + 8;
        if (gutter_ > 0 && hole.width() > 6 && width < plot.width()) {
            const double left = std::clamp(hole.center().x() - width / 2, plot.left() + 1, plot.right() - width - 1);
            const QRectF place(left, plot.bottom() - 20, width, 16);
            painter->fillRect(place, Theme::color(Token::Card));
            painter->setPen(Theme::color(Token::Secondary));
            painter->drawText(place, Qt::AlignCenter, words);
        }
    }
    // What lies beyond the plot area belongs to the gutter: points left of the range are clipped by the chart itself.
    painter->setPen(Theme::color(Token::Secondary));
    for (int i = 0; i < labels_.size(); ++i) {
        const double share = labels_.size() == 1 ? 1.0 : double(i) / double(labels_.size() - 1);
        const double y = plot.bottom() - share * plot.height();
        painter->drawText(QRectF(0, y - 8, gutter_ - 6, 16), Qt::AlignRight | Qt::AlignVCenter, labels_[i]);
    }
    if (!hasData_) painter->drawText(plot, Qt::AlignCenter, tr("no sample yet"));
    if (crossTime_ && geometry.contains(*crossTime_)) {
        const double x = std::round(geometry.x(*crossTime_)) + 0.5;
        painter->setPen(QPen(Theme::color(Token::Text), 1));
        painter->drawLine(QPointF(x, plot.top()), QPointF(x, height()));
        if (crossValue_) {
            const double y = plot.bottom() - std::clamp(*crossValue_ / valueAxis_->max(), 0.0, 1.0) * plot.height();
            painter->setBrush(Theme::color(Token::Card));
            painter->drawEllipse(QPointF(x, y), 3.5, 3.5);
        }
    }
    if (hasFocus()) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(Theme::color(Token::Accent), 1.5));
        painter->drawRoundedRect(QRectF(viewport()->rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
    painter->restore();
}

}  // namespace heteroscope
