#include "ui/compare/gantt_view.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace heteroscope {
namespace {

constexpr int axisHeight = 28;
constexpr int laneHeight = 18;
constexpr int barHeight = 16;
constexpr int bandGap = 14;
constexpr int nameWidth = 104;
constexpr int gutter = 184;
constexpr int rightRoom = 88;  // for the makespan at a band's end
constexpr int ownColours = 4;  // as many kernels as there are series colours that differ on every ground

/// The run whose makespan is the median of its policy's; with an even number the lower one.
std::size_t medianRun(const Comparison& comparison, const std::string& policy) {
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        if (comparison.runs[i].policy == policy) runs.push_back(i);
    }
    std::sort(runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) {
        return comparison.runs[a].metrics.makespan < comparison.runs[b].metrics.makespan;
    });
    return runs[(runs.size() - 1) / 2];
}

/// The kernels that take most time get the colours.
QStringList kernelsByTime(const Comparison& comparison) {
    std::map<std::string, double> seconds;
    for (const auto& run : comparison.runs) {
        for (const auto& job : run.schedule) seconds[job.kernel] += job.finish - job.start;
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [kernel, time] : seconds) order.emplace_back(-time, kernel);
    std::sort(order.begin(), order.end());
    QStringList names;
    for (const auto& [time, kernel] : order) names << QString::fromStdString(kernel);
    return names;
}

}  // namespace

QColor GanttView::kernelColor(int index) {
    return index >= 0 && index < ownColours ? Theme::series(index) : Theme::color(Token::Edge);
}

GanttView::GanttView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Gantt chart"));
    setAccessibleDescription(tr("One band per policy, one lane per device, one bar per job. The table above has the figures."));
}

void GanttView::setComparison(const Comparison& comparison, const QStringList& deviceNames) {
    comparison_ = comparison;
    bands_.clear();
    selection_.reset();
    kernels_ = kernelsByTime(comparison);
    std::map<std::string, int> colour;
    for (int i = 0; i < kernels_.size(); ++i) colour[kernels_[i].toStdString()] = i < ownColours ? i : -1;
    const double best = comparison.bestMakespan();
    double longest = std::max(0.0, comparison.lowerBoundSeconds);
    for (const auto& policy : comparison.policies()) {
        Band band;
        band.policy = QString::fromStdString(policy);
        band.run = medianRun(comparison, policy);
        const auto& run = comparison.runs[band.run];
        band.makespan = run.metrics.makespan;
        band.makespanText = run.schedule.empty() ? format::absent() : format::seconds(band.makespan);
        if (best > 0.0 && !run.schedule.empty()) {
            const double above = band.makespan / best - 1.0;
            band.differenceText = above < 5e-4 ? tr("best") : format::difference(above);
        }
        for (const auto& name : deviceNames) band.lanes.push_back({name, {}});
        for (std::size_t i = 0; i < run.schedule.size(); ++i) {
            const auto& job = run.schedule[i];
            if (job.device >= band.lanes.size()) continue;
            band.lanes[job.device].bars.push_back({job.start, job.finish, i, colour[job.kernel]});
            longest = std::max(longest, job.finish);
        }
        for (auto& lane : band.lanes) {
            std::sort(lane.bars.begin(), lane.bars.end(), [](const Bar& a, const Bar& b) { return a.start < b.start; });
        }
        bands_.push_back(std::move(band));
    }
    // As the table: the shortest on top, a policy without a run at the end.
    std::stable_sort(bands_.begin(), bands_.end(), [&](const Band& a, const Band& b) {
        const auto key = [&](const Band& band) {
            return comparison_.runs[band.run].schedule.empty() ? std::numeric_limits<double>::infinity() : band.makespan;
        };
        return key(a) < key(b);
    });
    geometry_.total = longest > 0.0 ? longest : 1.0;
    updateGeometryWidth();
    fit();
    updateScrollBar();
    emit selectionChanged();
}

void GanttView::clear() { setComparison({}, {}); }

void GanttView::select(std::optional<GanttSelection> selection) {
    if (selection_ == selection) return;
    selection_ = selection;
    viewport()->update();
    emit selectionChanged();
}

void GanttView::zoomIn() {
    geometry_.zoom(1.5, (geometry_.left + geometry_.right) / 2);
    viewport()->update();
}

void GanttView::zoomOut() {
    geometry_.zoom(1.0 / 1.5, (geometry_.left + geometry_.right) / 2);
    viewport()->update();
}

void GanttView::fit() {
    geometry_.fit();
    viewport()->update();
}

QSize GanttView::sizeHint() const { return {800, 360}; }

int GanttView::bandHeight(const Band& band) const {
    return std::max(2, static_cast<int>(band.lanes.size())) * laneHeight + bandGap;
}

int GanttView::laneTop(std::size_t band, std::size_t lane) const {
    int top = axisHeight - verticalScrollBar()->value();
    for (std::size_t i = 0; i < band; ++i) top += bandHeight(bands_[i]);
    return top + static_cast<int>(lane) * laneHeight;
}

std::optional<std::pair<std::size_t, std::size_t>> GanttView::laneAt(int y) const {
    for (std::size_t b = 0; b < bands_.size(); ++b) {
        const int row = (y - laneTop(b, 0)) / laneHeight;
        if (y >= laneTop(b, 0) && row < static_cast<int>(bands_[b].lanes.size())) return {{b, static_cast<std::size_t>(row)}};
    }
    return std::nullopt;
}

std::optional<GanttSelection> GanttView::barAt(const QPoint& position) const {
    const auto place = laneAt(position.y());
    if (!place || position.x() < geometry_.left - 2) return std::nullopt;
    const auto& band = bands_[place->first];
    const auto& bars = band.lanes[place->second].bars;
    const double at = geometry_.secondsAt(position.x());
    const double slack = 2 * geometry_.secondsPerPixel();  // a bar thinner than a pixel can still be hit
    auto it = std::upper_bound(bars.begin(), bars.end(), at + slack, [](double t, const Bar& bar) { return t < bar.start; });
    if (it == bars.begin()) return std::nullopt;
    --it;
    if (it->finish + slack < at) return std::nullopt;
    return GanttSelection{band.run, it->job};
}

const ScheduledJob* GanttView::job(const GanttSelection& selection) const {
    if (selection.run >= comparison_.runs.size()) return nullptr;
    const auto& schedule = comparison_.runs[selection.run].schedule;
    return selection.job < schedule.size() ? &schedule[selection.job] : nullptr;
}

void GanttView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), Theme::color(Token::Card));
    if (bands_.empty()) return;
    const QRect plot(0, axisHeight, viewport()->width(), viewport()->height() - axisHeight);
    painter.setClipRect(plot);
    const auto ticks = geometry_.ticks(std::max(2, static_cast<int>((geometry_.right - geometry_.left) / 110)));
    painter.setPen(Theme::color(Token::Line));
    for (const double tick : ticks) {
        const int x = static_cast<int>(std::lround(geometry_.pixelAt(tick)));
        painter.drawLine(x, axisHeight, x, viewport()->height());
    }
    for (std::size_t b = 0; b < bands_.size(); ++b) paintBand(painter, b);
    paintBound(painter);
    painter.setClipping(false);
    paintAxis(painter);
}

void GanttView::paintAxis(QPainter& painter) {
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.setPen(Theme::color(Token::Secondary));
    const auto ticks = geometry_.ticks(std::max(2, static_cast<int>((geometry_.right - geometry_.left) / 110)));
    for (const double tick : ticks) {
        const double x = geometry_.pixelAt(tick);
        const QRectF place(x - 50, 0, 100, axisHeight);
        painter.drawText(place, Qt::AlignCenter, tick == 0.0 ? QStringLiteral("0") : format::seconds(tick));
    }
}

void GanttView::paintBand(QPainter& painter, std::size_t index) {
    const auto& band = bands_[index];
    const int top = laneTop(index, 0);
    if (top > viewport()->height() || top + bandHeight(band) < axisHeight) return;
    painter.setFont(Theme::font(Theme::Type::Text, true));
    painter.setPen(Theme::color(Token::Text));
    const QRect name(16, top, nameWidth, laneHeight);
    painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(band.policy, Qt::ElideRight, name.width()));
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.setPen(Theme::color(Token::Secondary));
    painter.drawText(QRect(16, top + laneHeight, nameWidth, laneHeight), Qt::AlignVCenter | Qt::AlignLeft, band.makespanText);
    for (std::size_t l = 0; l < band.lanes.size(); ++l) {
        const int y = laneTop(index, l);
        painter.setFont(Theme::font(Theme::Type::Caption));
        painter.setPen(Theme::color(Token::Secondary));
        const QRect place(16 + nameWidth, y, gutter - nameWidth - 24, barHeight);
        painter.drawText(place, Qt::AlignVCenter | Qt::AlignRight,
                         painter.fontMetrics().elidedText(band.lanes[l].name, Qt::ElideRight, place.width()));
        paintLane(painter, band.lanes[l], y, band.run);
    }
    // The end of the schedule, its length and how far it is from the best.
    const int x = static_cast<int>(std::lround(geometry_.pixelAt(band.makespan)));
    if (x < geometry_.left || x > geometry_.right + 1 || comparison_.runs[band.run].schedule.empty()) return;
    const int bottom = top + static_cast<int>(band.lanes.size()) * laneHeight - 2;
    painter.setPen(Theme::color(Token::Text));
    painter.drawLine(x, top - 2, x, bottom);
    painter.drawText(QRect(x + 6, top - 1, rightRoom, laneHeight), Qt::AlignVCenter | Qt::AlignLeft, band.makespanText);
    painter.setPen(Theme::color(band.differenceText == tr("best") ? Token::Good : Token::Secondary));
    painter.drawText(QRect(x + 6, top + laneHeight - 3, rightRoom, laneHeight), Qt::AlignVCenter | Qt::AlignLeft, band.differenceText);
}

void GanttView::paintLane(QPainter& painter, const Lane& lane, int top, std::size_t run) {
    const QRectF ground(geometry_.left, top, geometry_.right - geometry_.left, barHeight);
    painter.fillRect(ground, Theme::color(Token::Hover));
    const auto& bars = lane.bars;
    // Bars of a lane do not overlap but for jobs of co-running queues, so the first one in sight is near the last
    // that starts before the view.
    auto first = std::lower_bound(bars.begin(), bars.end(), geometry_.from, [](const Bar& bar, double t) { return bar.finish < t; });
    double covered = -1.0;  // pixel up to which this lane is drawn: thinner bars after it would change nothing
    std::optional<QRectF> chosen;
    for (auto bar = first; bar != bars.end() && bar->start <= geometry_.to; ++bar) {
        const double x0 = std::max(geometry_.left, geometry_.pixelAt(bar->start));
        const double x1 = std::min(geometry_.right, geometry_.pixelAt(bar->finish));
        const bool selected = selection_ && *selection_ == GanttSelection{run, bar->job};
        if (!selected && x1 <= covered) continue;
        const double width = std::max(1.0, x1 - x0);
        covered = std::max(covered, std::floor(x0 + width));
        QRectF place(x0, top, width, barHeight);
        const QColor colour = kernelColor(bar->kernel);
        if (width > 3.0) place.setWidth(width - 1.0);  // neighbours keep a line of ground between them
        painter.fillRect(place, colour);
        if (selected) chosen = place;
        if (width < 40.0) continue;
        const auto* scheduled = job({run, bar->job});
        const QString name = QString::fromStdString(scheduled->label.empty() ? scheduled->kernel : scheduled->label);
        painter.setFont(Theme::font(Theme::Type::Caption));
        painter.setPen(colour.lightness() > 140 ? QColor(0x17191C) : QColor(0xFFFFFF));
        painter.drawText(place.adjusted(4, 0, -2, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(place.width()) - 6));
    }
    if (chosen) {
        painter.setPen(QPen(Theme::color(Token::Text), 2));
        painter.drawRect(chosen->adjusted(0, 0, 0, -1));
    }
}

void GanttView::paintBound(QPainter& painter) {
    const double bound = comparison_.lowerBoundSeconds;
    if (bound <= 0.0) return;
    const double x = geometry_.pixelAt(bound);
    if (x < geometry_.left || x > geometry_.right) return;
    painter.setPen(QPen(Theme::color(Token::Warn), 1.5, Qt::DashLine));
    painter.drawLine(QPointF(x, axisHeight), QPointF(x, laneTop(bands_.size(), 0) + 2));
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.drawText(QRectF(x - 200, laneTop(bands_.size(), 0) - 2, 400, 16), Qt::AlignCenter,
                     tr("lower bound %1").arg(format::seconds(bound)));
}

void GanttView::resizeEvent(QResizeEvent*) {
    updateGeometryWidth();
    updateScrollBar();
}

void GanttView::updateGeometryWidth() {
    geometry_.left = gutter;
    geometry_.right = std::max(gutter + 50, viewport()->width() - rightRoom);
}

void GanttView::updateScrollBar() {
    int height = axisHeight + 16;
    for (const auto& band : bands_) height += bandHeight(band);
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(laneHeight);
}

void GanttView::wheelEvent(QWheelEvent* event) {
    const int delta = event->angleDelta().y();
    // Plain wheel scrolls a page that does not fit; otherwise, and with Ctrl, it zooms.
    if (!(event->modifiers() & Qt::ControlModifier) && verticalScrollBar()->maximum() > 0) {
        return QAbstractScrollArea::wheelEvent(event);
    }
    if (event->modifiers() & Qt::ShiftModifier) geometry_.pan(-delta);
    else geometry_.zoom(std::pow(1.0015, delta), event->position().x());
    viewport()->update();
    event->accept();
}

void GanttView::mousePressEvent(QMouseEvent* event) {
    pressed_ = event->pos();
    dragging_ = false;
}

void GanttView::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton)) {
        viewport()->setCursor(barAt(event->pos()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
        return;
    }
    const int dx = event->pos().x() - pressed_.x();
    if (!dragging_ && std::abs(dx) < 4) return;
    dragging_ = true;
    geometry_.pan(-dx);
    pressed_ = event->pos();
    viewport()->update();
}

void GanttView::mouseReleaseEvent(QMouseEvent* event) {
    if (!dragging_ && event->button() == Qt::LeftButton) select(barAt(event->pos()));
    dragging_ = false;
}

void GanttView::keyPressEvent(QKeyEvent* event) {
    const double page = (geometry_.right - geometry_.left) / 8;
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus: zoomIn(); return;
        case Qt::Key_S:
        case Qt::Key_Minus: zoomOut(); return;
        case Qt::Key_A: geometry_.pan(-page); break;
        case Qt::Key_D: geometry_.pan(page); break;
        case Qt::Key_F: fit(); return;
        case Qt::Key_Left: return step(-1);
        case Qt::Key_Right: return step(1);
        case Qt::Key_Escape:
            if (!selection_) return QAbstractScrollArea::keyPressEvent(event);
            return select(std::nullopt);
        default: return QAbstractScrollArea::keyPressEvent(event);
    }
    viewport()->update();
}

void GanttView::step(int direction) {
    if (bands_.empty()) return;
    if (!selection_) {
        for (const auto& band : bands_) {
            for (const auto& lane : band.lanes) {
                if (!lane.bars.empty()) return select(GanttSelection{band.run, lane.bars.front().job});
            }
        }
        return;
    }
    for (const auto& band : bands_) {
        if (band.run != selection_->run) continue;
        for (const auto& lane : band.lanes) {
            const auto it = std::find_if(lane.bars.begin(), lane.bars.end(), [&](const Bar& bar) { return bar.job == selection_->job; });
            if (it == lane.bars.end()) continue;
            const auto position = (it - lane.bars.begin()) + direction;
            if (position < 0 || position >= static_cast<std::ptrdiff_t>(lane.bars.size())) return;
            const auto& next = lane.bars[static_cast<std::size_t>(position)];
            if (next.start < geometry_.from || next.finish > geometry_.to) geometry_.pan(geometry_.pixelAt(next.start) - (geometry_.left + geometry_.right) / 2);
            viewport()->update();
            return select(GanttSelection{band.run, next.job});
        }
    }
}

void GanttView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) viewport()->update();
    QAbstractScrollArea::changeEvent(event);
}

bool GanttView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto hit = barAt(help->pos());
    const auto* scheduled = hit ? job(*hit) : nullptr;
    if (!scheduled) {
        QToolTip::hideText();
        return true;
    }
    const QString name = QString::fromStdString(scheduled->label.empty() ? scheduled->kernel : scheduled->label + " · " + scheduled->kernel);
    QToolTip::showText(help->globalPos(), tr("%1\nstarts %2, runs %3\nwaited %4")
                                              .arg(name, format::seconds(scheduled->start),
                                                   format::seconds(scheduled->finish - scheduled->start),
                                                   format::seconds(scheduled->start - scheduled->submitted)),
                       viewport());
    return true;
}

}  // namespace heteroscope
