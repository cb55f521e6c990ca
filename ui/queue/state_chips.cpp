#include "ui/queue/state_chips.h"

#include "ui/format.h"
#include "ui/queue/flow_layout.h"
#include "ui/theme.h"

#include <QGuiApplication>
#include <QToolButton>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr std::array order{JobState::Running,   JobState::Staging, JobState::Assigned,    JobState::Ready,
                           JobState::Waiting,   JobState::Succeeded, JobState::Failed,    JobState::TimedOut,
                           JobState::Interrupted, JobState::Cancelled, JobState::Skipped};
static_assert(order.size() == jobStateCount);

constexpr std::size_t at(JobState state) { return static_cast<std::size_t>(state); }

QToolButton* makeChip(QWidget* parent) {
    auto* chip = new QToolButton(parent);
    chip->setCheckable(true);
    chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip->setFocusPolicy(Qt::TabFocus);
    return chip;
}

}  // namespace

StateChips::StateChips(QWidget* parent) : QWidget(parent) {
    auto* layout = new FlowLayout(4, this);
    all_ = makeChip(this);
    all_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    all_->setObjectName(QStringLiteral("chipAll"));
    connect(all_, &QToolButton::clicked, this, [this] {
        chosen_.fill(false);
        refresh();
        emit chosenChanged();
    });
    layout->addWidget(all_);
    for (const JobState state : order) {
        QToolButton* chip = makeChip(this);
        chip->setIcon(Theme::stateIcon(state));
        chip->setObjectName(QStringLiteral("chip-") + QString::fromUtf8(toString(state).data(), static_cast<qsizetype>(toString(state).size())));
        chip->setToolTip(tr("Show these only; with Ctrl, together with others"));
        connect(chip, &QToolButton::clicked, this, [this, state] {
            choose(state, QGuiApplication::keyboardModifiers().testFlag(Qt::ControlModifier));
        });
        chips_[at(state)] = chip;
        layout->addWidget(chip);
    }
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    refresh();
}

void StateChips::setCounts(const std::array<std::size_t, jobStateCount>& counts) {
    if (counts == counts_) return;
    counts_ = counts;
    refresh();
}

void StateChips::setChosen(const std::vector<JobState>& states) {
    chosen_.fill(false);
    for (const JobState state : states) chosen_[at(state)] = true;
    refresh();
}

std::vector<JobState> StateChips::chosen() const {
    std::vector<JobState> states;
    for (const JobState state : order)
        if (chosen_[at(state)]) states.push_back(state);
    return states;
}

void StateChips::choose(JobState state, bool together) {
    const bool was = chosen_[at(state)];
    const auto others = std::count(chosen_.begin(), chosen_.end(), true) - (was ? 1 : 0);
    if (!together) chosen_.fill(false);
    chosen_[at(state)] = together ? !was : !(was && others == 0);
    refresh();
    emit chosenChanged();
}

void StateChips::refresh() {
    std::size_t sum = 0;
    for (const JobState state : order) {
        QToolButton& chip = *chips_[at(state)];
        const std::size_t count = counts_[at(state)];
        sum += count;
        const QString text = format::stateName(state) + QLatin1Char(' ') + format::count(count);
        if (chip.text() != text) chip.setText(text);
        chip.setChecked(chosen_[at(state)]);
        chip.setVisible(count > 0 || chosen_[at(state)]);
    }
    const QString text = tr("All %1").arg(format::count(sum));
    if (all_->text() != text) all_->setText(text);
    all_->setChecked(std::none_of(chosen_.begin(), chosen_.end(), [](bool c) { return c; }));
}

}  // namespace heteroscope
