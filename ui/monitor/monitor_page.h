#pragma once

#include "ui/monitor/job_bands.h"
#include "ui/page.h"
#include "ui/services.h"

#include <QTimer>

#include <optional>

class QGridLayout;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace heteroscope {

class DeviceCard;
class EmptyState;
class LatestModel;
class SegmentedControl;
class TokenLabel;

/// What the devices do now: a card for each processor, live charts with the jobs that ran on the same axis, one shared
/// cross-hair, the latest decisions. Redraws at most five times a second, and not at all while hidden.
class MonitorPage : public Page {
    Q_OBJECT
public:
    MonitorPage(PageContext context, QWidget* parent);

    QString title() const override { return tr("Monitor"); }
    QString iconName() const override { return QStringLiteral("monitor"); }
    QString subtitle() const override;
    void saveState() override;

    void setRange(int index);
    void setFrozen(bool frozen);
    bool isFrozen() const { return frozenAtMs_.has_value(); }
    /// How often the charts move by themselves.
    void setInterval(int milliseconds);
    void setCrossHair(std::optional<double> timeMs);
    /// Draws what is known now, without waiting for the next tick.
    void refreshNow();
    const std::vector<DeviceCard*>& cards() const { return cards_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeBar();
    QWidget* makeLatest();
    void rebuildCards();
    void arrangeCards();
    void refreshEmpty();
    void jobsChanged(const std::vector<JobId>& jobs);
    void redraw();

    PageContext context_;
    JobBands bands_;
    LatestModel* latest_;
    SegmentedControl* ranges_;
    QPushButton* freeze_;
    QPushButton* second_;
    TokenLabel* crossWords_;
    QStackedWidget* stack_;
    QScrollArea* scroll_;
    QWidget* grid_;
    QGridLayout* gridLayout_;
    QWidget* latestCard_;
    QTableView* latestTable_;
    EmptyState* empty_;
    QPushButton* rescan_;
    std::vector<DeviceCard*> cards_;
    std::vector<DeviceInfo> shown_;
    std::optional<std::int64_t> frozenAtMs_;
    std::optional<double> crossTime_;
    QTimer tick_;   ///< the charts move
    QTimer soon_;   ///< jobs changed: one redraw for all of a burst
    int columns_ = 0;
};

}  // namespace heteroscope
