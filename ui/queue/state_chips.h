#pragma once

#include "scheduler/job.h"

#include <QWidget>

#include <array>
#include <vector>

class QToolButton;

namespace heteroscope {

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

    QToolButton* all_ = nullptr;
    std::array<QToolButton*, jobStateCount> chips_{};
    std::array<std::size_t, jobStateCount> counts_{};
    std::array<bool, jobStateCount> chosen_{};
};

}  // namespace heteroscope
