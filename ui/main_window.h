#pragma once

#include "ui/job_board.h"
#include "ui/page.h"
#include "ui/theme.h"

#include <QList>
#include <QMainWindow>
#include <QSet>

#include <memory>

class QStackedWidget;

namespace heteroscope {

class ComparePage;
class DevicesPage;
class HeaderBar;
class HistoryPage;
class MonitorPage;
class NoticeStrip;
class QueuePage;
class SelfUsageSampler;
class SideBar;
class StatusLine;

/// The window: side bar, header, strip of notices, pages, status line. It is whole before the services have started:
/// devices, jobs and history appear as they are found. Window's thread.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum PageIndex { MonitorIndex, QueueIndex, CompareIndex, HistoryIndex, DevicesIndex };

    /// `services` outlives the window.
    explicit MainWindow(Services& services, QWidget* parent = nullptr);
    ~MainWindow() override;

    void showPage(int index);
    int currentPage() const;
    const QList<Page*>& pages() const { return pages_; }
    JobBoard& board() { return *board_; }
    NoticeStrip& notices() { return *strip_; }

    /// Workloads open in Compare, sources (.cl, .cu) in Add jobs; anything else is said in the strip.
    void openFiles(const QStringList& files);
    void openAddJobs();
    void showJob(JobId job);
    void showJobs(const QList<heteroscope::JobState>& states);

    /// The theme a person chose in the settings.
    static Theme::Mode chosenTheme();
    void chooseTheme(Theme::Mode mode);

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void addPage(Page* page);
    void addShortcuts();
    void connectServices();
    void restore();
    void updateHeader();
    void updateState();
    void showDiscoveryProblems();
    void showEngineProblems();
    void showLeftJobs();
    void confirmDropOfLeftJobs();
    void showKeys();
    void showSettings();
    void togglePause();

    Services& services_;
    std::unique_ptr<JobBoard> board_;
    SideBar* sideBar_;
    HeaderBar* header_;
    NoticeStrip* strip_;
    QStackedWidget* stack_;
    StatusLine* status_;
    QList<Page*> pages_;
    MonitorPage* monitor_ = nullptr;
    QueuePage* queue_ = nullptr;
    ComparePage* compare_ = nullptr;
    HistoryPage* history_ = nullptr;
    DevicesPage* devices_ = nullptr;
    std::unique_ptr<SelfUsageSampler> ownUsage_;
    QSet<QString> dismissed_;
    QSet<QString> shownDeviceProblems_;
    QSet<QString> shownEngineProblems_;
};

}  // namespace heteroscope
