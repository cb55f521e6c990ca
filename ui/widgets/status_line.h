#pragma once

#include "scheduler/engine.h"

#include <QWidget>

class QHBoxLayout;

namespace heteroscope {

class LinkButton;
class TokenLabel;

/// The foot of the window, 28 px: counts of jobs as links to the queue, the pace, and what the program itself costs.
class StatusLine : public QWidget {
    Q_OBJECT
public:
    explicit StatusLine(QWidget* parent = nullptr);

    void setUpdate(const EngineUpdate& update);
    /// CPU as a share of one core's time; either may be absent (negative).
    void setOwnUsage(double cpu, double bytes);
    LinkButton* link(int index) const { return links_.value(index); }
    int linkCount() const { return static_cast<int>(links_.size()); }

signals:
    void statesRequested(const QList<heteroscope::JobState>& states);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QList<LinkButton*> links_;
    QList<TokenLabel*> dots_;
    TokenLabel* nothing_;
    TokenLabel* pace_;
    TokenLabel* own_;
};

}  // namespace heteroscope
