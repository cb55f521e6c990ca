#pragma once

#include "ui/page.h"
#include "ui/services.h"

#include <QDialog>
#include <QTimer>

class QLineEdit;
class QListView;
class QPushButton;
class QScrollArea;
class QStackedWidget;

namespace heteroscope {

class ForecastTable;
class JobForm;
class KernelListModel;
class ParameterForm;
class SourceForm;
class TokenLabel;
struct Forecast;

/// Chooses a kernel (or a person's own source), its parameters and how its jobs run; shows beforehand what they
/// need and where they would go.
class AddJobsDialog : public QDialog {
    Q_OBJECT
public:
    explicit AddJobsDialog(PageContext context, QWidget* parent = nullptr);

    /// Chooses a kernel of the list; nothing happens for one that is not there.
    void chooseKernel(const std::string& id);
    /// Shows the form for a person's own file.
    void openSource(const QString& file);

    QStringList problems() const;  ///< why nothing can be added; empty: it can
    std::vector<JobSpec> jobs() const;  ///< what would be submitted; empty while there are problems
    QString commandLine() const;  ///< the same on the command line; several lines where one command cannot

signals:
    void jobsAdded(const QList<quint64>& jobs);

private:
    QWidget* makeList();
    QWidget* makeForms();
    QWidget* makeForecast();
    QWidget* makeFooter();
    void loadCatalogue();
    void searchChanged();
    void kernelChosen();
    void sourceChanged();
    void resolveSource();
    void formChanged();
    void refreshProblems();
    void refreshForecast();
    void showForecast(const Forecast& forecast);
    void submit(bool keepOpen);
    void submitted(const Result<std::vector<JobId>>& answer, bool keepOpen);
    void remember() const;
    void copyCommand();
    void showSource();
    bool ownSource() const;
    Parameters parameters() const;

    PageContext context_;
    KernelPtr kernel_;          ///< chosen from the list, or made from the source
    QString sourceProblem_;
    bool resolving_ = false;    ///< the own source is being made into a kernel
    quint64 resolveRequest_ = 0;
    bool submitting_ = false;
    QString planProblem_;       ///< of planLaunch, or no device that can
    QTimer forecastTimer_, resolveTimer_;

    KernelListModel* kernels_ = nullptr;
    QLineEdit* search_ = nullptr;
    QListView* list_ = nullptr;
    TokenLabel* listCount_ = nullptr;
    TokenLabel* listProblem_ = nullptr;
    TokenLabel* name_ = nullptr;
    TokenLabel* description_ = nullptr;
    QPushButton* sourceButton_ = nullptr;
    QStackedWidget* forms_ = nullptr;
    ParameterForm* parameterForm_ = nullptr;
    SourceForm* sourceForm_ = nullptr;
    JobForm* jobForm_ = nullptr;
    TokenLabel* planError_ = nullptr;
    TokenLabel* work_ = nullptr;
    TokenLabel* forecastTitle_ = nullptr;
    QScrollArea* forecastScroll_ = nullptr;
    ForecastTable* forecast_ = nullptr;
    TokenLabel* placement_ = nullptr;
    TokenLabel* message_ = nullptr;
    QPushButton* add_ = nullptr;
    QPushButton* addMore_ = nullptr;
    QPushButton* copy_ = nullptr;
};

/// `words` as a shell takes them.
QString shellQuoted(const QStringList& words);

}  // namespace heteroscope
