#include "ui/timing_bar.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

namespace heteroscope {
namespace {

using Kind = TimingSegment::Kind;

constexpr int barTop = 0, barHeight = 20;
constexpr int outlineTop = 22, outlineHeight = 5;
constexpr int axisTop = 29, axisHeight = 20;
constexpr int legendTop = 54;
constexpr std::array measured{Kind::Wait, Kind::StageIn, Kind::Run, Kind::StageOut};

double toSeconds(std::int64_t fromNs, std::int64_t toNs) {
    return std::max(0.0, static_cast<double>(toNs - fromNs) * 1e-9);
}

/// A round step (1, 2, 5 × 10^k) that gives at most `ticks` of them over `total`.
double roundStep(double total, int ticks) {
    const double raw = total / ticks;
    const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * magnitude >= raw) return factor * magnitude;
    return 10.0 * magnitude;
}

}  // namespace

TimingParts timingOf(const JobSnapshot& job, std::int64_t nowNs) {
    TimingParts parts;
    parts.predictedRunSeconds = job.predictedSeconds;
    const JobTimes& t = job.times;
    const bool over = isFinal(job.state);
    const bool started = t.started > 0 && (over || job.state == JobState::Running);
    const bool staging = t.staging > 0 && job.state >= JobState::Staging;
    const std::int64_t end = over ? std::max(t.ended, t.submitted) : nowNs;
    parts.stageInSeconds = job.stageInSeconds > 0.0 || !staging || started ? job.stageInSeconds : toSeconds(t.staging, t.staged > 0 ? t.staged : end);
    const double toStart = job.waitSeconds > 0.0 ? job.waitSeconds : t.submitted > 0 ? toSeconds(t.submitted, started ? t.started : end) : 0.0;
    const double waited = std::max(0.0, toStart - parts.stageInSeconds);
    parts.waitSeconds = staging && t.submitted > 0 ? std::min(waited, toSeconds(t.submitted, t.staging)) : waited;
    parts.heldSeconds = waited - parts.waitSeconds;
    const bool running = job.state == JobState::Running && started && t.finished < t.started;
    parts.runSeconds = running ? toSeconds(t.started, nowNs) : job.runSeconds;
    parts.stageOutSeconds = job.stageOutSeconds;
    return parts;
}

std::vector<TimingSegment> timingSegments(const TimingParts& parts, double width) {
    std::vector<TimingSegment> segments;
    const double runEnd = parts.waitSeconds + parts.stageInSeconds + parts.heldSeconds + std::max(0.0, parts.predictedRunSeconds);
    const double total = std::max(parts.totalSeconds(), parts.predictedRunSeconds > 0.0 ? runEnd : 0.0);
    if (total <= 0.0 || width <= 0.0) return segments;
    const double scale = width / total;
    double left = 0.0, runLeft = 0.0;
    const auto add = [&](Kind kind, double seconds) {
        if (kind == Kind::Run) runLeft = left;
        if (seconds > 0.0) segments.push_back({kind, left, seconds * scale});
        left += seconds * scale;
    };
    add(Kind::Wait, parts.waitSeconds);
    add(Kind::StageIn, parts.stageInSeconds);
    add(Kind::Wait, parts.heldSeconds);
    add(Kind::Run, parts.runSeconds);
    add(Kind::StageOut, parts.stageOutSeconds);
    if (parts.predictedRunSeconds > 0.0)
        segments.push_back({Kind::PredictedRun, runLeft, parts.predictedRunSeconds * scale});
    return segments;
}

TimingBar::TimingBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TimingBar::setParts(const TimingParts& parts) {
    parts_ = parts;
    QStringList said;
    for (const Kind kind : measured) said << nameOf(kind) + QLatin1Char(' ') + format::seconds(secondsOf(kind));
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    update();
}

QColor TimingBar::colorOf(Kind kind) {
    switch (kind) {
        case Kind::Wait: return Theme::color(Token::Line);
        case Kind::StageIn: return Theme::series(2);
        case Kind::Run: return Theme::series(0);
        case Kind::StageOut: return Theme::series(3);
        case Kind::PredictedRun: return Theme::color(Token::Edge);
    }
    return {};
}

QString TimingBar::nameOf(Kind kind) {
    switch (kind) {
        case Kind::Wait: return tr("wait");
        case Kind::StageIn: return tr("stage in");
        case Kind::Run: return tr("run");
        case Kind::StageOut: return tr("stage out");
        case Kind::PredictedRun: return tr("predicted run");
    }
    return {};
}

QSize TimingBar::sizeHint() const { return {336, legendTop + 36}; }
QSize TimingBar::minimumSizeHint() const { return {240, legendTop + 36}; }

double TimingBar::secondsOf(Kind kind) const {
    switch (kind) {
        case Kind::Wait: return parts_.waitSeconds + parts_.heldSeconds;
        case Kind::StageIn: return parts_.stageInSeconds;
        case Kind::Run: return parts_.runSeconds;
        case Kind::StageOut: return parts_.stageOutSeconds;
        case Kind::PredictedRun: return parts_.predictedRunSeconds;
    }
    return 0.0;
}

void TimingBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintBar(painter);
    paintAxis(painter);
    paintLegend(painter);
}

void TimingBar::paintBar(QPainter& painter) const {
    painter.setPen(Qt::NoPen);
    const auto segments = timingSegments(parts_, width());
    if (segments.empty()) {
        painter.setBrush(Theme::color(Token::Hover));
        painter.drawRect(QRectF(0, barTop, width(), barHeight));
        return;
    }
    for (const auto& segment : segments) {
        // A part that took time is seen, however short.
        const double seen = std::max(1.0, segment.width - 1.0);
        if (segment.kind == Kind::PredictedRun) {
            painter.setPen(QPen(colorOf(segment.kind), 1.0));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(QRectF(segment.left + 0.5, outlineTop + 0.5, std::max(1.0, seen - 0.5), outlineHeight - 1.0));
            continue;
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(colorOf(segment.kind));
        painter.drawRect(QRectF(segment.left, barTop, seen, barHeight));
    }
}

void TimingBar::paintAxis(QPainter& painter) const {
    const double total = std::max(parts_.totalSeconds(),
                                  parts_.waitSeconds + parts_.stageInSeconds + parts_.heldSeconds + std::max(0.0, parts_.predictedRunSeconds));
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.setPen(Theme::color(Token::Secondary));
    if (total <= 0.0) return;
    const double step = roundStep(total, 4);
    const QFontMetricsF metrics(painter.font());
    for (int i = 0; i * step <= total * 1.0001; ++i) {
        const double x = std::min(i * step / total * width(), width() - 1.0);
        painter.drawLine(QPointF(x, axisTop), QPointF(x, axisTop + 3));
        const QString text = i == 0 ? QStringLiteral("0") : format::seconds(i * step);
        const double textWidth = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - textWidth / 2.0, 0.0, std::max(0.0, width() - textWidth));
        painter.drawText(QRectF(left, axisTop + 4, textWidth + 1, axisHeight - 4), Qt::AlignLeft | Qt::AlignTop, text);
    }
}

void TimingBar::paintLegend(QPainter& painter) const {
    const double column = width() / static_cast<double>(measured.size());
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const double x = column * static_cast<double>(i);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colorOf(measured[i]));
        painter.drawRoundedRect(QRectF(x, legendTop + 4, 8, 8), 2, 2);
        painter.setFont(Theme::font(Theme::Type::Caption));
        painter.setPen(Theme::color(Token::Secondary));
        painter.drawText(QRectF(x + 12, legendTop, column - 12, 16), Qt::AlignLeft | Qt::AlignVCenter, nameOf(measured[i]));
        painter.setFont(Theme::font(Theme::Type::Text));
        painter.setPen(Theme::color(Token::Text));
        const double seconds = secondsOf(measured[i]);
        painter.drawText(QRectF(x, legendTop + 16, column, 20), Qt::AlignLeft | Qt::AlignVCenter,
                         seconds > 0.0 ? format::seconds(seconds) : format::absent());
    }
}

void TimingBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) update();
}

bool TimingBar::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const auto& segment : timingSegments(parts_, width())) {
        const bool outline = segment.kind == Kind::PredictedRun;
        const int top = outline ? outlineTop : barTop, height = outline ? outlineHeight : barHeight;
        if (help->pos().y() < top || help->pos().y() > top + height) continue;
        if (help->pos().x() < segment.left || help->pos().x() > segment.left + segment.width) continue;
        QToolTip::showText(help->globalPos(), nameOf(segment.kind) + QLatin1Char(' ') + format::seconds(secondsOf(segment.kind)),
                           this);
        return true;
    }
    QToolTip::hideText();
    return true;
}

}  // namespace heteroscope
