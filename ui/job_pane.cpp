#include "ui/job_pane.h"

#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/score_table.h"
#include "ui/text_dialog.h"
#include "ui/theme.h"
#include "ui/timing_bar.h"
#include "ui/widgets/token_label.h"

#include <QClipboard>
#include <QDateTime>
#include <QFileInfo>
#include <QFontDatabase>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace heteroscope {
namespace {

constexpr int padding = 16, gap = 8;

QString text(const std::string& value) { return QString::fromStdString(value); }

std::int64_t nowNs() { return QDateTime::currentMSecsSinceEpoch() * 1'000'000; }

TokenLabel* wrapped(TokenLabel* label) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    // A long word without a break must not widen the pane.
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    return label;
}

TokenLabel* sectionTitle(const QString& title) { return new TokenLabel(title, Theme::Type::Text, Token::Text, true); }

void say(TokenLabel* label, const QString& value) {
    if (label->text() != value) label->setText(value);
    label->setVisible(!value.isEmpty());
}

QString figure(const std::optional<double>& value) { return value ? format::number(*value) : format::absent(); }

QString firstValues(const OutputSummary& output) {
    QStringList words;
    for (const double value : output.firstValues)
        words << (std::isnan(value) ? QStringLiteral("NaN") : format::number(value));
    const bool more = output.count > output.firstValues.size();
    return words.join(QStringLiteral(", ")) + (more ? QStringLiteral(", …") : QString());
}

QString predictionText(const JobSnapshot& job) {
    if (job.predictedSeconds <= 0.0) return {};
    QString said = JobPane::tr("predicted %1").arg(format::seconds(job.predictedSeconds));
    if (isFinal(job.state) && job.runSeconds > 0.0)
        said += QStringLiteral(" (%1)").arg(format::difference(job.predictedSeconds / job.runSeconds - 1.0));
    return said;
}

bool sameOutputs(const std::vector<OutputSummary>& a, const std::vector<OutputSummary>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const OutputSummary& x, const OutputSummary& y) {
        return x.name == y.name && x.count == y.count && x.file == y.file && x.firstValues == y.firstValues &&
               x.minimum == y.minimum && x.maximum == y.maximum && x.mean == y.mean && x.nanCount == y.nanCount;
    });
}

}  // namespace

JobPane::JobPane(PageContext context, QWidget* parent) : QWidget(parent), context_(context) {
    setMinimumWidth(300);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    body_ = new QWidget(this);
    auto* bodyLayout = new QVBoxLayout(body_);
    bodyLayout->setContentsMargins(0, 0, 0, 0);
    bodyLayout->setSpacing(0);
    bodyLayout->addWidget(makeHeader());
    auto* scroll = new QScrollArea(body_);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(makeContent());
    bodyLayout->addWidget(scroll, 1);
    bodyLayout->addWidget(makeFooter());

    empty_ = new TokenLabel(tr("Choose a job to see its timing, why it went where it went, and its outputs."), Theme::Type::Text, Token::Secondary, false, this);
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setMargin(padding);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(empty_);
    layout->addWidget(body_);

    clock_.setInterval(250);
    connect(&clock_, &QTimer::timeout, this, [this] {
        if (isVisible()) showTiming();
    });
    clear();
}

QWidget* JobPane::makeHeader() {
    auto* header = new QWidget(this);
    auto* grid = new QGridLayout(header);
    grid->setContentsMargins(padding, 12, gap, gap);
    grid->setVerticalSpacing(4);
    title_ = new TokenLabel(QString(), Theme::Type::Title, Token::Text, true);
    title_->setElided(true);
    title_->setObjectName(QStringLiteral("paneTitle"));
    number_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    stateIcon_ = new TokenLabel(QString(), Theme::Type::Text, Token::Text);
    state_ = new TokenLabel(QString(), Theme::Type::Text, Token::Text);
    state_->setObjectName(QStringLiteral("paneState"));
    subtitle_ = wrapped(new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary));
    subtitle_->setObjectName(QStringLiteral("paneSubtitle"));
    auto* close = new QToolButton(header);
    close->setAutoRaise(true);
    close->setIcon(Theme::icon(QStringLiteral("close")));
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the job's pane"));
    connect(close, &QToolButton::clicked, this, &JobPane::closeRequested);
    auto* line = new QHBoxLayout;
    line->setSpacing(6);
    line->addWidget(title_);
    line->addWidget(number_);
    line->addSpacing(4);
    line->addWidget(stateIcon_);
    line->addWidget(state_);
    line->addStretch(1);
    line->addWidget(close);
    grid->addLayout(line, 0, 0);
    grid->addWidget(subtitle_, 1, 0);
    return header;
}

QWidget* JobPane::makeContent() {
    auto* content = new QWidget(this);
    content->setAutoFillBackground(true);
    content->setBackgroundRole(QPalette::Base);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(padding, 4, padding, padding);
    layout->setSpacing(gap);

    reason_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Text));
    reason_->setObjectName(QStringLiteral("paneReason"));
    layout->addWidget(reason_);

    auto* timingLine = new QHBoxLayout;
    timingLine->addWidget(sectionTitle(tr("Timing")));
    timingLine->addStretch(1);
    timingSum_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    timingSum_->setElided(true);
    timingSum_->setObjectName(QStringLiteral("paneTimingSum"));
    timingLine->addWidget(timingSum_);
    layout->addLayout(timingLine);
    timing_ = new TimingBar(content);
    timing_->setObjectName(QStringLiteral("paneTiming"));
    layout->addWidget(timing_);
    layout->addSpacing(gap);

    layout->addWidget(makeError());

    layout->addWidget(sectionTitle(tr("Why here")));
    why_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Text));
    why_->setObjectName(QStringLiteral("paneWhy"));
    note_ = wrapped(new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary));
    note_->setObjectName(QStringLiteral("paneNote"));
    scores_ = new ScoreTable(content);
    scores_->setObjectName(QStringLiteral("paneScores"));
    layout->addWidget(why_);
    layout->addWidget(note_);
    layout->addWidget(scores_);
    layout->addSpacing(gap);

    outputBox_ = new QWidget(content);
    auto* outputs = new QVBoxLayout(outputBox_);
    outputs->setContentsMargins(0, 0, 0, gap);
    outputs->setSpacing(4);
    auto* outputLine = new QHBoxLayout;
    outputLine->addWidget(sectionTitle(tr("Outputs")));
    outputLine->addStretch(1);
    checkIcon_ = new TokenLabel(QString(), Theme::Type::Text, Token::Text);
    check_ = new TokenLabel(QString(), Theme::Type::Text, Token::Good);
    check_->setObjectName(QStringLiteral("paneCheck"));
    outputLine->addWidget(checkIcon_);
    outputLine->addWidget(check_);
    outputs->addLayout(outputLine);
    outputGrid_ = new QGridLayout;
    outputGrid_->setHorizontalSpacing(gap);
    outputGrid_->setVerticalSpacing(4);
    outputGrid_->setColumnStretch(1, 1);
    outputs->addLayout(outputGrid_);
    checkDetail_ = wrapped(new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary));
    checkDetail_->setObjectName(QStringLiteral("paneCheckDetail"));
    outputs->addWidget(checkDetail_);
    layout->addWidget(outputBox_);

    achievedBox_ = new QWidget(content);
    auto* achieved = new QVBoxLayout(achievedBox_);
    achieved->setContentsMargins(0, 0, 0, 0);
    achieved->setSpacing(4);
    auto* achievedLine = new QHBoxLayout;
    achievedLine->addWidget(sectionTitle(tr("Achieved")));
    achievedLine->addStretch(1);
    auto* basis = new TokenLabel(tr("work estimate over run time"), Theme::Type::Caption, Token::Secondary);
    basis->setElided(true);
    achievedLine->addWidget(basis);
    achieved->addLayout(achievedLine);
    achieved_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Text));
    achieved_->setObjectName(QStringLiteral("paneAchieved"));
    achieved->addWidget(achieved_);
    layout->addWidget(achievedBox_);
    layout->addStretch(1);
    return content;
}

QWidget* JobPane::makeError() {
    errorBox_ = new QWidget(this);
    auto* layout = new QVBoxLayout(errorBox_);
    layout->setContentsMargins(0, 0, 0, gap);
    layout->setSpacing(4);
    auto* line = new QHBoxLayout;
    line->addWidget(sectionTitle(tr("Error")));
    line->addStretch(1);
    auto* copy = new QToolButton(errorBox_);
    copy->setAutoRaise(true);
    copy->setIcon(Theme::icon(QStringLiteral("copy")));
    copy->setToolTip(tr("Copy the error with its log"));
    copy->setAccessibleName(copy->toolTip());
    connect(copy, &QToolButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(errorMessage_->text() + QLatin1Char('\n') + errorLog_->toPlainText());
    });
    line->addWidget(copy);
    layout->addLayout(line);
    errorPlace_ = wrapped(new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary));
    errorPlace_->setObjectName(QStringLiteral("paneErrorPlace"));
    errorMessage_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Bad));
    errorMessage_->setObjectName(QStringLiteral("paneError"));
    errorLog_ = new QPlainTextEdit(errorBox_);
    errorLog_->setObjectName(QStringLiteral("paneErrorLog"));
    errorLog_->setReadOnly(true);
    errorLog_->setLineWrapMode(QPlainTextEdit::NoWrap);
    errorLog_->setFixedHeight(120);
    QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    mono.setPixelSize(Theme::font(Theme::Type::Caption).pixelSize() > 0 ? Theme::font(Theme::Type::Caption).pixelSize() : 11);
    errorLog_->setFont(mono);
    layout->addWidget(errorPlace_);
    layout->addWidget(errorMessage_);
    layout->addWidget(errorLog_);
    return errorBox_;
}

QWidget* JobPane::makeFooter() {
    auto* footer = new QWidget(this);
    auto* layout = new QHBoxLayout(footer);
    layout->setContentsMargins(padding, gap, padding, gap);
    layout->setSpacing(gap);
    runAgain_ = new QPushButton(tr("Run again"), footer);
    runAgain_->setObjectName(QStringLiteral("paneRunAgain"));
    connect(runAgain_, &QPushButton::clicked, this, [this] { emit runAgainRequested(job_.id); });
    log_ = new QPushButton(tr("Log"), footer);
    log_->setObjectName(QStringLiteral("paneLog"));
    connect(log_, &QPushButton::clicked, this, &JobPane::openLog);
    source_ = new QPushButton(tr("Source"), footer);
    source_->setObjectName(QStringLiteral("paneSource"));
    connect(source_, &QPushButton::clicked, this, &JobPane::openSource);
    auto* copy = new QToolButton(footer);
    copy->setObjectName(QStringLiteral("paneCopy"));
    copy->setIcon(Theme::icon(QStringLiteral("copy")));
    copy->setToolTip(tr("Copy everything said here"));
    copy->setAccessibleName(copy->toolTip());
    connect(copy, &QToolButton::clicked, this, &JobPane::copyAll);
    layout->addWidget(runAgain_);
    layout->addWidget(log_);
    layout->addWidget(source_);
    layout->addStretch(1);
    layout->addWidget(copy);
    return footer;
}

void JobPane::clear() {
    clock_.stop();
    job_ = {};
    body_->hide();
    empty_->show();
}

void JobPane::showJob(const JobSnapshot& job, const std::vector<std::string>& deviceNames) {
    const bool outputsChanged = job.id != job_.id || !sameOutputs(job.outputs, job_.outputs);
    const bool logChanged = job.id != job_.id || job.error != job_.error;
    job_ = job;
    deviceNames_ = deviceNames;
    showHeader();
    showTiming();
    showDecision();
    if (logChanged) showError();
    if (outputsChanged) fillOutputGrid();
    showOutputs();
    showCheck();
    showAchieved();
    showActions();
    empty_->hide();
    body_->show();
    if (isFinal(job.state)) clock_.stop();
    else clock_.start();
}

QString JobPane::deviceText() const {
    if (job_.device.empty()) return {};
    QString device = context_.board.deviceShortName(job_.device);
    if (!job_.runtime.empty()) device += job_.runtime == "cuda" ? tr(" on CUDA") : job_.runtime == "opencl" ? tr(" on OpenCL") : QLatin1Char(' ') + text(job_.runtime);
    return device;
}

void JobPane::showHeader() {
    say(title_, text(job_.kernel));
    say(number_, format::jobNumber(job_.id));
    stateIcon_->setPixmap(Theme::stateIcon(job_.state).pixmap(QSize(14, 14), devicePixelRatioF()));
    say(state_, format::stateName(job_.state));
    state_->setToken(job_.state == JobState::Succeeded                                        ? Token::Good
                     : job_.state == JobState::Failed || job_.state == JobState::TimedOut     ? Token::Bad
                     : job_.state == JobState::Running || job_.state == JobState::Staging     ? Token::Accent
                                                                                              : Token::Secondary);
    QStringList facts;
    const auto add = [&facts](const QString& fact) {
        if (!fact.isEmpty()) facts << fact;
    };
    add(text(job_.label));
    add(text(job_.parameters));
    add(deviceText());
    add(text(job_.policy));
    if (job_.priority != 0) add(tr("priority %1").arg(job_.priority));
    if (job_.attempts > 1) add(tr("attempt %1").arg(job_.attempts));
    if (job_.times.submitted > 0) add(tr("submitted %1").arg(format::dateTime(job_.times.submitted)));
    say(subtitle_, facts.join(QStringLiteral(" · ")));
    // A failed job says its reason in the error section.
    say(reason_, job_.error || job_.state == JobState::Succeeded ? QString() : text(job_.reason));
}

void JobPane::showTiming() {
    const TimingParts parts = timingOf(job_, nowNs());
    timing_->setParts(parts);
    QString sum = parts.totalSeconds() > 0.0 ? format::seconds(parts.totalSeconds()) : format::absent();
    if (const QString predicted = predictionText(job_); !predicted.isEmpty()) sum += tr("; run ") + predicted;
    say(timingSum_, sum);
}

QColor JobPane::swatchOf(const std::string& deviceName) const {
    const auto devices = context_.services.devices();
    for (const DeviceInfo& device : devices)
        if (device.id == deviceName || device.name == deviceName ||
            context_.board.deviceShortName(device.id).toStdString() == deviceName)
            return Theme::series(context_.board.deviceIndex(device.id));
    return {};
}

void JobPane::showDecision() {
    if (!job_.decision) {
        scores_->hide();
        say(note_, {});
        say(why_, isFinal(job_.state) ? tr("No decision is kept for this job.") : tr("No device has been chosen yet."));
        return;
    }
    say(why_, text(explain(*job_.decision, deviceNames_)));
    say(note_, text(job_.decision->note));
    std::vector<QColor> swatches;
    for (const auto& name : deviceNames_) swatches.push_back(swatchOf(name));
    scores_->setRows(scoreRows(*job_.decision, deviceNames_, swatches));
    scores_->setVisible(!job_.decision->candidates.empty());
}

void JobPane::showError() {
    errorBox_->setVisible(job_.error.has_value());
    if (!job_.error) return;
    const Error& error = *job_.error;
    QString place = text(error.file);
    if (!place.isEmpty() && error.line > 0) place += QLatin1Char(':') + QString::number(error.line);
    say(errorPlace_, place);
    say(errorMessage_, text(error.message));
    errorLog_->setPlainText(text(error.log));
    errorLog_->setVisible(!error.log.empty());
}

void JobPane::fillOutputGrid() {
    while (QLayoutItem* item = outputGrid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const auto cell = [this](const QString& value, int row, int column, Token token = Token::Text,
                             Theme::Type type = Theme::Type::Text) {
        auto* label = new TokenLabel(value, type, token);
        if (column < 2) label->setElided(true);
        else label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        if (column >= 2) label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        outputGrid_->addWidget(label, row, column);
        return label;
    };
    if (job_.outputs.empty()) return;
    const QStringList headers{tr("Name"), tr("Type and size"), tr("Min"), tr("Mean"), tr("Max")};
    for (int i = 0; i < headers.size(); ++i) cell(headers[i], 0, i, Token::Secondary, Theme::Type::Caption);
    int row = 1;
    for (const OutputSummary& output : job_.outputs) {
        cell(text(output.name), row, 0);
        cell(text(output.type) + QStringLiteral(" × ") + format::count(output.count), row, 1);
        cell(figure(output.minimum), row, 2);
        cell(figure(output.mean), row, 3);
        cell(figure(output.maximum), row, 4);
        ++row;
        QStringList said;
        if (!output.firstValues.empty()) said << tr("first %1").arg(firstValues(output));
        said << (output.nanCount == 0 ? tr("no NaN") : tr("%1 NaN").arg(format::count(output.nanCount)));
        said << (output.file.empty() ? tr("discarded") : tr("kept in %1").arg(text(output.file)));
        auto* detail = wrapped(new TokenLabel(said.join(QStringLiteral("; ")), Theme::Type::Caption, Token::Secondary));
        detail->setObjectName(QStringLiteral("paneOutputDetail"));
        outputGrid_->addWidget(detail, row++, 0, 1, 5);
    }
}

void JobPane::showOutputs() {
    outputBox_->setVisible(!job_.outputs.empty() || job_.check.state != CheckResult::State::None);
}

void JobPane::showCheck() {
    const CheckResult& check = job_.check;
    const bool passed = check.state == CheckResult::State::Passed;
    const bool any = check.state != CheckResult::State::None;
    checkIcon_->setVisible(any);
    if (any)
        checkIcon_->setPixmap(Theme::icon(passed ? QStringLiteral("check") : QStringLiteral("state-failed"), passed ? Token::Good : Token::Bad)
                                  .pixmap(QSize(14, 14), devicePixelRatioF()));
    check_->setToken(passed ? Token::Good : Token::Bad);
    say(check_, !any ? QString() : passed ? tr("check passed") : tr("check failed"));
    QStringList said;
    if (!check.message.empty()) said << text(check.message);
    if (any) said << tr("largest relative error %1").arg(format::number(check.largestError));
    if (check.state == CheckResult::State::Failed && !check.argument.empty())
        said << tr("%1[%2]: expected %3, found %4")
                    .arg(text(check.argument), QString::number(check.firstDifference), format::number(check.expected),
                         format::number(check.found));
    say(checkDetail_, said.join(QStringLiteral("; ")));
}

QString JobPane::achievedText() const {
    if (job_.runSeconds <= 0.0) return {};
    QStringList rates;
    if (job_.flops && *job_.flops > 0.0) rates << format::rate(*job_.flops / job_.runSeconds, QStringLiteral("FLOP/s"));
    if (job_.bytes && *job_.bytes > 0.0) rates << format::rate(*job_.bytes / job_.runSeconds, QStringLiteral("B/s"));
    return rates.join(QStringLiteral(" · "));
}

void JobPane::showAchieved() {
    const QString rates = achievedText();
    say(achieved_, rates);
    achievedBox_->setVisible(!rates.isEmpty());
}

void JobPane::showActions() {
    log_->setEnabled(!job_.log.empty() || (job_.error && !job_.error->log.empty()));
    log_->setToolTip(log_->isEnabled() ? QString() : tr("Neither compiler nor kernel said anything"));
    QString file;
    source_->setEnabled(!sourceText(&file).isEmpty());
    source_->setToolTip(source_->isEnabled() ? file : tr("The kernel's source is not here any more"));
}

/// The text of the variant that ran (or would run), from the job itself, else from the package of that name.
QString JobPane::sourceText(QString* file) const {
    KernelPtr kernel = job_.spec ? job_.spec->kernel : nullptr;
    if (!kernel)
        if (const auto catalogue = context_.services.kernels()) kernel = catalogue->find(job_.kernel);
    if (!kernel || kernel->variants.empty()) return {};
    const KernelVariant* variant = kernel->variant(job_.runtime == "cuda" ? Language::CudaCpp : Language::OpenClC);
    if (!variant) variant = &kernel->variants.front();
    *file = text(variant->source.file);
    return text(variant->source.text);
}

void JobPane::openLog() {
    QString all = text(job_.log);
    if (job_.error && !job_.error->log.empty()) all += (all.isEmpty() ? QString() : QStringLiteral("\n")) + text(job_.error->log);
    showText(this, tr("Log of %1 %2").arg(text(job_.kernel), format::jobNumber(job_.id)), all);
}

void JobPane::openSource() {
    QString file;
    const QString source = sourceText(&file);
    const bool marked = job_.error && job_.error->line > 0 && QFileInfo(text(job_.error->file)) == QFileInfo(file);
    showText(this, file, source, true, marked ? job_.error->line : 0);
}

QString JobPane::asText() const {
    QStringList lines;
    lines << QStringLiteral("%1 %2 %3").arg(text(job_.kernel), format::jobNumber(job_.id), format::stateName(job_.state));
    lines << subtitle_->text();
    const TimingParts parts = timing_->parts();
    lines << tr("wait %1, stage in %2, run %3, stage out %4")
                 .arg(format::seconds(parts.waitSeconds + parts.heldSeconds), format::seconds(parts.stageInSeconds),
                      format::seconds(parts.runSeconds), format::seconds(parts.stageOutSeconds));
    if (const QString predicted = predictionText(job_); !predicted.isEmpty()) lines << tr("run ") + predicted;
    lines << why_->text();
    if (job_.decision) lines << scores_->asText().trimmed();
    if (job_.error) lines << errorPlace_->text() << errorMessage_->text() << errorLog_->toPlainText();
    for (const OutputSummary& output : job_.outputs)
        lines << tr("%1: %2 × %3, min %4, mean %5, max %6; %7; NaN: %8")
                     .arg(text(output.name), text(output.type), format::count(output.count), figure(output.minimum),
                          figure(output.mean), figure(output.maximum), firstValues(output), format::count(output.nanCount));
    lines << check_->text() << checkDetail_->text() << achievedText();
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

void JobPane::copyAll() const { QGuiApplication::clipboard()->setText(asText()); }

}  // namespace heteroscope
