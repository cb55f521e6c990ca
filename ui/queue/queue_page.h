#pragma once

#include "ui/page.h"
#include "ui/services.h"

#include <QList>
#include <QSet>
#include <QTimer>

#include <array>

class QAction;
class QHBoxLayout;
class QLineEdit;
class QMenu;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace heteroscope {

class JobDelegate;
class JobFilterModel;
class JobPane;
class JobTableModel;
class StateChips;
class TokenLabel;

/// The session's jobs: filter, order, act on them, and see one of them whole.
class QueuePage : public Page {
    Q_OBJECT
public:
    explicit QueuePage(PageContext context, QWidget* parent = nullptr);

    QString title() const override { return tr("Queue"); }
    QString iconName() const override { return QStringLiteral("queue"); }
    QString subtitle() const override;
    void saveState() override;
    void focusSearch() override;

    /// Shows these states only; none: all.
    void setStateFilter(const QList<JobState>& states);
    /// Selects the job and opens its pane; a filter that hides it is taken off. Nothing happens for one that is not of
    /// this session.
    void showJob(JobId job);

    /// Adds the file's jobs to the queue.
    void openWorkload(const QString& file);
    /// Writes jobs as a workload file; says in the strip how it went.
    void saveWorkload(const QString& file, const std::vector<JobId>& jobs);

    std::vector<JobId> selectedJobs() const;  ///< in the table's order

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void makeActions();
    QAction* makeAction(const QString& name, const QString& text, const QString& icon, const QKeySequence& keys);
    QWidget* makeBar();
    QWidget* makeTable();
    QWidget* makeEmpty();
    QWidget* makeFooter();
    void restoreState();

    void filterChanged();
    void boardChanged();
    void refreshActions();
    void refreshEmpty();
    void refreshFooter();
    void refreshColumns();
    void refreshPane();
    void keepSelection();
    void giveSelectionBack();
    void openMenu(const QPoint& at);
    void openColumnMenu(const QPoint& globalPosition);
    void fillSampleMenu();

    void cancelSelected();
    void cancelJobs(const std::vector<JobId>& jobs);
    void retrySelected();
    void runAgain(const std::vector<JobId>& jobs);
    void changePriority(int by);
    void askPriority();
    void setPriority(int priority);
    void copySelected() const;
    void compareSelected();
    void askOpen();
    void askSave(const std::vector<JobId>& jobs);
    void submitWorkload(const QString& file, Workload workload);
    void select(const std::vector<JobId>& jobs, JobId current);

    JobId currentJob() const;
    std::vector<JobId> selectedWhere(bool (*suits)(const JobSnapshot&)) const;
    std::vector<JobId> unfinishedJobs() const;
    std::vector<std::string> deviceNames() const;

    PageContext context_;
    JobTableModel* jobs_ = nullptr;
    JobFilterModel* rows_ = nullptr;
    JobDelegate* delegate_ = nullptr;

    StateChips* chips_ = nullptr;
    QLineEdit* search_ = nullptr;
    QSplitter* splitter_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    QTableView* table_ = nullptr;
    QWidget* noMatch_ = nullptr;
    QWidget* footer_ = nullptr;
    JobPane* pane_ = nullptr;
    TokenLabel* selectionLabel_ = nullptr;
    TokenLabel* outlook_ = nullptr;
    QMenu* priorityMenu_ = nullptr;
    QMenu* sampleMenu_ = nullptr;
    QToolButton* sampleButton_ = nullptr;
    QToolButton* priorityButton_ = nullptr;

    QAction* cancel_ = nullptr;
    QAction* retry_ = nullptr;
    QAction* again_ = nullptr;
    QAction* raise_ = nullptr;
    QAction* lower_ = nullptr;
    QAction* setPriority_ = nullptr;
    QAction* copy_ = nullptr;
    QAction* compare_ = nullptr;
    QAction* details_ = nullptr;
    QAction* open_ = nullptr;
    QAction* save_ = nullptr;
    QAction* saveSelected_ = nullptr;

    QTimer clock_;         ///< what grows by itself
    QTimer paneTimer_;     ///< one pane refresh for a burst of updates
    QTimer searchTimer_;
    bool paneWanted_ = true;
    QSet<int> hiddenColumns_;  ///< by the person's choice
    std::array<int, 10> widths_{};  ///< of columns that are hidden or shrunk for want of room
    bool narrow_ = false;      ///< the table
    bool small_ = false;       ///< the page
    std::vector<JobId> keptSelection_;
    JobId keptCurrent_ = 0;
    int keptScroll_ = 0;
};

}  // namespace heteroscope
