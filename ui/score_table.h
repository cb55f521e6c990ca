#pragma once

#include "scheduler/decision.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <vector>

namespace heteroscope {

/// One device of a decision, in words: what ScoreTable draws.
struct ScoreRow {
    QString device;
    QColor swatch;        ///< invalid: none
    bool chosen = false;
    QString excluded;     ///< why; empty: eligible
    QString queued, freeIn, dataIn, run, finish;
    QString score;        ///< what the policy compared
};

/// The rows of a decision in device order. `deviceNames[i]` names DeviceIndex i; a name that is missing gives
/// "device i".
std::vector<ScoreRow> scoreRows(const Decision& decision, const std::vector<std::string>& deviceNames,
                                const std::vector<QColor>& swatches);

/// The score table of a decision: every device with jobs before it, free in, data in, run and finish; the winner on
/// selection ground, bold, with a check mark; ruled-out devices with the reason.
class ScoreTable : public QWidget {
    Q_OBJECT
public:
    explicit ScoreTable(QWidget* parent = nullptr);

    void setRows(std::vector<ScoreRow> rows);
    const std::vector<ScoreRow>& rows() const { return rows_; }
    QString asText() const;  ///< tab-separated, with a header line

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    std::vector<int> columnWidths(const QFont& font) const;
    void paintRow(QPainter& painter, const ScoreRow& row, int top, const std::vector<int>& widths, const QFont& font) const;

    std::vector<ScoreRow> rows_;
};

}  // namespace heteroscope
