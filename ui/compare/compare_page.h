#pragma once

#include "scheduler/comparison.h"
#include "ui/page.h"

#include <QList>
#include <QStringList>

#include <optional>

class QButtonGroup;
class QComboBox;
class QHBoxLayout;
class QMenu;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QSpinBox;
class QSplitter;
class QStackedWidget;
class QTableView;
class QVBoxLayout;

namespace heteroscope {

class ComparisonModel;
class GanttView;
class MakespanChart;
class RunInspector;
class SegmentedControl;
class TokenLabel;

/// Picks work and policies, runs each for real on the devices, and shows the runs side by side: table, Gantt charts
/// on one axis, bars. Results are stored by Services and opened again from here or from History.
class ComparePage : public Page {
    Q_OBJECT
public:
    explicit ComparePage(PageContext context, QWidget* parent = nullptr);

    QString title() const override { return tr("Compare"); }
    QString iconName() const override { return QStringLiteral("compare"); }
    QString subtitle() const override;
    void saveState() override;

    /// Shows a stored comparison.
    void openComparison(qint64 id);
    /// Takes these jobs of the queue as the work to compare.
    void compareJobs(const QList<quint64>& jobs);
    /// Takes a workload file as the work to compare.
    void openWorkload(const QString& file);
    void setComparison(const Comparison& comparison);
    const Comparison& comparison() const { return comparison_; }

private:
    struct Work {
        QString name;
        QString file;               ///< a workload, read when it runs
        std::vector<JobId> jobs;    ///< of the queue
    };

    QWidget* makeBar();
    QWidget* makeProgress();
    QWidget* makeResults();
    QWidget* makeResultsBar();
    void fillWorkloads();
    void fillPolicies();
    void fillStored();
    QStringList chosenPolicies() const;
    void setChosenPolicies(const QStringList& policies);
    void policiesChanged();
    void start();
    void startWith(std::vector<JobSpec> jobs, const QString& name);
    std::vector<JobSpec> templatesOf(const std::vector<JobId>& jobs) const;
    void showProgress(const ComparisonProgress& progress);
    void finished(const Result<Comparison>& result);
    void setRunning(bool running);
    void showSelection();
    void rename();
    void exportResult();
    void say(const QString& text, bool bad);
    QStringList deviceNames(const Comparison& comparison) const;

    PageContext context_;
    Comparison comparison_;
    std::vector<Work> works_;
    bool running_ = false;

    QComboBox* workload_ = nullptr;
    QPushButton* policies_ = nullptr;
    QMenu* policyMenu_ = nullptr;
    QSpinBox* repeats_ = nullptr;
    QPushButton* compare_ = nullptr;
    QWidget* progressRow_ = nullptr;
    QProgressBar* progress_ = nullptr;
    TokenLabel* phase_ = nullptr;
    TokenLabel* message_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    TokenLabel* resultName_ = nullptr;
    TokenLabel* resultNote_ = nullptr;
    QMenu* storedMenu_ = nullptr;
    ComparisonModel* model_ = nullptr;
    QSortFilterProxyModel* sorted_ = nullptr;
    QTableView* table_ = nullptr;
    SegmentedControl* view_ = nullptr;
    QStackedWidget* charts_ = nullptr;
    GanttView* gantt_ = nullptr;
    MakespanChart* bars_ = nullptr;
    QWidget* legend_ = nullptr;
    QWidget* ganttTools_ = nullptr;
    RunInspector* inspector_ = nullptr;
    QSplitter* splitter_ = nullptr;
};

}  // namespace heteroscope
