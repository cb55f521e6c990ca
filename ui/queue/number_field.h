#pragma once

#include "scheduler/kernel/kernel.h"

#include <QAbstractSpinBox>

#include <optional>

namespace heteroscope {

/// Reads a number as people write sizes: "4096", "16,777,216", "2^20", "16 Mi", "1.5e6", "64k". Nothing when it is none.
std::optional<double> readNumber(const QString& text);
/// The shortest text that reads back as the same number.
QString writeNumber(double value);

/// A spin box that never changes what was typed: a number outside its limits stays, and is said to be wrong in words.
class NumberField : public QAbstractSpinBox {
    Q_OBJECT
public:
    /// The field's own name opens its messages: "n must be at least 1".
    NumberField(QString name, bool integral, std::optional<double> minimum, std::optional<double> maximum, QWidget* parent = nullptr);

    void setNumber(double value);
    std::optional<double> number() const;  ///< nothing while problem() has something to say
    QString problem() const;
    QString limits() const;  ///< "1 to 1,073,741,824", "at least 1", empty when there are none

    void stepBy(int steps) override;
    QValidator::State validate(QString& input, int& position) const override;
    QSize sizeHint() const override;

signals:
    void changed();

protected:
    StepEnabled stepEnabled() const override;

private:
    QString name_;
    bool integral_;
    std::optional<double> minimum_, maximum_;
};

}  // namespace heteroscope
