#include "ui/widgets/header_bar.h"

#include "scheduler/policy.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace heteroscope {

namespace {

/// Every policy with its paragraph, the one in force marked; closes at a click elsewhere or Escape.
QWidget* policyList(QWidget* parent, const QString& current) {
    auto* popup = new QFrame(parent, Qt::Popup);
    popup->setAttribute(Qt::WA_DeleteOnClose);
    popup->setFrameShape(QFrame::StyledPanel);
    popup->setAccessibleName(QObject::tr("Scheduling policies"));
    auto* outer = new QVBoxLayout(popup);
    outer->setContentsMargins(1, 1, 1, 1);
    auto* scroll = new QScrollArea(popup);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* list = new QWidget;
    auto* layout = new QVBoxLayout(list);
    layout->setSpacing(4);
    for (const auto& policy : policies()) {
        const QString id = QString::fromStdString(policy.id);
        auto* name = new TokenLabel(id == current ? QObject::tr("%1 · in force").arg(id) : id, Theme::Type::Text,
                                    id == current ? Token::Accent : Token::Text, true);
        auto* text = new TokenLabel(QString::fromStdString(policy.description), Theme::Type::Text, Token::Secondary);
        text->setWordWrap(true);
        text->setTextFormat(Qt::PlainText);
        layout->addWidget(name);
        layout->addWidget(text);
        for (const auto& option : policy.options) {
            auto* line = new TokenLabel(QObject::tr("%1 (default %2): %3")
                                            .arg(QString::fromStdString(option.name), QString::number(option.defaultValue),
                                                 QString::fromStdString(option.description)),
                                        Theme::Type::Caption, Token::Secondary);
            line->setWordWrap(true);
            layout->addWidget(line);
        }
        layout->addSpacing(8);
    }
    layout->addStretch(1);
    scroll->setWidget(list);
    outer->addWidget(scroll);
    popup->resize(440, 480);
    return popup;
}

}  // namespace

HeaderBar::HeaderBar(QWidget* parent)
    : QWidget(parent), title_(new TokenLabel({}, Theme::Type::Title, Token::Text, true)),
      subtitle_(new TokenLabel({}, Theme::Type::Text, Token::Secondary)), policy_(new QComboBox), help_(new QToolButton),
      stateIcon_(new QLabel), state_(new TokenLabel), pause_(new QPushButton), add_(new QPushButton(tr("Add jobs"))) {
    setFixedHeight(48);
    subtitle_->setElided(true);
    policy_->setAccessibleName(tr("Scheduling policy"));
    policy_->setMinimumWidth(128);
    for (const auto& policy : policies()) {
        policy_->addItem(QString::fromStdString(policy.id));
        policy_->setItemData(policy_->count() - 1, QString::fromStdString(policy.description), Qt::ToolTipRole);
    }
    policy_->setMaxVisibleItems(24);
    help_->setIcon(Theme::icon(QStringLiteral("help"), Token::Secondary));
    help_->setAutoRaise(true);
    help_->setToolTip(tr("What the policies do"));
    help_->setAccessibleName(help_->toolTip());
    state_->setMinimumWidth(56);
    stateIcon_->setFixedSize(14, 14);
    add_->setIcon(Theme::icon(QStringLiteral("plus"), Token::OnAccent));
    add_->setProperty("accent", true);
    add_->setToolTip(tr("Add jobs to the queue (Ctrl+N)"));

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 0, 16, 1);
    layout->setSpacing(8);
    layout->addWidget(title_);
    layout->addSpacing(8);
    layout->addWidget(subtitle_, 1);
    layout->addWidget(new TokenLabel(tr("Policy"), Theme::Type::Text, Token::Secondary));
    layout->addWidget(policy_);
    layout->addWidget(help_);
    layout->addSpacing(12);
    layout->addWidget(stateIcon_);
    layout->addWidget(state_);
    layout->addWidget(pause_);
    layout->addSpacing(12);
    layout->addWidget(add_);

    connect(policy_, &QComboBox::textActivated, this, &HeaderBar::policyChosen);
    connect(help_, &QToolButton::clicked, this, &HeaderBar::showPolicies);
    connect(pause_, &QPushButton::clicked, this, [this] { emit pauseRequested(!paused_); });
    connect(add_, &QPushButton::clicked, this, &HeaderBar::addJobsRequested);
    setState(false, {}, false);
}

void HeaderBar::setTitle(const QString& title, const QString& subtitle) {
    title_->setText(title);
    subtitle_->setText(subtitle);
}

void HeaderBar::setState(bool started, const QString& policy, bool paused) {
    paused_ = paused;
    policy_->setEnabled(started);
    pause_->setEnabled(started);
    if (!policy.isEmpty() && policy != policy_->currentText()) {
        // With options ("priority:ageing=0.5") the policy has no entry of its own.
        int index = policy_->findText(policy);
        if (index < 0) {
            policy_->addItem(policy);
            index = policy_->count() - 1;
        }
        policy_->setCurrentIndex(index);
    }
    const bool running = started && !paused;
    stateIcon_->setPixmap(!started ? QPixmap()
                                   : Theme::icon(running ? QStringLiteral("play") : QStringLiteral("pause"), running ? Token::Good : Token::Warn)
                                         .pixmap(QSize(14, 14), devicePixelRatioF()));
    state_->setText(!started ? tr("starting") : running ? tr("running") : tr("paused"));
    state_->setToken(!started ? Token::Secondary : running ? Token::Good : Token::Warn);
    pause_->setIcon(Theme::icon(paused ? QStringLiteral("play") : QStringLiteral("pause")));
    pause_->setToolTip(paused ? tr("Resume the queue (Ctrl+P)") : tr("Pause the queue: running jobs finish, no other starts (Ctrl+P)"));
    pause_->setAccessibleName(paused ? tr("Resume the queue") : tr("Pause the queue"));
}

void HeaderBar::showPolicies() {
    auto* popup = policyList(this, policy_->isEnabled() ? policy_->currentText() : QString());
    QPoint place = help_->mapToGlobal(QPoint(help_->width() - popup->width(), help_->height() + 4));
    if (const auto* monitor = screen()) place.setX(std::max(place.x(), monitor->availableGeometry().left()));
    popup->move(place);
    popup->show();
    popup->setFocus();
}

void HeaderBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::color(Token::Card));
    painter.fillRect(0, height() - 1, width(), 1, Theme::color(Token::Line));
}

}  // namespace heteroscope
