#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace heteroscope {

class TokenLabel;

/// What stands above every page: its title, the policy in force, running or paused, Add jobs. 48 px high.
class HeaderBar : public QWidget {
    Q_OBJECT
public:
    explicit HeaderBar(QWidget* parent = nullptr);

    void setTitle(const QString& title, const QString& subtitle);
    /// `started` is false until there is an engine: then nothing can be chosen or paused.
    void setState(bool started, const QString& policy, bool paused);
    QComboBox* policyBox() const { return policy_; }
    QPushButton* addButton() const { return add_; }
    QPushButton* pauseButton() const { return pause_; }

signals:
    void policyChosen(const QString& policy);
    void pauseRequested(bool pause);
    void addJobsRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showPolicies();

    TokenLabel* title_;
    TokenLabel* subtitle_;
    QComboBox* policy_;
    QToolButton* help_;
    QLabel* stateIcon_;
    TokenLabel* state_;
    QPushButton* pause_;
    QPushButton* add_;
    bool paused_ = false;
};

}  // namespace heteroscope
