#include "ui/widgets/status_line.h"

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/token_label.h"

#include <QHBoxLayout>
#include <QPainter>

namespace heteroscope {

namespace {

struct Part {
    const char* word;
    std::vector<JobState> states;
};

/// In the order shown; "queued" is everything that has a place in the queue and was not begun.
const std::vector<Part>& parts() {
    static const std::vector<Part> all{
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "running"), {JobState::Running}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "staging"), {JobState::Staging}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "queued"), {JobState::Assigned, JobState::Ready, JobState::Waiting}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "done"), {JobState::Succeeded}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "failed"), {JobState::Failed, JobState::TimedOut, JobState::Interrupted}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "cancelled"), {JobState::Cancelled}},
        {QT_TRANSLATE_NOOP("heteroscope::StatusLine", "skipped"), {JobState::Skipped}},
    };
    return all;
}

}  // namespace

StatusLine::StatusLine(QWidget* parent)
    : QWidget(parent), nothing_(new TokenLabel(tr("no jobs yet"), Theme::Type::Caption, Token::Secondary)),
      pace_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)), own_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)) {
    setFixedHeight(28);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 1, 16, 0);
    layout->setSpacing(2);
    layout->addWidget(nothing_);
    for (const auto& part : parts()) {
        auto* dot = new TokenLabel(QStringLiteral("·"), Theme::Type::Caption, Token::Secondary);
        auto* link = new LinkButton({}, Theme::Type::Caption);
        link->setToolTip(tr("Show these jobs in the queue"));
        dot->setVisible(false);
        link->setVisible(false);
        QList<JobState> states(part.states.begin(), part.states.end());
        connect(link, &LinkButton::clicked, this, [this, states] { emit statesRequested(states); });
        layout->addWidget(dot);
        layout->addWidget(link);
        dots_.append(dot);
        links_.append(link);
    }
    layout->addStretch(1);
    layout->addWidget(pace_);
    layout->addSpacing(24);
    layout->addWidget(own_);
}

void StatusLine::setUpdate(const EngineUpdate& update) {
    bool first = true;
    for (int i = 0; i < links_.size(); ++i) {
        const auto& part = parts()[static_cast<std::size_t>(i)];
        std::size_t n = 0;
        for (const auto state : part.states) n += update.counts[static_cast<std::size_t>(state)];
        const QString text = format::count(n) + QLatin1Char(' ') + tr(part.word);
        auto* link = links_[i];
        if (n > 0 && link->text() != text) {
            link->setText(text);
            link->updateGeometry();
        }
        link->setVisible(n > 0);
        dots_[i]->setVisible(n > 0 && !first);
        if (n > 0) first = false;
    }
    nothing_->setVisible(first);
    QString pace;
    if (update.jobsPerSecond > 0) pace = tr("%1 jobs/s").arg(format::number(update.jobsPerSecond));
    if (update.emptyInSeconds > 0) pace += (pace.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("empty in about %1").arg(format::seconds(update.emptyInSeconds));
    pace_->setText(pace);
}

void StatusLine::setOwnUsage(double cpu, double bytes) {
    QStringList words;
    if (cpu >= 0) words << QString::number(cpu * 100.0, 'f', 1) + QChar(0x2009) + tr("% CPU");
    if (bytes >= 0) words << format::bytes(bytes);
    own_->setText(words.isEmpty() ? QString() : tr("Heteroscope itself: %1").arg(words.join(QStringLiteral(" · "))));
}

void StatusLine::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::color(Token::Card));
    painter.fillRect(0, 0, width(), 1, Theme::color(Token::Line));
}

}  // namespace heteroscope
