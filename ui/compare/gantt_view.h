#pragma once

#include "scheduler/comparison.h"
#include "ui/compare/gantt_geometry.h"

#include <QAbstractScrollArea>
#include <QStringList>

#include <optional>
#include <vector>

namespace heteroscope {

/// One job of one run, by position.
struct GanttSelection {
    std::size_t run = 0;  ///< in Comparison::runs
    std::size_t job = 0;  ///< in PolicyRun::schedule
    bool operator==(const GanttSelection&) const = default;
};

/// Schedules of several policies on one time axis: a band per policy, a lane per device, a bar per job in its
/// kernel's colour, a dashed line at the lower bound. Wheel and W/S zoom, drag and A/D pan, F fits, click selects,
/// Left/Right go to the lane's neighbours. Draws what is in sight only, at most one bar a pixel column.
class GanttView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit GanttView(QWidget* parent = nullptr);

    /// Shows one run a policy: the one whose makespan is its median.
    void setComparison(const Comparison& comparison, const QStringList& deviceNames);
    void clear();
    void select(std::optional<GanttSelection> selection);
    std::optional<GanttSelection> selection() const { return selection_; }

    /// Kernels that have a colour of their own, in order; further ones share a neutral one.
    QStringList legend() const { return kernels_; }
    static QColor kernelColor(int index);  ///< −1: the neutral one

    void zoomIn();
    void zoomOut();
    void fit();

    QSize sizeHint() const override;

signals:
    void selectionChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    struct Bar {
        double start, finish;
        std::size_t job;
        int kernel;
    };
    struct Lane {
        QString name;
        std::vector<Bar> bars;  // by start
    };
    struct Band {
        QString policy;
        QString makespanText, differenceText;
        double makespan = 0.0;
        std::size_t run = 0;
        std::vector<Lane> lanes;
    };

    int bandHeight(const Band& band) const;
    int laneTop(std::size_t band, std::size_t lane) const;  // in the viewport, scrolled
    std::optional<std::pair<std::size_t, std::size_t>> laneAt(int y) const;
    std::optional<GanttSelection> barAt(const QPoint& position) const;
    const ScheduledJob* job(const GanttSelection& selection) const;
    void paintAxis(QPainter& painter);
    void paintBand(QPainter& painter, std::size_t index);
    void paintLane(QPainter& painter, const Lane& lane, int top, std::size_t run);
    void paintBound(QPainter& painter);
    void updateScrollBar();
    void updateGeometryWidth();
    void step(int direction);

    Comparison comparison_;
    std::vector<Band> bands_;
    QStringList kernels_;
    GanttGeometry geometry_;
    std::optional<GanttSelection> selection_;
    QPoint pressed_;
    bool dragging_ = false;
};

}  // namespace heteroscope
