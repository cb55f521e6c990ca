#pragma once

#include "scheduler/engine.h"

#include <QWidget>

#include <vector>

namespace heteroscope {

/// How a job's time was spent, seconds; 0 where it has not come so far.
struct TimingParts {
    double waitSeconds = 0.0;     ///< before its data was staged
    double stageInSeconds = 0.0;
    double heldSeconds = 0.0;     ///< staged, waiting for the device
    double runSeconds = 0.0;
    double stageOutSeconds = 0.0;
    double predictedRunSeconds = -1.0;  ///< negative: not known

    double totalSeconds() const { return waitSeconds + stageInSeconds + heldSeconds + runSeconds + stageOutSeconds; }
};

/// The parts of a job as of `nowNs` (ns since the Unix epoch): an ended job's are the snapshot's own (whose wait lasts
/// to the start of the kernel, staging included), those of one under way grow with the clock.
TimingParts timingOf(const JobSnapshot& job, std::int64_t nowNs);

/// Geometry of the bar: a stretch of it, pixels.
struct TimingSegment {
    enum class Kind { Wait, StageIn, Run, StageOut, PredictedRun } kind = Kind::Wait;
    double left = 0.0;
    double width = 0.0;
};

/// Places the parts on `width` pixels, to scale; parts that took no time have no segment. The predicted run starts
/// where the run does.
std::vector<TimingSegment> timingSegments(const TimingParts& parts, double width);

/// Draws wait, stage in, run and stage out to scale, the predicted run as an outline under them, a time axis, and
/// the four values as a legend.
class TimingBar : public QWidget {
    Q_OBJECT
public:
    explicit TimingBar(QWidget* parent = nullptr);

    void setParts(const TimingParts& parts);
    const TimingParts& parts() const { return parts_; }

    static QColor colorOf(TimingSegment::Kind kind);
    static QString nameOf(TimingSegment::Kind kind);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintBar(QPainter& painter) const;
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    double secondsOf(TimingSegment::Kind kind) const;

    TimingParts parts_;
};

}  // namespace heteroscope
