#include "ui/compare/run_inspector.h"

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/token_label.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace heteroscope {

RunInspector::RunInspector(QWidget* parent)
    : QWidget(parent),
      title_(new TokenLabel({}, Theme::Type::Title, Token::Text, true)),
      subtitle_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)) {
    setMinimumWidth(240);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 16);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    title_->setElided(true);
    head->addWidget(title_, 1);
    auto* close = new QToolButton;
    close->setIcon(Theme::icon(QStringLiteral("close")));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close"));
    connect(close, &QToolButton::clicked, this, &RunInspector::closeRequested);
    head->addWidget(close);
    layout->addLayout(head);
    subtitle_->setElided(true);
    layout->addWidget(subtitle_);
    layout->addSpacing(8);
    layout->addStretch();
}

void RunInspector::addFact(const QString& name, const QString& value) {
    const int row = facts_->rowCount();
    facts_->addWidget(new TokenLabel(name, Theme::Type::Text, Token::Secondary), row, 0);
    auto* label = new TokenLabel(value);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->addWidget(label, row, 1, Qt::AlignRight);
}

void RunInspector::show(const Comparison& comparison, const QStringList& deviceNames, const GanttSelection& selection) {
    const auto& run = comparison.runs[selection.run];
    const auto& job = run.schedule[selection.job];
    const auto deviceName = [&](std::size_t d) { return deviceNames.value(static_cast<int>(d), format::absent()); };
    title_->setText(QString::fromStdString(job.label.empty() ? job.kernel : job.label));
    const QString where = tr("%1 · %2").arg(QString::fromStdString(run.policy), deviceName(job.device));
    subtitle_->setText(job.label.empty() ? where : tr("%1 · %2").arg(QString::fromStdString(job.kernel), where));

    delete body_;
    body_ = new QWidget;
    auto* body = new QVBoxLayout(body_);
    body->setContentsMargins(0, 0, 0, 0);
    facts_ = new QGridLayout;
    facts_->setVerticalSpacing(6);
    body->addLayout(facts_);
    addFact(tr("Starts"), format::seconds(job.start));
    addFact(tr("Runs"), format::seconds(job.finish - job.start));
    addFact(tr("Finishes"), format::seconds(job.finish));
    addFact(tr("Waited for dependencies"), format::seconds(std::max(0.0, job.ready - job.submitted)));
    addFact(tr("Waited in queues"), format::seconds(std::max(0.0, job.start - job.ready)));

    body->addSpacing(12);
    body->addWidget(new TokenLabel(tr("The same job elsewhere"), Theme::Type::Text, Token::Text, true));
    auto* others = new QGridLayout;
    others->setVerticalSpacing(6);
    int row = 0;
    std::set<std::string> seen{run.policy};
    for (std::size_t r = 0; r < comparison.runs.size(); ++r) {
        const auto& other = comparison.runs[r];
        if (!seen.insert(other.policy).second) continue;
        const auto same = std::find_if(other.schedule.begin(), other.schedule.end(), [&](const ScheduledJob& s) { return s.job == job.job; });
        if (same == other.schedule.end()) continue;
        auto* link = new LinkButton(QString::fromStdString(other.policy));
        const auto position = static_cast<std::size_t>(same - other.schedule.begin());
        connect(link, &LinkButton::clicked, this, [this, r, position] { emit selectRequested(r, position); });
        others->addWidget(link, row, 0, Qt::AlignLeft);
        others->addWidget(new TokenLabel(deviceName(same->device), Theme::Type::Text, Token::Secondary), row, 1);
        others->addWidget(new TokenLabel(tr("ends %1").arg(format::seconds(same->finish))), row, 2, Qt::AlignRight);
        ++row;
    }
    body->addLayout(others);
    body->addStretch();
    static_cast<QVBoxLayout*>(layout())->insertWidget(3, body_, 1);
}

}  // namespace heteroscope
