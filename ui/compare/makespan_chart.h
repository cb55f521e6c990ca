#pragma once

#include "scheduler/comparison.h"

#include <QChartView>

class QBarCategoryAxis;
class QHorizontalBarSeries;
class QValueAxis;

namespace heteroscope {

/// Makespan of every policy as bars, shortest on top. The table is its twin for screen readers.
class MakespanChart : public QChartView {
    Q_OBJECT
public:
    explicit MakespanChart(QWidget* parent = nullptr);
    void setComparison(const Comparison& comparison);

protected:
    void changeEvent(QEvent* event) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;

private:
    void recolour();

    std::vector<std::pair<QString, double>> bars_;  // policy, makespan in s; best first
    double bound_ = -1.0;
    double scale_ = 1.0;  // seconds a unit of the axis
    QString unit_;
    QHorizontalBarSeries* series_;
    QBarCategoryAxis* names_;
    QValueAxis* values_;
};

}  // namespace heteroscope
