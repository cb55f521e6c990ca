#pragma once

#include "scheduler/comparison.h"
#include "ui/compare/gantt_view.h"

#include <QStringList>
#include <QWidget>

class QGridLayout;

namespace heteroscope {

class TokenLabel;

/// One job of one run, and the same job under the other policies.
class RunInspector : public QWidget {
    Q_OBJECT
public:
    explicit RunInspector(QWidget* parent = nullptr);
    void show(const Comparison& comparison, const QStringList& deviceNames, const GanttSelection& selection);

signals:
    void closeRequested();
    /// The same job under another policy was clicked.
    void selectRequested(std::size_t run, std::size_t job);

private:
    void addFact(const QString& name, const QString& value);

    TokenLabel* title_;
    TokenLabel* subtitle_;
    QWidget* body_ = nullptr;
    QGridLayout* facts_ = nullptr;
};

}  // namespace heteroscope
