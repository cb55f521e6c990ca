#pragma once

#include "ui/job_board.h"

#include <QWidget>

class QLabel;

namespace heteroscope {

class LinkButton;
class TokenLabel;

/// What one device does now: the job that runs with its progress by prediction, what is staged, what waits.
class RunningLine : public QWidget {
    Q_OBJECT
public:
    /// `name`: shown before the rest where a card has several devices; empty otherwise.
    RunningLine(std::string device, const QString& name, QWidget* parent = nullptr);

    void refresh(const JobBoard& board, std::int64_t nowNs);
    const std::string& device() const { return device_; }

signals:
    void jobClicked(heteroscope::JobId job);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::string device_;
    QLabel* icon_;
    TokenLabel* kernel_;
    TokenLabel* parameters_;
    LinkButton* job_;
    QWidget* bar_;
    TokenLabel* progress_;
    TokenLabel* queue_;
    JobId shown_ = 0;
    double share_ = -1.0;
};

}  // namespace heteroscope
