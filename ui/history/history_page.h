#pragma once

#include "scheduler/history/history_reader.h"
#include "ui/page.h"
#include "ui/services.h"

#include <QTimer>

#include <atomic>
#include <memory>

class QAction;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;

namespace heteroscope {

class EmptyState;
class HistoryFilterBar;
class HistoryModel;
class HistoryTree;
class JobPane;
class TokenLabel;

/// What ran, as far back as the data folder goes: sessions and comparisons, a table that filters in the database, one
/// job whole, export.
class HistoryPage : public Page {
    Q_OBJECT
public:
    explicit HistoryPage(PageContext context, QWidget* parent = nullptr);
    ~HistoryPage() override;

    QString title() const override { return tr("History"); }
    QString iconName() const override { return QStringLiteral("history"); }
    void saveState() override;
    void focusSearch() override;

    /// Selects and shows a job, wherever it is: filters that hide it are taken off.
    void showJob(JobId job);
    /// Writes what the filter shows; ".csv" or ".json".
    void exportTo(const QString& file);
    std::vector<JobId> selectedJobs() const;  ///< loaded ones, in the table's order

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void makeActions();
    QWidget* makeLeft();
    QWidget* makeMiddle();
    QWidget* makeBar();
    QWidget* makeTable();
    QWidget* makeExportRow();
    QWidget* makePane();
    void restoreState();

    void historyOpened();
    void refreshAll();
    void refreshSide();
    void applyFilter();
    void modelAnswered();
    void refreshSummary();
    void refreshEmpty();
    void refreshActions();
    void refreshColumns();
    void tick();

    void currentChanged();
    void showDetail(const HistoryDetail& detail);
    void closePane();
    void openMenu(const QPoint& at);
    void openTreeMenu(const QPoint& at);
    void runAgain(const std::vector<JobId>& jobs);
    void askDelete();
    void deleteSelected(const std::vector<JobId>& jobs);
    void askExport(const QString& ending);
    void renameComparison(std::int64_t id);
    void askDeleteComparison(std::int64_t id);

    PageContext context_;
    HistoryModel* model_ = nullptr;
    HistoryTree* tree_ = nullptr;
    HistoryFilterBar* filters_ = nullptr;
    QLineEdit* treeSearch_ = nullptr;
    QSplitter* splitter_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    QTableView* table_ = nullptr;
    EmptyState* nothingYet_ = nullptr;
    EmptyState* noMatch_ = nullptr;
    EmptyState* notOpen_ = nullptr;
    TokenLabel* summary_ = nullptr;
    TokenLabel* foot_ = nullptr;
    QWidget* exportRow_ = nullptr;
    TokenLabel* exportText_ = nullptr;
    QProgressBar* exportBar_ = nullptr;
    QWidget* paneBox_ = nullptr;
    JobPane* pane_ = nullptr;
    TokenLabel* earlier_ = nullptr;
    QAction* again_ = nullptr;
    QAction* delete_ = nullptr;
    QAction* copy_ = nullptr;
    QAction* csv_ = nullptr;
    QAction* json_ = nullptr;

    std::shared_ptr<std::atomic<bool>> exporting_;  ///< false stops it; null: none under way
    HistoryFacets facets_;
    std::optional<std::int64_t> session_;
    JobId shown_ = 0;      ///< in the pane, or asked for
    JobId wantedJob_ = 0;  ///< to be selected when its page is here
    QTimer tick_;
    int dirtyTicks_ = 0;   ///< how often to look again: a change was asked for or jobs run
    QString lastFailure_;
};

}  // namespace heteroscope
