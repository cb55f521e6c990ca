#pragma once

#include "ui/services.h"

#include <QWidget>

#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QPushButton;

namespace heteroscope {

class JobBoard;
class NumberField;
class TokenLabel;

/// A number field with its label and, beside it, its limits or what is wrong with it.
struct NumberRow {
    QString name;
    NumberField* field = nullptr;
    TokenLabel* hint = nullptr;
    QString usualHint;

    void showProblem() const;
};

/// Puts label, field and hint into one half (0 or 1) of a form grid; both halves line up over all grids of a dialog.
void setUpFormGrid(QGridLayout& grid);
NumberRow addNumberRow(QGridLayout& grid, int row, int half, const QString& label, NumberField* field, const QString& usualHint = {});

/// The parameters of a kernel as fields, made from its package.
class ParameterForm : public QWidget {
    Q_OBJECT
public:
    explicit ParameterForm(QWidget* parent = nullptr);

    /// `values` are laid over the defaults; those of names the kernel does not know are left out.
    void setKernel(const KernelPtr& kernel, const Parameters& values);
    Parameters values() const;  ///< those that are right
    QStringList problems() const;

signals:
    void changed();

private:
    void clearRows();

    QGridLayout* grid_ = nullptr;
    std::vector<NumberRow> rows_;
};

/// What every job has, whatever its kernel: count, priority, seed, time limit, device, check, outputs.
class JobForm : public QWidget {
    Q_OBJECT
public:
    JobForm(Services& services, JobBoard& board, QWidget* parent = nullptr);

    /// What may be saved, and whether there is something to check against.
    void setKernelFacts(const QStringList& outputs, const QString& reference);
    QStringList problems() const;

    /// The jobs of this form, ids 0. Valid while problems() is empty.
    std::vector<JobSpec> jobs(const KernelPtr& kernel, const Parameters& parameters) const;
    std::size_t jobCount() const;  ///< 0 while the count is wrong
    std::vector<std::string> targets() const;  ///< device ids; "" is any
    /// After `heteroscope run KERNEL …`, one list a command: one for each target, or for each job where every one
    /// saves a file of its own.
    QList<QStringList> commandArguments() const;
    /// What is set here and has no option on the command line; empty: nothing.
    QString beyondCommandLine() const;

    void restore();     ///< QSettings
    void remember() const;

signals:
    void changed();

private:
    void refresh();
    void fillDevices();
    QString saveProblem() const;
    QString savePath(std::size_t index, std::size_t total) const;

    Services& services_;
    JobBoard& board_;
    NumberRow count_, priority_, seed_, timeout_;
    QComboBox* device_ = nullptr;
    QCheckBox* check_ = nullptr;
    QCheckBox* keep_ = nullptr;
    QComboBox* saveArgument_ = nullptr;
    QLineEdit* saveFile_ = nullptr;
    QPushButton* browse_ = nullptr;
    TokenLabel* saveHint_ = nullptr;
    TokenLabel* checkHint_ = nullptr;
    bool hasReference_ = false;
};

}  // namespace heteroscope
