#include "ui/queue/state_chips.h"

#include "ui/format.h"
#include "ui/queue/flow_layout.h"
#include "ui/theme.h"

#include <QGuiApplication>
#include <QPainter>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr std::array order{JobState::Running,   JobState::Staging, JobState::Assigned,    JobState::Ready,
                           JobState::Waiting,   JobState::Succeeded, JobState::Failed,    JobState::TimedOut,
                           JobState::Interrupted, JobState::Cancelled, JobState::Skipped};
static_assert(order.size() == jobStateCount);

constexpr std::size_t at(JobState state) { return static_cast<std::size_t>(state); }

constexpr int chipHeight = 28, chipPadding = 10, iconPixels = 14, chipGap = 6;

}  // namespace

Chip::Chip(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setAttribute(Qt::WA_Hover);
}

void Chip::setCount(const QString& word, std::size_t count) {
    const QString number = format::count(count);
    if (word == word_ && number == number_) return;
    word_ = word;
    number_ = number;
    setText(word + QLatin1Char(' ') + number);  // what a screen reader says
    updateGeometry();
    update();
}

QSize Chip::sizeHint() const {
    const int icons = icon().isNull() ? 0 : iconPixels + chipGap;
    return {2 * chipPadding + icons + QFontMetrics(Theme::font(Theme::Type::Text)).horizontalAdvance(word_) + chipGap +
                QFontMetrics(Theme::font(Theme::Type::Text, true)).horizontalAdvance(number_),
            chipHeight};
}

void Chip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Theme::color(isChecked() ? Token::Selection : underMouse() ? Token::Hover : Token::Card));
    const bool strong = isChecked() || hasFocus();
    painter.setPen(QPen(Theme::color(strong ? Token::Accent : Token::Line), hasFocus() ? 2.0 : 1.0));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
    int x = chipPadding;
    if (!icon().isNull()) {
        icon().paint(&painter, QRect(x, (height() - iconPixels) / 2, iconPixels, iconPixels));
        x += iconPixels + chipGap;
    }
    painter.setPen(Theme::color(Token::Text));
    painter.setFont(Theme::font(Theme::Type::Text));
    painter.drawText(QRect(x, 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter, word_);
    x += painter.fontMetrics().horizontalAdvance(word_) + chipGap;
    painter.setFont(Theme::font(Theme::Type::Text, true));
    painter.drawText(QRect(x, 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter, number_);
}

StateChips::StateChips(QWidget* parent) : QWidget(parent) {
    auto* layout = new FlowLayout(4, this);
    all_ = new Chip(this);
    all_->setObjectName(QStringLiteral("chipAll"));
    connect(all_, &Chip::clicked, this, [this] {
        chosen_.fill(false);
        refresh();
        emit chosenChanged();
    });
    layout->addWidget(all_);
    for (const JobState state : order) {
        auto* chip = new Chip(this);
        chip->setIcon(Theme::stateIcon(state));
        chip->setObjectName(QStringLiteral("chip-") + QString::fromUtf8(toString(state).data(), static_cast<qsizetype>(toString(state).size())));
        chip->setToolTip(tr("Show these only; with Ctrl, together with others"));
        connect(chip, &Chip::clicked, this, [this, state] {
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
        Chip& chip = *chips_[at(state)];
        const std::size_t count = counts_[at(state)];
        sum += count;
        chip.setCount(format::stateName(state), count);
        chip.setChecked(chosen_[at(state)]);
        chip.setVisible(count > 0 || chosen_[at(state)]);
    }
    all_->setCount(tr("All"), sum);
    all_->setChecked(std::none_of(chosen_.begin(), chosen_.end(), [](bool c) { return c; }));
}

}  // namespace heteroscope
