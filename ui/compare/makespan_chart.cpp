#include "ui/compare/makespan_chart.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QBarCategoryAxis>
#include <QBarSet>
#include <QChart>
#include <QHorizontalBarSeries>
#include <QValueAxis>

#include <algorithm>

namespace heteroscope {

MakespanChart::MakespanChart(QWidget* parent)
    : QChartView(parent), series_(new QHorizontalBarSeries), names_(new QBarCategoryAxis), values_(new QValueAxis) {
    chart()->legend()->hide();
    chart()->setAnimationOptions(QChart::NoAnimation);
    chart()->setBackgroundRoundness(0);
    chart()->addSeries(series_);
    chart()->addAxis(names_, Qt::AlignLeft);
    chart()->addAxis(values_, Qt::AlignBottom);
    series_->attachAxis(names_);
    series_->attachAxis(values_);
    series_->setBarWidth(0.55);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Makespan of every policy"));
    recolour();
}

void MakespanChart::setComparison(const Comparison& comparison) {
    bars_.clear();
    for (const auto& policy : comparison.policies()) {
        const double makespan = comparison.medianMakespan(policy);
        if (makespan >= 0.0) bars_.emplace_back(QString::fromStdString(policy), makespan);
    }
    std::sort(bars_.begin(), bars_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    bound_ = comparison.lowerBoundSeconds;

    const double longest = bars_.empty() ? 1.0 : bars_.back().second;
    scale_ = longest < 1e-3 ? 1e-6 : longest < 1.0 ? 1e-3 : 1.0;
    unit_ = scale_ == 1.0 ? tr("s") : scale_ == 1e-3 ? tr("ms") : tr("µs");
    series_->clear();
    auto* set = new QBarSet(tr("makespan"));
    QStringList names;
    for (auto bar = bars_.rbegin(); bar != bars_.rend(); ++bar) {  // the axis grows upwards
        names << bar->first;
        *set << bar->second / scale_;
    }
    series_->append(set);
    names_->setCategories(names);
    values_->setRange(0.0, longest / scale_ * 1.12);
    values_->setLabelFormat(QStringLiteral("%g"));
    values_->setTitleText(tr("makespan in %1, median").arg(unit_));
    values_->applyNiceNumbers();
    recolour();
    viewport()->update();
}

void MakespanChart::recolour() {
    chart()->setBackgroundBrush(Theme::color(Token::Card));
    chart()->setBackgroundPen(Qt::NoPen);
    for (auto* axis : {static_cast<QAbstractAxis*>(names_), static_cast<QAbstractAxis*>(values_)}) {
        axis->setLabelsColor(Theme::color(Token::Text));
        axis->setLabelsFont(Theme::font(Theme::Type::Caption));
        axis->setTitleFont(Theme::font(Theme::Type::Caption));
        axis->setTitleBrush(Theme::color(Token::Secondary));
        axis->setLinePenColor(Theme::color(Token::Line));
        axis->setGridLineColor(Theme::color(Token::Line));
    }
    names_->setGridLineVisible(false);
    for (auto* set : series_->barSets()) {
        set->setColor(Theme::series(0));
        set->setBorderColor(Theme::series(0));
    }
    setBackgroundBrush(Theme::color(Token::Card));
}

void MakespanChart::drawForeground(QPainter* painter, const QRectF& rect) {
    QChartView::drawForeground(painter, rect);
    // Each bar's length in words at its end, and the bound: Qt Charts' own labels sit on the bar, where they do not fit.
    painter->setFont(Theme::font(Theme::Type::Caption));
    const auto plot = chart()->plotArea();
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        const auto row = static_cast<double>(bars_.size() - 1 - i);
        const QPointF end = chart()->mapToPosition(QPointF(bars_[i].second / scale_, row), series_);
        const QPointF here = chart()->mapToScene(end);
        painter->setPen(Theme::color(Token::Text));
        painter->drawText(QRectF(here.x() + 6, here.y() - 10, 90, 20), Qt::AlignVCenter | Qt::AlignLeft,
                          format::seconds(bars_[i].second));
    }
    if (bound_ <= 0.0 || bars_.empty()) return;
    const double x = chart()->mapToScene(chart()->mapToPosition(QPointF(bound_ / scale_, 0), series_)).x();
    const QRectF inScene = chart()->mapRectToScene(plot);
    painter->setPen(QPen(Theme::color(Token::Warn), 1.5, Qt::DashLine));
    painter->drawLine(QPointF(x, inScene.top()), QPointF(x, inScene.bottom()));
    painter->drawText(QRectF(x - 150, inScene.top() - 16, 300, 16), Qt::AlignCenter, tr("lower bound %1").arg(format::seconds(bound_)));
}

void MakespanChart::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) recolour();
    QChartView::changeEvent(event);
}

}  // namespace heteroscope
