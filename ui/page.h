#pragma once

#include <QWidget>

namespace heteroscope {

class Services;
class JobBoard;

/// What a page gets from the main window; all outlive it.
struct PageContext {
    Services& services;
    JobBoard& board;
};

/// A page of the window. It arranges views over models; it decides nothing and does no I/O.
class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    virtual QString title() const = 0;
    virtual QString iconName() const = 0;
    virtual QString subtitle() const { return {}; }  ///< beside the title: "3 devices"
    virtual void saveState() {}                      ///< QSettings, when the window closes
    virtual void focusSearch() {}                    ///< Ctrl+F

signals:
    void subtitleChanged();
    /// Ask the main window: show another page's job, open Add jobs, say something in the strip.
    void showJobRequested(quint64 job);
    void addJobsRequested();
    void openComparisonRequested(qint64 comparison);
    void compareJobsRequested(const QList<quint64>& jobs);
    void noticeRequested(const QString& text, const QString& remedy);
};

// Each page's folder has one header with the class named here:
//   ui/monitor/monitor_page.h  MonitorPage     ui/queue/queue_page.h      QueuePage
//   ui/compare/compare_page.h  ComparePage     ui/history/history_page.h  HistoryPage
//   ui/devices/devices_page.h  DevicesPage     all constructed as (PageContext, QWidget* parent)

}  // namespace heteroscope
