#pragma once

#include "ui/page.h"
#include "ui/services.h"

#include <QTimer>

class QGridLayout;
class QPlainTextEdit;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace heteroscope {

class ScoreTable;
class TimingBar;
class TokenLabel;

/// Everything about one job: timing to scale, why it went where it went, error, outputs, check, achieved rates.
/// Queue shows live jobs in it, History stored ones. Window's thread.
class JobPane : public QWidget {
    Q_OBJECT
public:
    explicit JobPane(PageContext context, QWidget* parent = nullptr);

    /// `deviceNames[i]` names DeviceIndex i of the job's decision. Call again when the job changes.
    void showJob(const JobSnapshot& job, const std::vector<std::string>& deviceNames);
    void clear();
    /// The job shown; 0 for none.
    JobId job() const { return job_.id; }
    QString asText() const;  ///< what "Copy" puts on the clipboard

signals:
    void runAgainRequested(quint64 job);
    void closeRequested();

private:
    QWidget* makeHeader();
    QWidget* makeContent();
    QWidget* makeFooter();
    QWidget* makeError();
    void showHeader();
    void showTiming();
    void showDecision();
    void showError();
    void showOutputs();
    void showCheck();
    void showAchieved();
    void showActions();
    void fillOutputGrid();
    QString deviceText() const;
    QString achievedText() const;
    QString sourceText(QString* file) const;
    void openLog();
    void openSource();
    void copyAll() const;
    QColor swatchOf(const std::string& deviceName) const;

    PageContext context_;
    JobSnapshot job_;
    std::vector<std::string> deviceNames_;
    QTimer clock_;  ///< a job under way grows by itself

    QWidget* body_ = nullptr;
    TokenLabel* empty_ = nullptr;
    TokenLabel* title_ = nullptr;
    TokenLabel* number_ = nullptr;
    TokenLabel* stateIcon_ = nullptr;
    TokenLabel* state_ = nullptr;
    TokenLabel* subtitle_ = nullptr;
    TokenLabel* reason_ = nullptr;
    TokenLabel* timingSum_ = nullptr;
    TimingBar* timing_ = nullptr;
    TokenLabel* why_ = nullptr;
    TokenLabel* note_ = nullptr;
    ScoreTable* scores_ = nullptr;
    QWidget* errorBox_ = nullptr;
    TokenLabel* errorPlace_ = nullptr;
    TokenLabel* errorMessage_ = nullptr;
    QPlainTextEdit* errorLog_ = nullptr;
    QWidget* outputBox_ = nullptr;
    QGridLayout* outputGrid_ = nullptr;
    TokenLabel* checkIcon_ = nullptr;
    TokenLabel* check_ = nullptr;
    TokenLabel* checkDetail_ = nullptr;
    QWidget* achievedBox_ = nullptr;
    TokenLabel* achieved_ = nullptr;
    QPushButton* runAgain_ = nullptr;
    QPushButton* log_ = nullptr;
    QPushButton* source_ = nullptr;
};

}  // namespace heteroscope
