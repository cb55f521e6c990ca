#pragma once

#include "ui/monitor/plot_geometry.h"
#include "ui/monitor/time_series.h"

#include <QChartView>

#include <optional>

class QAreaSeries;
class QLineSeries;
class QValueAxis;

namespace heteroscope {

/// One metric over time: a line on a light ground, hatching where nothing was measured, the shared cross-hair.
/// Points are swapped whole; the plot area is set here, so that bands below can lie on the same axis.
class MetricChart : public QChartView {
    Q_OBJECT
public:
    /// `gutter`: room at the left for the axis' labels.
    MetricChart(int series, int gutter, QWidget* parent = nullptr);

    void setSeries(int series);
    /// Labels at bottom, middle and top of the axis: "0", "50", "100 %". The axis runs from 0 to `maximum`.
    void setAxis(double maximum, const QStringList& labels);
    void setData(const TimeSeries& measured, double fromMs, double toMs);
    void setCrossHair(std::optional<double> timeMs, std::optional<double> value);
    PlotGeometry geometryOfPlot() const;

signals:
    void hovered(double timeMs);
    void hoverLeft();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void drawBackground(QPainter* painter, const QRectF& rect) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;

private:
    void recolour();
    void placePlot();

    int series_;
    int gutter_;
    QLineSeries* line_;
    QAreaSeries* area_;
    QValueAxis* timeAxis_;
    QValueAxis* valueAxis_;
    QStringList labels_;
    double fromMs_ = 0, toMs_ = 1;
    QList<TimeSeries::Gap> gaps_;
    std::optional<double> crossTime_, crossValue_;
    bool hasData_ = false;
};

}  // namespace heteroscope
