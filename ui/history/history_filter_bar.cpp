#include "ui/history/history_filter_bar.h"

#include "ui/format.h"
#include "ui/queue/flow_layout.h"
#include "ui/theme.h"
#include "ui/widgets/link_button.h"

#include <QAction>
#include <QComboBox>
#include <QDateEdit>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr int typingMs = 150;

// Those that end a job first: they are what a person looks for here.
constexpr std::array stateOrder{JobState::Succeeded, JobState::Failed,  JobState::TimedOut, JobState::Interrupted,
                                JobState::Cancelled, JobState::Skipped, JobState::Running,  JobState::Staging,
                                JobState::Assigned,  JobState::Ready,   JobState::Waiting};
static_assert(stateOrder.size() == jobStateCount);

std::int64_t startOf(const QDate& day) { return day.startOfDay().toMSecsSinceEpoch() * 1'000'000; }

std::string chosen(const QComboBox* box) { return box->currentIndex() <= 0 ? std::string() : box->currentData().toString().toStdString(); }

}  // namespace

HistoryFilterBar::HistoryFilterBar(QWidget* parent) : QWidget(parent), today_(QDate::currentDate()) {
    auto* layout = new FlowLayout(8, this);
    layout->setContentsMargins(0, 0, 0, 0);
    text_ = new QLineEdit(this);
    text_->setObjectName(QStringLiteral("historySearch"));
    text_->setPlaceholderText(tr("Kernel, parameters, label, error, #number"));
    text_->setAccessibleName(tr("Search jobs"));
    text_->setClearButtonEnabled(true);
    text_->setMinimumWidth(260);
    text_->addAction(Theme::icon(QStringLiteral("search"), Token::Secondary), QLineEdit::LeadingPosition);
    typing_.setSingleShot(true);
    typing_.setInterval(typingMs);
    connect(&typing_, &QTimer::timeout, this, &HistoryFilterBar::tell);
    connect(text_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
    layout->addWidget(text_);
    makeStates();
    layout->addWidget(stateButton_);
    kernel_ = makeBox(QStringLiteral("historyKernel"), tr("Every kernel"));
    device_ = makeBox(QStringLiteral("historyDevice"), tr("Every device"));
    policy_ = makeBox(QStringLiteral("historyPolicy"), tr("Every policy"));
    for (QComboBox* box : {kernel_, device_, policy_}) layout->addWidget(box);
    makeDates();
    for (QWidget* part : {static_cast<QWidget*>(range_), static_cast<QWidget*>(from_), static_cast<QWidget*>(to_)}) layout->addWidget(part);
    clear_ = new LinkButton(tr("Clear"), Theme::Type::Text, this);
    clear_->setObjectName(QStringLiteral("historyClear"));
    connect(clear_, &QAbstractButton::clicked, this, &HistoryFilterBar::clear);
    layout->addWidget(clear_);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    refresh();
}

QComboBox* HistoryFilterBar::makeBox(const QString& name, const QString& all) {
    auto* box = new QComboBox(this);
    box->setObjectName(name);
    box->setAccessibleName(all);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->addItem(all);
    connect(box, &QComboBox::currentIndexChanged, this, &HistoryFilterBar::tell);
    return box;
}

void HistoryFilterBar::makeStates() {
    stateButton_ = new QToolButton(this);
    stateButton_->setObjectName(QStringLiteral("historyState"));
    stateButton_->setPopupMode(QToolButton::InstantPopup);
    stateButton_->setFocusPolicy(Qt::StrongFocus);
    stateMenu_ = new QMenu(stateButton_);
    for (const JobState state : stateOrder) {
        QAction* action = stateMenu_->addAction(Theme::stateIcon(state), format::stateName(state));
        action->setCheckable(true);
        action->setData(static_cast<int>(state));
        connect(action, &QAction::toggled, this, &HistoryFilterBar::tell);
    }
    stateButton_->setMenu(stateMenu_);
}

void HistoryFilterBar::makeDates() {
    range_ = makeBox(QStringLiteral("historyRange"), tr("Any time"));
    const QSignalBlocker quiet(range_);
    range_->addItems({tr("Today"), tr("Last 7 days"), tr("Last 30 days"), tr("Between…")});
    from_ = new QDateEdit(today_.addDays(-7), this);
    to_ = new QDateEdit(today_, this);
    from_->setObjectName(QStringLiteral("historyFrom"));
    to_->setObjectName(QStringLiteral("historyTo"));
    from_->setAccessibleName(tr("First day"));
    to_->setAccessibleName(tr("Last day"));
    for (QDateEdit* edit : {from_, to_}) {
        edit->setCalendarPopup(true);
        edit->setDisplayFormat(QStringLiteral("d MMM yyyy"));
        connect(edit, &QDateEdit::dateChanged, this, &HistoryFilterBar::tell);
    }
}

void HistoryFilterBar::fillBox(QComboBox* box, const std::vector<std::string>& names) const {
    const QSignalBlocker quiet(box);
    const QString before = box->currentIndex() > 0 ? box->currentData().toString() : QString();
    while (box->count() > 1) box->removeItem(1);
    for (const std::string& name : names) box->addItem(QString::fromStdString(name), QString::fromStdString(name));
    if (!before.isEmpty() && box->findData(before) < 0) box->addItem(before, before);
    box->setCurrentIndex(before.isEmpty() ? 0 : box->findData(before));
}

void HistoryFilterBar::setFacets(const HistoryFacets& facets) {
    fillBox(kernel_, facets.kernels);
    fillBox(device_, facets.devices);
    fillBox(policy_, facets.policies);
}

std::vector<JobState> HistoryFilterBar::states() const {
    std::vector<JobState> states;
    for (const QAction* action : stateMenu_->actions())
        if (action->isChecked()) states.push_back(static_cast<JobState>(action->data().toInt()));
    return states;
}

HistoryFilter HistoryFilterBar::filter() const {
    HistoryFilter filter;
    filter.text = text_->text().trimmed().toStdString();
    filter.states = states();
    filter.kernel = chosen(kernel_);
    filter.device = chosen(device_);
    filter.policy = chosen(policy_);
    switch (range_->currentIndex()) {
        case Today: filter.since = startOf(today_); break;
        case SevenDays: filter.since = startOf(today_.addDays(-6)); break;
        case ThirtyDays: filter.since = startOf(today_.addDays(-29)); break;
        case Custom:
            // Whichever way round they were put in.
            filter.since = startOf(std::min(from_->date(), to_->date()));
            filter.until = startOf(std::max(from_->date(), to_->date()).addDays(1));
            break;
        default: break;
    }
    return filter;
}

bool HistoryFilterBar::active() const { return filter() != HistoryFilter{}; }

void HistoryFilterBar::clear() {
    {
        const QSignalBlocker quiet(this);
        text_->clear();
        for (QAction* action : stateMenu_->actions()) action->setChecked(false);
        for (QComboBox* box : {kernel_, device_, policy_, range_}) box->setCurrentIndex(0);
    }
    tell();
}

void HistoryFilterBar::focusText() {
    text_->setFocus(Qt::ShortcutFocusReason);
    text_->selectAll();
}

bool HistoryFilterBar::dayChanged() {
    const HistoryFilter before = filter();
    today_ = QDate::currentDate();
    return filter() != before;
}

void HistoryFilterBar::refresh() {
    const auto shown = states();
    stateButton_->setText(shown.empty()       ? tr("Every state")
                          : shown.size() == 1 ? format::stateName(shown.front())
                                              : tr("%1 states").arg(shown.size()));
    const bool custom = range_->currentIndex() == Custom;
    from_->setVisible(custom);
    to_->setVisible(custom);
    clear_->setVisible(active());
    updateGeometry();
}

void HistoryFilterBar::tell() {
    typing_.stop();
    refresh();
    emit changed();
}

}  // namespace heteroscope
