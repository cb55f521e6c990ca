#pragma once

#include "scheduler/job.h"

#include <QAbstractButton>

#include <array>
#include <vector>

namespace heteroscope {

/// A word and a number to switch on and off.
class Chip : public QAbstractButton {
    Q_OBJECT
public:
    explicit Chip(QWidget* parent = nullptr);
    void setCount(const QString& word, std::size_t count);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString word_, number_;
};

/// One chip a state that occurs, with its count, and "All". A click shows that state alone (again: all), with Ctrl
/// it joins or leaves those shown.
class StateChips : public QWidget {
    Q_OBJECT
public:
    explicit StateChips(QWidget* parent = nullptr);

    void setCounts(const std::array<std::size_t, jobStateCount>& counts);
    void setChosen(const std::vector<JobState>& states);  ///< empty: all
    std::vector<JobState> chosen() const;

signals:
    void chosenChanged();

private:
    void choose(JobState state, bool together);
    void refresh();

    Chip* all_ = nullptr;
    std::array<Chip*, jobStateCount> chips_{};
    std::array<std::size_t, jobStateCount> counts_{};
    std::array<bool, jobStateCount> chosen_{};
};

}  // namespace heteroscope
