#include "ui/queue/add_jobs_dialog.h"

#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/queue/job_forecast.h"
#include "ui/queue/job_form.h"
#include "ui/queue/kernel_list.h"
#include "ui/queue/number_field.h"
#include "ui/queue/source_form.h"
#include "ui/text_dialog.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSettings>
#include <QShowEvent>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr int margin = 16, gap = 8, listWidth = 264, forecastHeight = 28 + 4 * 36;

QString text(const std::string& value) { return QString::fromStdString(value); }

QString valuesKey(const std::string& kernel) { return QStringLiteral("addJobs/values/") + text(kernel); }

Parameters rememberedValues(const std::string& kernel) {
    Parameters values;
    const QVariantMap stored = QSettings().value(valuesKey(kernel)).toMap();
    for (auto it = stored.begin(); it != stored.end(); ++it) values[it.key().toStdString()] = it.value().toDouble();
    return values;
}

QStringList outputsOf(const Kernel& kernel) {
    QStringList names;
    for (const KernelArgument& argument : kernel.arguments)
        if (argument.kind == KernelArgument::Kind::Buffer && argument.access != Access::Read) names << text(argument.name);
    return names;
}

QString errorText(const Error& error) {
    QString said = text(error.message);
    if (error.line > 0) said = QStringLiteral("%1:%2: %3").arg(text(error.file), QString::number(error.line), said);
    return said;
}

TokenLabel* wrapped(TokenLabel* label) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QWidget* ground(QWidget* widget, QPalette::ColorRole role) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(role);
    return widget;
}

}  // namespace

QString shellQuoted(const QStringList& words) {
    static const QRegularExpression harmless(QStringLiteral("^[A-Za-z0-9_./:=,+@%-]+$"));
    QStringList quoted;
    for (const QString& word : words) {
        QString safe = word;
        quoted << (harmless.match(word).hasMatch() ? word : QLatin1Char('\'') + safe.replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\''));
    }
    return quoted.join(QLatin1Char(' '));
}

AddJobsDialog::AddJobsDialog(PageContext context, QWidget* parent) : QDialog(parent), context_(context) {
    setWindowTitle(tr("Add jobs"));
    resize(1024, 668);
    setMinimumSize(860, 520);
    forecastTimer_.setSingleShot(true);
    forecastTimer_.setInterval(150);
    connect(&forecastTimer_, &QTimer::timeout, this, &AddJobsDialog::refreshForecast);
    resolveTimer_.setSingleShot(true);
    resolveTimer_.setInterval(200);
    connect(&resolveTimer_, &QTimer::timeout, this, &AddJobsDialog::resolveSource);

    auto* right = new QVBoxLayout;
    right->setSpacing(0);
    right->addWidget(makeForms(), 1);
    right->addWidget(makeForecast());
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(makeList());
    middle->addLayout(right, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(middle, 1);
    layout->addWidget(makeFooter());

    connect(&context_.services, &Services::started, this, &AddJobsDialog::loadCatalogue);
    // The queue moves on while one looks: so does the forecast, but not at every update.
    connect(&context_.board, &JobBoard::stateChanged, this, [this] {
        if (isVisible() && !forecastTimer_.isActive()) forecastTimer_.start(1000);
    });
    connect(&context_.board, &JobBoard::devicesChanged, this, &AddJobsDialog::formChanged);
    jobForm_->restore();
    loadCatalogue();
    search_->setFocus();
}

QWidget* AddJobsDialog::makeList() {
    auto* side = ground(new QWidget(this), QPalette::Base);
    side->setFixedWidth(listWidth);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 12, 0, 12);
    layout->setSpacing(gap);
    search_ = new QLineEdit(side);
    search_->setObjectName(QStringLiteral("kernelSearch"));
    search_->setPlaceholderText(tr("Search kernels"));
    search_->setClearButtonEnabled(true);
    search_->addAction(Theme::icon(QStringLiteral("search"), Token::Secondary), QLineEdit::LeadingPosition);
    connect(search_, &QLineEdit::textChanged, this, &AddJobsDialog::searchChanged);
    kernels_ = new KernelListModel(this);
    list_ = new QListView(side);
    list_->setObjectName(QStringLiteral("kernelList"));
    list_->setModel(kernels_);
    list_->setItemDelegate(new KernelDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setMouseTracking(true);
    list_->setUniformItemSizes(true);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, &AddJobsDialog::kernelChosen);
    listCount_ = new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary);
    listProblem_ = new TokenLabel(QString(), Theme::Type::Caption, Token::Warn);
    auto* open = new QPushButton(tr("Open source…"), side);
    open->setObjectName(QStringLiteral("openSource"));
    open->setIcon(Theme::icon(QStringLiteral("source")));
    open->setToolTip(tr("A kernel of your own: .cl or .cu"));
    connect(open, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Open a kernel source"), {}, tr("Kernel sources (*.cl *.cu);;All files (*)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, this, &AddJobsDialog::openSource);
        dialog->open();
    });
    auto* top = new QVBoxLayout;
    top->setContentsMargins(margin, 0, 12, 0);
    top->addWidget(search_);
    top->addWidget(listCount_);
    top->addWidget(listProblem_);
    auto* bottom = new QHBoxLayout;
    bottom->setContentsMargins(margin, 0, 12, 0);
    bottom->addWidget(open);
    bottom->addStretch(1);
    layout->addLayout(top);
    layout->addWidget(list_, 1);
    layout->addLayout(bottom);
    return side;
}

QWidget* AddJobsDialog::makeForms() {
    auto* content = new QWidget(this);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(margin, 12, margin, 12);
    layout->setSpacing(gap);
    name_ = new TokenLabel(QString(), Theme::Type::Title, Token::Text, true);
    name_->setObjectName(QStringLiteral("chosenKernel"));
    description_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Secondary));
    sourceButton_ = new QPushButton(tr("Source"), content);
    sourceButton_->setIcon(Theme::icon(QStringLiteral("source")));
    connect(sourceButton_, &QPushButton::clicked, this, &AddJobsDialog::showSource);
    auto* head = new QHBoxLayout;
    head->addWidget(name_);
    head->addStretch(1);
    head->addWidget(sourceButton_);
    parameterForm_ = new ParameterForm(content);
    sourceForm_ = new SourceForm(context_.services, content);
    forms_ = new QStackedWidget(content);
    forms_->addWidget(parameterForm_);
    forms_->addWidget(sourceForm_);
    jobForm_ = new JobForm(context_.services, context_.board, content);
    layout->addLayout(head);
    layout->addWidget(description_);
    layout->addSpacing(4);
    layout->addWidget(forms_);
    layout->addWidget(jobForm_);
    layout->addStretch(1);
    connect(parameterForm_, &ParameterForm::changed, this, &AddJobsDialog::formChanged);
    connect(jobForm_, &JobForm::changed, this, &AddJobsDialog::formChanged);
    connect(sourceForm_, &SourceForm::changed, this, &AddJobsDialog::sourceChanged);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(content);
    return scroll;
}

QWidget* AddJobsDialog::makeForecast() {
    auto* box = ground(new QWidget(this), QPalette::Base);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 12, 0, 12);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(margin, 0, margin, 0);
    head->addWidget(new TokenLabel(tr("What will happen"), Theme::Type::Text, Token::Text, true));
    forecastTitle_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    head->addWidget(forecastTitle_);
    head->addStretch(1);
    work_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    work_->setObjectName(QStringLiteral("work"));
    head->addWidget(work_);
    forecast_ = new ForecastTable(box);
    forecast_->setObjectName(QStringLiteral("forecast"));
    forecastScroll_ = new QScrollArea(box);  // many devices must not push the form away
    forecastScroll_->setWidgetResizable(true);
    forecastScroll_->setFrameShape(QFrame::NoFrame);
    forecastScroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    forecastScroll_->setWidget(ground(forecast_, QPalette::Base));
    forecastScroll_->hide();
    placement_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Text));
    placement_->setObjectName(QStringLiteral("placement"));
    planError_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Bad));
    planError_->setObjectName(QStringLiteral("planError"));
    layout->addLayout(head);
    layout->addWidget(forecastScroll_);
    for (TokenLabel* label : {placement_, planError_}) {
        auto* line = new QHBoxLayout;
        line->setContentsMargins(margin, 4, margin, 0);
        line->addWidget(label);
        layout->addLayout(line);
    }
    return box;
}

QWidget* AddJobsDialog::makeFooter() {
    auto* footer = new QWidget(this);
    auto* layout = new QHBoxLayout(footer);
    layout->setContentsMargins(margin, 12, margin, 12);
    layout->setSpacing(gap);
    copy_ = new QPushButton(tr("Copy as command"), footer);
    copy_->setObjectName(QStringLiteral("copyCommand"));
    copy_->setIcon(Theme::icon(QStringLiteral("copy")));
    copy_->setAutoDefault(false);
    connect(copy_, &QPushButton::clicked, this, &AddJobsDialog::copyCommand);
    message_ = wrapped(new TokenLabel(QString(), Theme::Type::Text, Token::Bad));
    message_->setObjectName(QStringLiteral("message"));
    auto* cancel = new QPushButton(tr("Cancel"), footer);
    cancel->setAutoDefault(false);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    addMore_ = new QPushButton(tr("Add and keep open"), footer);
    addMore_->setObjectName(QStringLiteral("addKeepOpen"));
    addMore_->setAutoDefault(false);
    connect(addMore_, &QPushButton::clicked, this, [this] { submit(true); });
    add_ = new QPushButton(footer);
    add_->setObjectName(QStringLiteral("addJobs"));
    add_->setProperty("accent", true);
    add_->setDefault(true);
    connect(add_, &QPushButton::clicked, this, [this] { submit(false); });
    layout->addWidget(copy_);
    layout->addWidget(message_, 1);
    layout->addWidget(cancel);
    layout->addWidget(addMore_);
    layout->addWidget(add_);
    return footer;
}

bool AddJobsDialog::ownSource() const { return forms_->currentWidget() == sourceForm_; }

void AddJobsDialog::loadCatalogue() {
    const auto catalogue = context_.services.kernels();
    kernels_->setCatalogue(catalogue);
    QStringList problems;
    if (catalogue)
        for (const Error& problem : catalogue->problems()) problems << errorText(problem);
    listProblem_->setVisible(!problems.isEmpty());
    listProblem_->setText(problems.size() == 1 ? tr("1 kernel package did not load") : tr("%1 kernel packages did not load").arg(problems.size()));
    listProblem_->setToolTip(problems.join(QLatin1Char('\n')));
    searchChanged();
    if (kernel_ || ownSource()) return;
    const std::string last = QSettings().value(QStringLiteral("addJobs/kernel")).toString().toStdString();
    if (kernels_->rowOf(last) >= 0) chooseKernel(last);
    else if (kernels_->rowCount() > 0) list_->setCurrentIndex(kernels_->index(0));
    formChanged();
}

void AddJobsDialog::searchChanged() {
    kernels_->setSearch(search_->text());
    const int shown = kernels_->rowCount(), all = kernels_->total();
    listCount_->setText(all == 0 ? tr("Kernels are being read …") : shown == all ? tr("%1 kernels").arg(all) : tr("%1 of %2 kernels").arg(shown).arg(all));
    if (!kernel_ || ownSource()) return;
    // The form keeps its kernel while one searches; it is marked in the list when it is there.
    if (const int row = kernels_->rowOf(kernel_->id); row >= 0) {
        const QSignalBlocker quiet(list_->selectionModel());
        list_->setCurrentIndex(kernels_->index(row));
    }
}

void AddJobsDialog::chooseKernel(const std::string& id) {
    if (kernels_->rowOf(id) < 0) search_->clear();
    if (const int row = kernels_->rowOf(id); row >= 0) list_->setCurrentIndex(kernels_->index(row));
}

void AddJobsDialog::kernelChosen() {
    const QModelIndex current = list_->currentIndex();
    if (!current.isValid()) return;
    const KernelPtr chosen = kernels_->kernel(current.row());
    if (chosen == kernel_ && !ownSource()) return;
    kernel_ = chosen;
    ++resolveRequest_;
    resolving_ = false;
    sourceProblem_.clear();
    name_->setText(text(kernel_->id));
    description_->setText(kernel_->description.empty() ? text(kernel_->title) : text(kernel_->description));
    description_->show();
    forms_->setCurrentWidget(parameterForm_);
    sourceForm_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    parameterForm_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    parameterForm_->setKernel(kernel_, rememberedValues(kernel_->id));
    jobForm_->setKernelFacts(outputsOf(*kernel_), text(kernel_->reference));
    formChanged();
}

void AddJobsDialog::openSource(const QString& file) {
    list_->selectionModel()->clear();
    kernel_ = nullptr;
    forms_->setCurrentWidget(sourceForm_);
    sourceForm_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    parameterForm_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    name_->setText(tr("Own source"));
    description_->hide();
    sourceForm_->openFile(file);
}

void AddJobsDialog::sourceChanged() {
    if (!ownSource()) return;
    jobForm_->setKernelFacts(sourceForm_->outputNames(), {});
    kernel_ = nullptr;
    sourceProblem_.clear();
    ++resolveRequest_;
    resolving_ = sourceForm_->problems().isEmpty();
    if (resolving_) resolveTimer_.start();
    else resolveTimer_.stop();
    formChanged();
}

void AddJobsDialog::resolveSource() {
    if (!ownSource() || !resolving_) return;
    const quint64 request = ++resolveRequest_;
    context_.services.loadOwnSource(sourceForm_->source(), this, [this, request](Result<KernelPtr> answer) {
        if (request != resolveRequest_) return;
        resolving_ = false;
        if (answer) kernel_ = *answer;
        else sourceProblem_ = errorText(answer.error());
        formChanged();
    });
}

Parameters AddJobsDialog::parameters() const { return ownSource() ? Parameters() : parameterForm_->values(); }

void AddJobsDialog::formChanged() {
    if (!message_ || !jobForm_) return;  // while the dialog is made
    planProblem_.clear();
    if (kernel_ && (ownSource() || parameterForm_->problems().isEmpty()))
        if (const auto plan = planLaunch(kernel_, parameters()); !plan) planProblem_ = errorText(plan.error());
    if (!submitting_) message_->clear();
    refreshProblems();
    forecastTimer_.start(150);
}

QStringList AddJobsDialog::problems() const {
    QStringList all = ownSource() ? sourceForm_->problems() : parameterForm_->problems();
    all << jobForm_->problems();
    if (!sourceProblem_.isEmpty()) all << sourceProblem_;
    if (!planProblem_.isEmpty()) all << planProblem_;
    if (all.isEmpty() && !kernel_) all << (resolving_ ? tr("Reading the source …") : tr("Choose a kernel."));
    return all;
}

void AddJobsDialog::refreshProblems() {
    const bool ready = problems().isEmpty() && !submitting_;
    const std::size_t count = jobForm_->jobCount();
    add_->setText(count == 1 ? tr("Add job") : count == 0 ? tr("Add jobs") : tr("Add %1 jobs").arg(format::count(count)));
    for (QPushButton* button : {add_, addMore_, copy_}) button->setEnabled(ready);
    add_->setToolTip(ready ? QString() : problems().join(QLatin1Char('\n')));
    const QString said = !sourceProblem_.isEmpty() ? sourceProblem_ : planProblem_;
    planError_->setText(said);
    planError_->setVisible(!said.isEmpty());
    sourceButton_->setVisible(kernel_ && !kernel_->variants.empty());
}

std::vector<JobSpec> AddJobsDialog::jobs() const {
    return problems().isEmpty() ? jobForm_->jobs(kernel_, parameters()) : std::vector<JobSpec>();
}

void AddJobsDialog::refreshForecast() {
    const bool complete = kernel_ && planProblem_.isEmpty() && (ownSource() || parameterForm_->problems().isEmpty()) && jobForm_->problems().isEmpty();
    if (!complete) {
        forecastScroll_->hide();
        forecast_->setRows({});
        work_->clear();
        forecastTitle_->clear();
        placement_->setText(planProblem_.isEmpty() && sourceProblem_.isEmpty() ? tr("Said here as soon as the form is right.") : QString());
        placement_->setVisible(!placement_->text().isEmpty());
        return;
    }
    const auto plan = planLaunch(kernel_, parameters());
    const auto targets = jobForm_->targets();
    if (!plan) return;
    JobSpec job;
    job.kernel = kernel_;
    job.parameters = parameters();
    job.device = targets.size() == 1 ? targets.front() : std::string();
    showForecast(forecastFor(*plan, job, context_));
}

void AddJobsDialog::showForecast(const Forecast& forecast) {
    forecast_->setRows(forecast.rows);
    forecastScroll_->setFixedHeight(std::min(forecast_->sizeHint().height(), forecastHeight));
    forecastScroll_->setVisible(!forecast.rows.empty());
    const std::size_t count = jobForm_->jobCount();
    forecastTitle_->setText(count > 1 ? tr("to each of the %1 jobs").arg(format::count(count)) : QString());
    QStringList work;
    if (forecast.flops) work << format::rate(*forecast.flops, QStringLiteral("FLOP"));
    if (forecast.bytes) work << tr("%1 moved").arg(format::bytes(*forecast.bytes));
    work << tr("%1 in buffers").arg(format::bytes(static_cast<double>(forecast.bufferBytes)));
    work_->setText(work.join(QStringLiteral(" · ")));
    const bool each = jobForm_->targets().size() > 1;
    placement_->setText(each && forecast.runnable ? tr("One on each device, whatever the policy.") : forecast.placement);
    placement_->setToken(forecast.runnable ? Token::Text : Token::Bad);
    placement_->setVisible(!placement_->text().isEmpty());
}

void AddJobsDialog::submit(bool keepOpen) {
    auto specs = jobs();
    if (specs.empty() || submitting_) return;
    submitting_ = true;
    message_->setToken(Token::Secondary);
    message_->setText(tr("Adding …"));
    refreshProblems();
    remember();
    context_.services.submit(std::move(specs), this, [this, keepOpen](Result<std::vector<JobId>> answer) { submitted(answer, keepOpen); });
}

void AddJobsDialog::submitted(const Result<std::vector<JobId>>& answer, bool keepOpen) {
    submitting_ = false;
    refreshProblems();
    if (!answer) {
        message_->setToken(Token::Bad);
        message_->setText(errorText(answer.error()));
        return;
    }
    QList<quint64> added;
    for (const JobId id : *answer) added << id;
    emit jobsAdded(added);
    if (!keepOpen) {
        accept();
        return;
    }
    message_->setToken(Token::Good);
    message_->setText(added.size() == 1 ? tr("%1 added").arg(format::jobNumber(added.first()))
                      : added.isEmpty() ? QString()
                                        : tr("%1 to %2 added").arg(format::jobNumber(added.first()), format::jobNumber(added.last())));
}

void AddJobsDialog::remember() const {
    jobForm_->remember();
    if (ownSource() || !kernel_) return;
    QSettings settings;
    settings.setValue(QStringLiteral("addJobs/kernel"), text(kernel_->id));
    QVariantMap values;
    for (const auto& [name, value] : parameterForm_->values()) values[text(name)] = value;
    settings.setValue(valuesKey(kernel_->id), values);
}

QString AddJobsDialog::commandLine() const {
    if (!problems().isEmpty()) return {};
    QStringList lines;
    for (const QStringList& arguments : jobForm_->commandArguments()) {
        QStringList words{QStringLiteral("heteroscope"), QStringLiteral("run")};
        if (ownSource()) {
            words << sourceForm_->commandArguments();
        } else {
            words << text(kernel_->id);
            for (const auto& [name, value] : parameterForm_->values())
                words << QStringLiteral("-p") << text(name) + QLatin1Char('=') + writeNumber(value);
        }
        words << arguments;
        lines << shellQuoted(words);
    }
    return lines.join(QLatin1Char('\n'));
}

void AddJobsDialog::copyCommand() {
    const QString line = commandLine();
    QGuiApplication::clipboard()->setText(line);
    message_->setToken(Token::Secondary);
    const QString missing = jobForm_->beyondCommandLine();
    message_->setText(missing.isEmpty() ? tr("Copied.") : tr("Copied, without what the command has no option for: %1.").arg(missing));
}

void AddJobsDialog::showSource() {
    if (!kernel_ || kernel_->variants.empty()) return;
    const ProgramSource& source = kernel_->variants.front().source;
    showText(this, text(source.file), text(source.text), true);
}

}  // namespace heteroscope
