#pragma once

#include "ui/monitor/job_bands.h"

#include <QWidget>

#include <optional>

namespace heteroscope {

/// The jobs that ran, one lane a device, on the time axis of the chart above; below them the copies and the clock.
class BandsView : public QWidget {
    Q_OBJECT
public:
    struct Lane {
        std::string device;
        QString label;      ///< in the gutter
        bool copies = true; ///< false: shares host memory, nothing is copied
    };

    BandsView(std::vector<Lane> lanes, const JobBands& bands, QWidget* parent = nullptr);

    void setGeometryOfPlot(const PlotGeometry& geometry, std::int64_t nowNs, bool endIsNow);
    void setCrossHair(std::optional<double> timeMs);
    /// Boxes of a lane as they are drawn: for tests and tooltips.
    const std::vector<BandBox>& boxes(std::size_t lane) const { return boxes_[lane]; }
    /// What ran at a moment on any lane: "matmul #1042".
    QString whatRanAt(double timeMs) const;
    QSize sizeHint() const override;

signals:
    void jobClicked(heteroscope::JobId job);
    void hovered(double timeMs);
    void hoverLeft();

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QRectF laneRect(std::size_t lane) const;
    const BandBox* boxAt(const QPointF& place) const;
    QString describe(const BandBox& box) const;
    void paintLane(QPainter& painter, std::size_t lane) const;
    void paintClock(QPainter& painter) const;

    std::vector<Lane> lanes_;
    const JobBands& bands_;
    PlotGeometry geometry_;
    std::int64_t nowNs_ = 0;
    bool endIsNow_ = true;
    std::vector<std::vector<BandBox>> boxes_;
    std::optional<double> crossTime_;
};

}  // namespace heteroscope
