#pragma once

#include "ui/job_board.h"
#include "ui/monitor/job_bands.h"
#include "ui/monitor/reading_text.h"
#include "ui/monitor/time_series.h"
#include "ui/widgets/card.h"

#include <array>
#include <map>
#include <optional>

class QLabel;

namespace heteroscope {

class BandsView;
class LinkButton;
class MetricChart;
class ReadingsRow;
class RunningLine;
class TokenLabel;

/// One physical processor: its values, its charts, the jobs that ran on its device or devices, what runs now.
class DeviceCard : public Card {
    Q_OBJECT
public:
    /// The ranges there are, in milliseconds.
    static constexpr std::array<std::int64_t, 3> rangesMs{60'000, 300'000, 900'000};

    /// `devices` share one processor; the first one's colour is the card's.
    DeviceCard(std::vector<DeviceInfo> devices, const JobBoard& board, const JobBands& bands, QWidget* parent = nullptr);

    bool watches(const std::string& device) const;
    /// Takes what was measured into every range's buffer; draws nothing.
    void take(const std::vector<TelemetryFrame>& frames);
    /// Draws the range that ends at `endMs`.
    void refresh(int range, std::int64_t endMs, bool endIsNow);
    /// Values and running jobs only: they stay true while the charts are frozen.
    void refreshNow();
    void setCrossHair(std::optional<double> timeMs);
    void setSecondRow(bool shown);
    /// "H200 98 % · matmul #1160" at a moment of the range shown.
    QString wordsAt(double timeMs) const;
    int series() const { return series_; }
    const ReadingsRow& readings() const { return *readings_; }
    const MetricChart& chart() const { return *chart_; }
    const BandsView& bandsView() const { return *bandsView_; }

signals:
    void hovered(double timeMs);
    void hoverLeft();
    void jobClicked(heteroscope::JobId job);
    void permissionAsked(const QString& text, const QString& remedy);

private:
    struct Buffers {
        Buffers();
        std::vector<TimeSeries> ranges;
        void push(std::int64_t timeMs, const Reading* reading);
    };
    enum Metric { Utilisation, Memory, Power, Temperature, metricCount };
    struct SmallChart {
        TokenLabel* label = nullptr;
        MetricChart* chart = nullptr;
    };

    QWidget* makeHeader(const JobBoard& board);
    void makeSecondRow();
    void refreshSmall(Metric metric, std::int64_t fromMs, std::int64_t endMs);
    void explainPermission();
    void connectChart(MetricChart* chart);

    std::vector<DeviceInfo> devices_;
    const JobBoard& board_;
    int series_;
    std::vector<TelemetryFrame> latest_;  ///< one a device at most
    std::array<Buffers, metricCount> buffers_;
    int range_ = 1;

    QLabel* stateIcon_;
    TokenLabel* state_;
    LinkButton* allow_;
    ReadingsRow* readings_;
    MetricChart* chart_;
    BandsView* bandsView_;
    std::vector<RunningLine*> lines_;
    QWidget* secondRow_ = nullptr;
    std::array<SmallChart, metricCount> small_;
};

}  // namespace heteroscope
