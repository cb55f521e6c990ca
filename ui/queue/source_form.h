#pragma once

#include "ui/services.h"

#include <QTimer>
#include <QWidget>

#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;

namespace heteroscope {

class TokenLabel;

/// Form for a person's own .cl or .cu: entry points and arguments are read from the compiled program, the rest is
/// asked for.
class SourceForm : public QWidget {
    Q_OBJECT
public:
    explicit SourceForm(Services& services, QWidget* parent = nullptr);

    void openFile(const QString& file);
    QString file() const { return file_; }
    bool reading() const { return reading_; }

    /// What keeps it from being run, in words; empty when source() says all.
    QStringList problems() const;
    OwnSource source() const;
    QStringList commandArguments() const;  ///< after `heteroscope run`
    QStringList outputNames() const;       ///< buffers that may be saved

signals:
    void changed();

private:
    /// One argument of the entry; which fields there are depends on its kind.
    struct ArgumentRow {
        ArgumentInfo info;
        KernelArgument::Kind kind = KernelArgument::Kind::Scalar;
        QComboBox* type = nullptr;
        QLineEdit* count = nullptr;  ///< buffer: elements; local: bytes; scalar: value
        QLineEdit* fill = nullptr;
        QComboBox* access = nullptr;
        TokenLabel* problem = nullptr;
    };

    void inspect();
    void showProgram(const Program& program);
    void showEntry();
    void addArgument(const ArgumentInfo& info, int row);
    void addInclude(const QString& folder);
    void refresh();
    QString argumentText(const ArgumentRow& row) const;
    QString problemOf(const ArgumentRow& row, std::size_t position) const;
    QStringList options() const;
    QStringList includes() const;
    QString nameOf(const ArgumentRow& row, std::size_t position) const;

    Services& services_;
    QString file_;
    bool reading_ = false;
    quint64 request_ = 0;  ///< answers of earlier ones are dropped
    QString inspectProblem_;
    std::vector<EntryInfo> entries_;
    std::vector<ArgumentRow> arguments_;
    QTimer inspectTimer_;

    QLineEdit* fileField_ = nullptr;
    QLineEdit* optionsField_ = nullptr;
    QLineEdit* includeField_ = nullptr;
    QComboBox* entryBox_ = nullptr;
    QLineEdit* globalField_ = nullptr;
    QLineEdit* localField_ = nullptr;
    TokenLabel* status_ = nullptr;
    TokenLabel* log_ = nullptr;
    TokenLabel* globalProblem_ = nullptr;
    TokenLabel* localProblem_ = nullptr;
    QWidget* argumentBox_ = nullptr;
    QGridLayout* argumentGrid_ = nullptr;
};

/// "1024", "64, 32" or "64x32x1" as sizes. Empty text gives none. Nothing when it is not one to three whole numbers
/// above zero.
std::optional<std::vector<std::uint64_t>> readSizes(const QString& text);

}  // namespace heteroscope
