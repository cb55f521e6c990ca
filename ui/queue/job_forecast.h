#pragma once

#include "scheduler/engine.h"
#include "scheduler/kernel/launch_plan.h"
#include "ui/page.h"

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace heteroscope {

/// What one device would make of a job that is not submitted yet.
struct ForecastRow {
    QString device;
    int series = -1;
    std::uint64_t neededBytes = 0;
    std::optional<std::uint64_t> memoryBytes;
    QString whyNot;  ///< why it cannot run there, in words; empty: it can
    double dataInSeconds = -1.0, finishSeconds = -1.0;  ///< negative: not known
    Prediction prediction;
    bool chosen = false;  ///< the policy in force would put it here now
};

/// The work of one job, each device's part, and where the policy in force would put it now.
struct Forecast {
    std::optional<double> flops, bytes;
    std::uint64_t bufferBytes = 0;
    std::vector<ForecastRow> rows;
    QString placement;   ///< one sentence
    bool runnable = true;  ///< some device can take it, or none is there yet
};

/// Asks planLaunch's answer, the engine and the policy in force. Never blocks on a device.
Forecast forecastFor(const LaunchPlan& plan, const JobSpec& job, PageContext context);

/// "no runs yet; from the work estimate", "±1.2 %, 64 runs": how sure a prediction is.
QString confidenceText(const Prediction& prediction);

/// Draws the devices of a forecast: memory needed of what there is, data in, run, confidence, done in.
class ForecastTable : public QWidget {
    Q_OBJECT
public:
    explicit ForecastTable(QWidget* parent = nullptr);
    void setRows(std::vector<ForecastRow> rows);
    const std::vector<ForecastRow>& rows() const { return rows_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {520, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintRow(QPainter& painter, const ForecastRow& row, int top) const;

    std::vector<ForecastRow> rows_;
};

}  // namespace heteroscope
