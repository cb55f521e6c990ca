#include "ui/compare/compare_page.h"

#include "scheduler/policy.h"
#include "ui/ask.h"
#include "ui/compare/comparison_model.h"
#include "ui/compare/gantt_view.h"
#include "ui/compare/makespan_chart.h"
#include "ui/compare/run_inspector.h"
#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/services.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/segmented_control.h"
#include "ui/widgets/token_label.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QThreadPool>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <unordered_map>

namespace heteroscope {
namespace {

constexpr int mostJobsToCompare = 20'000;

QStringList defaultPolicies() {
    QStringList names;
    for (const auto& policy : policies()) names << QString::fromStdString(policy.id);
    return names.mid(0, 6);
}

/// Writes on a pool thread; the answer comes to `context`.
void writeFile(const QString& file, QByteArray bytes, QObject* context, std::function<void(QString)> done) {
    auto answer = onThreadOf<QString>(context, std::move(done));
    QThreadPool::globalInstance()->start([file, bytes = std::move(bytes), answer] {
        QSaveFile out(file);
        const bool written = out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit();
        answer(written ? QString() : out.errorString());
    });
}

}  // namespace

ComparePage::ComparePage(PageContext context, QWidget* parent) : Page(parent), context_(context) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(makeProgress());
    auto* empty = new EmptyState(
        tr("No comparison yet"),
        tr("Choose some work and two or more policies. Every policy runs all of it for real, on copies of its data, one after the "
           "other; the queue rests meanwhile. You get makespan, waits, utilisation and one Gantt chart for each, on one time axis."));
    connect(empty->addAction(tr("Compare"), true), &QPushButton::clicked, this, &ComparePage::start);
    stack_ = new QStackedWidget;
    stack_->addWidget(empty);
    stack_->addWidget(makeResults());
    layout->addWidget(stack_, 1);

    connect(&context_.services, &Services::started, this, &ComparePage::fillWorkloads);
    connect(&context_.board, &JobBoard::stateChanged, this, [this] {
        // The entry of the waiting jobs carries their number; the list is rebuilt only while nobody has it open.
        if (!workload_->view()->isVisible()) fillWorkloads();
    });
    QSettings settings;
    setChosenPolicies(settings.value(QStringLiteral("compare/policies"), defaultPolicies()).toStringList());
    repeats_->setValue(settings.value(QStringLiteral("compare/repeats"), 1).toInt());
    fillWorkloads();
}

QString ComparePage::subtitle() const {
    if (comparison_.runs.empty()) return {};
    return tr("%1 policies · %2 jobs").arg(comparison_.policies().size()).arg(format::count(comparison_.jobs));
}

void ComparePage::saveState() {
    QSettings settings;
    settings.setValue(QStringLiteral("compare/policies"), chosenPolicies());
    settings.setValue(QStringLiteral("compare/repeats"), repeats_->value());
    settings.setValue(QStringLiteral("compare/splitter"), splitter_->saveState());
}

// ------------------------------------------------------------------------------------------ what to compare

QWidget* ComparePage::makeBar() {
    auto* bar = new Bar(Token::Window, Bar::Edge::Bottom);
    bar->setFixedHeight(48);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 0, 16, 0);
    row->setSpacing(8);
    const auto label = [&](const QString& text, QWidget* buddy) {
        auto* made = new TokenLabel(text, Theme::Type::Text, Token::Secondary);
        made->setBuddy(buddy);
        row->addWidget(made);
        row->addWidget(buddy);
        row->addSpacing(8);
    };
    workload_ = new QComboBox;
    workload_->setMinimumWidth(240);
    workload_->setAccessibleName(tr("Workload"));
    connect(workload_, &QComboBox::activated, this, [this](int index) {
        if (index != workload_->count() - 1) return;
        const QString file = QFileDialog::getOpenFileName(this, tr("Open a workload"), {}, tr("Workloads (*.json);;All files (*)"));
        workload_->setCurrentIndex(0);
        if (!file.isEmpty()) openWorkload(file);
    });
    label(tr("&Workload"), workload_);
    policies_ = new QPushButton;
    policyMenu_ = new QMenu(policies_);
    policies_->setMenu(policyMenu_);
    policies_->setAccessibleName(tr("Policies to compare"));
    fillPolicies();
    label(tr("&Policies"), policies_);
    repeats_ = new QSpinBox;
    repeats_->setRange(1, 50);
    repeats_->setToolTip(tr("Runs of each policy. The table shows medians; the order of the policies rotates."));
    repeats_->setAccessibleName(tr("Repeat"));
    label(tr("&Repeat"), repeats_);
    auto* mode = new TokenLabel(tr("run for real"), Theme::Type::Caption, Token::Secondary);
    mode->setToolTip(tr("Every run executes its kernels on this machine's devices. Each kernel is built and run twice on every device "
                        "before, so that no policy pays for the compiler."));
    row->addWidget(mode);
    row->addStretch();
    compare_ = new QPushButton(Theme::icon(QStringLiteral("play"), Token::OnAccent), tr("Compare"));
    compare_->setProperty("accent", true);
    connect(compare_, &QPushButton::clicked, this, &ComparePage::start);
    row->addWidget(compare_);
    return bar;
}

QWidget* ComparePage::makeProgress() {
    auto* column = new QWidget;
    auto* layout = new QVBoxLayout(column);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    progressRow_ = new Bar(Token::Card, Bar::Edge::Bottom);
    auto* row = new QHBoxLayout(progressRow_);
    row->setContentsMargins(16, 8, 16, 8);
    row->setSpacing(12);
    phase_ = new TokenLabel;
    phase_->setMinimumWidth(280);
    row->addWidget(phase_);
    progress_ = new QProgressBar;
    progress_->setTextVisible(false);
    row->addWidget(progress_, 1);
    auto* cancel = new QPushButton(Theme::icon(QStringLiteral("stop")), tr("Cancel"));
    cancel->setToolTip(tr("Ends the comparison; runs that are complete stay"));
    connect(cancel, &QPushButton::clicked, this, [this] {
        phase_->setText(tr("Cancelling: what runs now ends first…"));
        context_.services.cancelComparison();
    });
    row->addWidget(cancel);
    progressRow_->hide();
    layout->addWidget(progressRow_);
    message_ = new TokenLabel;
    message_->setWordWrap(true);
    message_->setContentsMargins(16, 8, 16, 8);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    message_->hide();
    layout->addWidget(message_);
    return column;
}

void ComparePage::fillWorkloads() {
    const QString chosen = workload_->currentText();
    const auto chosenWork = workload_->currentIndex() >= 0 && workload_->currentIndex() < static_cast<int>(works_.size())
                                ? std::optional(works_[static_cast<std::size_t>(workload_->currentIndex())])
                                : std::nullopt;
    std::vector<Work> picked;  // files and selections a person chose stay
    for (const auto& work : works_) {
        const bool sample = context_.services.sampleWorkloads().contains(work.file);
        if (work.name.startsWith(tr("Jobs in the queue")) || sample) continue;
        picked.push_back(work);
    }
    std::vector<Work> works = picked;
    std::vector<JobId> open;
    for (const auto& [id, job] : context_.board.jobs()) {
        if (!isFinal(job.state) && job.spec) open.push_back(id);
    }
    if (!open.empty()) works.push_back({tr("Jobs in the queue (%1)").arg(format::count(open.size())), {}, std::move(open)});
    for (const auto& file : context_.services.sampleWorkloads()) {
        works.push_back({QFileInfo(file).fileName().section(QLatin1Char('.'), 0, 0), file, {}});
    }
    QStringList names;
    for (const auto& work : works) names << work.name;
    QStringList before;
    for (const auto& work : works_) before << work.name;
    works_ = std::move(works);
    if (names == before && workload_->count() > 0) return;
    const QSignalBlocker quiet(workload_);
    workload_->clear();
    workload_->addItems(names);
    workload_->insertSeparator(workload_->count());
    workload_->addItem(tr("Open a file…"));
    int index = chosen.isEmpty() ? -1 : workload_->findText(chosen);  // the separator's text is empty
    if (index < 0 && chosenWork && chosenWork->file.isEmpty()) index = workload_->findText(tr("Jobs in the queue"), Qt::MatchStartsWith);
    if (index < 0) index = std::max(0, workload_->findText(QStringLiteral("first-steps")));
    workload_->setCurrentIndex(index);
}

void ComparePage::fillPolicies() {
    for (const auto& policy : policies()) {
        auto* action = policyMenu_->addAction(QString::fromStdString(policy.id));
        action->setCheckable(true);
        action->setToolTip(QString::fromStdString(policy.description));
        connect(action, &QAction::toggled, this, &ComparePage::policiesChanged);
    }
    policyMenu_->setToolTipsVisible(true);
    policiesChanged();
}

QStringList ComparePage::chosenPolicies() const {
    QStringList names;
    for (const auto* action : policyMenu_->actions()) {
        if (action->isChecked()) names << action->text();
    }
    return names;
}

void ComparePage::setChosenPolicies(const QStringList& names) {
    for (auto* action : policyMenu_->actions()) action->setChecked(names.contains(action->text()));
    policiesChanged();
}

void ComparePage::policiesChanged() {
    const auto chosen = chosenPolicies();
    policies_->setText(chosen.size() == 1 ? chosen.first() : tr("%1 chosen").arg(chosen.size()));
    policies_->setToolTip(chosen.join(QStringLiteral(", ")));
}

void ComparePage::openWorkload(const QString& file) {
    const QString name = QFileInfo(file).fileName();
    const auto known = std::find_if(works_.begin(), works_.end(), [&](const Work& work) { return work.file == file; });
    if (known == works_.end()) works_.insert(works_.begin(), Work{name, file, {}});
    const QString text = known == works_.end() ? name : known->name;
    workload_->clear();  // forces the list to be laid out anew
    fillWorkloads();
    workload_->setCurrentIndex(std::max(0, workload_->findText(text)));
}

void ComparePage::compareJobs(const QList<quint64>& jobs) {
    Work work;
    work.name = tr("Chosen jobs (%1)").arg(format::count(static_cast<std::uint64_t>(jobs.size())));
    work.jobs.assign(jobs.begin(), jobs.end());
    std::erase_if(works_, [&](const Work& other) { return other.name.startsWith(tr("Chosen jobs")); });
    works_.insert(works_.begin(), work);
    workload_->clear();
    fillWorkloads();
    workload_->setCurrentIndex(std::max(0, workload_->findText(work.name)));
}

// ------------------------------------------------------------------------------------------ running

void ComparePage::start() {
    if (running_) return;
    if (!context_.services.engine()) return say(tr("The engine is still starting."), false);
    if (context_.services.comparing()) return say(tr("A comparison is running already."), true);
    if (chosenPolicies().isEmpty()) return say(tr("No policy is chosen: tick at least one under Policies."), true);
    const int index = workload_->currentIndex();
    if (index < 0 || index >= static_cast<int>(works_.size())) return say(tr("No workload is chosen."), true);
    const Work work = works_[static_cast<std::size_t>(index)];
    if (work.file.isEmpty()) {
        auto jobs = templatesOf(work.jobs);
        if (jobs.empty()) return say(tr("These jobs are gone: choose others."), true);
        return startWith(std::move(jobs), work.name);
    }
    setRunning(true);
    phase_->setText(tr("Reading %1…").arg(QFileInfo(work.file).fileName()));
    context_.services.loadWorkload(work.file, this, [this, work](Result<Workload> workload) {
        setRunning(false);
        if (!workload) return say(QString::fromStdString(workload.error().message), true);
        if (!workload->runnable()) {
            return say(tr("%1 has jobs with costs but no kernel: they cannot run for real.").arg(work.name), true);
        }
        startWith(workload->jobSpecs(), QString::fromStdString(workload->name.empty() ? work.name.toStdString() : workload->name));
    });
}

void ComparePage::startWith(std::vector<JobSpec> jobs, const QString& name) {
    if (jobs.size() > mostJobsToCompare) {
        return say(tr("%1 jobs are too many to run under every policy: up to %2.")
                       .arg(format::count(jobs.size()), format::count(mostJobsToCompare)), true);
    }
    ComparisonRequest request;
    request.name = name.toStdString();
    request.jobs = std::move(jobs);
    for (const auto& policy : chosenPolicies()) request.policies.push_back(policy.toStdString());
    request.repeats = repeats_->value();
    say({}, false);
    setRunning(true);
    context_.services.compare(
        std::move(request), this, [this](ComparisonProgress progress) { showProgress(progress); },
        [this](Result<Comparison> result) { finished(result); });
}

/// Templates as ComparisonRequest wants them: ids are positions + 1; dependencies outside the choice count as met.
std::vector<JobSpec> ComparePage::templatesOf(const std::vector<JobId>& jobs) const {
    std::unordered_map<JobId, JobId> position;
    std::vector<JobSpec> templates;
    for (const JobId id : jobs) {
        const auto* job = context_.board.find(id);
        if (!job || !job->spec) continue;
        position[id] = templates.size() + 1;
        templates.push_back(*job->spec);
    }
    for (auto& job : templates) {
        job.id = position[job.id];
        std::vector<JobId> after;
        for (const JobId before : job.after) {
            if (const auto it = position.find(before); it != position.end()) after.push_back(it->second);
        }
        job.after = std::move(after);
    }
    return templates;
}

void ComparePage::showProgress(const ComparisonProgress& progress) {
    if (!running_) return;
    phase_->setText(tr("%1 · %2 of %3 jobs").arg(QString::fromStdString(progress.phase), format::count(progress.done), format::count(progress.total)));
    progress_->setRange(0, static_cast<int>(progress.total));
    progress_->setValue(static_cast<int>(progress.done));
}

void ComparePage::finished(const Result<Comparison>& result) {
    setRunning(false);
    if (!result) return say(QString::fromStdString(result.error().message), result.error().kind != ErrorKind::Cancelled);
    setComparison(*result);
    if (!result->complete) say(tr("Cancelled: the runs that were complete are shown."), false);
}

void ComparePage::setRunning(bool running) {
    running_ = running;
    progressRow_->setVisible(running);
    compare_->setEnabled(!running);
    progress_->setRange(0, 0);
    phase_->setText(tr("Waits for the queue to rest…"));
}

void ComparePage::say(const QString& text, bool bad) {
    message_->setText(text);
    message_->setToken(bad ? Token::Bad : Token::Secondary);
    message_->setVisible(!text.isEmpty());
}

// ------------------------------------------------------------------------------------------ results

QWidget* ComparePage::makeResults() {
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeResultsBar());

    model_ = new ComparisonModel(this);
    sorted_ = new QSortFilterProxyModel(this);
    sorted_->setSourceModel(model_);
    sorted_->setSortRole(ComparisonModel::SortRole);
    table_ = new QTableView;
    table_->setModel(sorted_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(ComparisonModel::MakespanColumn, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setShowGrid(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(28);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setStretchLastSection(false);
    table_->setAccessibleName(tr("Policies and their figures"));
    layout->addWidget(table_);

    auto* chartBar = new Bar(Token::Window, Bar::Edge::Bottom);
    chartBar->setFixedHeight(44);
    auto* row = new QHBoxLayout(chartBar);
    row->setContentsMargins(16, 0, 16, 0);
    row->setSpacing(8);
    view_ = new SegmentedControl({tr("Gantt"), tr("Bars")});
    row->addWidget(view_);
    legend_ = new QWidget;
    auto* legendRow = new QHBoxLayout(legend_);
    legendRow->setContentsMargins(8, 0, 0, 0);
    legendRow->setSpacing(4);
    row->addWidget(legend_, 1);
    ganttTools_ = new QWidget;
    auto* tools = new QHBoxLayout(ganttTools_);
    tools->setContentsMargins(0, 0, 0, 0);
    tools->setSpacing(4);
    gantt_ = new GanttView;
    const auto tool = [&](const QString& icon, const QString& tip, void (GanttView::*slot)()) {
        auto* button = new QToolButton;
        button->setIcon(Theme::icon(icon));
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        connect(button, &QToolButton::clicked, gantt_, slot);
        tools->addWidget(button);
    };
    tool(QStringLiteral("zoom-in"), tr("Zoom in (W, Ctrl+wheel)"), &GanttView::zoomIn);
    tool(QStringLiteral("zoom-out"), tr("Zoom out (S)"), &GanttView::zoomOut);
    tool(QStringLiteral("zoom-fit"), tr("Fit (F)"), &GanttView::fit);
    row->addWidget(ganttTools_);
    layout->addWidget(chartBar);

    bars_ = new MakespanChart;
    charts_ = new QStackedWidget;
    charts_->addWidget(gantt_);
    charts_->addWidget(bars_);
    inspector_ = new RunInspector;
    inspector_->hide();
    splitter_ = new QSplitter(Qt::Horizontal);
    splitter_->addWidget(charts_);
    splitter_->addWidget(inspector_);
    splitter_->setStretchFactor(0, 1);
    splitter_->setChildrenCollapsible(false);
    splitter_->setSizes({800, 272});
    splitter_->restoreState(QSettings().value(QStringLiteral("compare/splitter")).toByteArray());
    layout->addWidget(splitter_, 1);

    connect(view_, &SegmentedControl::currentChanged, this, [this](int index) {
        charts_->setCurrentIndex(index);
        ganttTools_->setVisible(index == 0);
        legend_->setVisible(index == 0);
        inspector_->setVisible(index == 0 && gantt_->selection());
    });
    connect(gantt_, &GanttView::selectionChanged, this, &ComparePage::showSelection);
    connect(inspector_, &RunInspector::closeRequested, this, [this] { gantt_->select(std::nullopt); });
    connect(inspector_, &RunInspector::selectRequested, this,
            [this](std::size_t run, std::size_t job) { gantt_->select(GanttSelection{run, job}); }, Qt::QueuedConnection);
    return page;
}

QWidget* ComparePage::makeResultsBar() {
    auto* bar = new Bar(Token::Card, Bar::Edge::Bottom);
    bar->setFixedHeight(44);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 0, 16, 0);
    row->setSpacing(8);
    resultName_ = new TokenLabel({}, Theme::Type::Text, Token::Text, true);
    row->addWidget(resultName_);
    resultNote_ = new TokenLabel({}, Theme::Type::Caption, Token::Secondary);
    resultNote_->setElided(true);
    row->addWidget(resultNote_, 1);
    auto* open = new QPushButton(tr("Open"));
    storedMenu_ = new QMenu(open);
    open->setMenu(storedMenu_);
    open->setToolTip(tr("A comparison stored in history"));
    connect(storedMenu_, &QMenu::aboutToShow, this, &ComparePage::fillStored);
    row->addWidget(open);
    auto* renameButton = new QPushButton(tr("Rename…"));
    connect(renameButton, &QPushButton::clicked, this, &ComparePage::rename);
    row->addWidget(renameButton);
    auto* copy = new QPushButton(Theme::icon(QStringLiteral("copy")), tr("Copy table"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(model_->toText()); });
    row->addWidget(copy);
    auto* save = new QPushButton(tr("Export…"));
    connect(save, &QPushButton::clicked, this, &ComparePage::exportResult);
    row->addWidget(save);
    return bar;
}

QStringList ComparePage::deviceNames(const Comparison& comparison) const {
    QStringList names;
    for (const auto& device : comparison.devices) names << context_.board.deviceShortName(device);
    return names;
}

void ComparePage::setComparison(const Comparison& comparison) {
    comparison_ = comparison;
    const auto names = deviceNames(comparison);
    model_->setComparison(comparison, names);
    gantt_->setComparison(comparison, names);
    bars_->setComparison(comparison);
    resultName_->setText(QString::fromStdString(comparison.name));
    QStringList notes{format::dateTime(comparison.createdAt), tr("%1 jobs").arg(format::count(comparison.jobs)),
                      comparison.simulated ? tr("simulated") : tr("run for real")};
    if (!comparison.complete) notes << tr("not complete");
    resultNote_->setText(notes.join(QStringLiteral(" · ")));

    auto* header = table_->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Stretch);
    const int rows = std::clamp(model_->rowCount(), 1, 8);
    table_->setFixedHeight(header->sizeHint().height() + rows * table_->rowHeight(0) + 4);
    qDeleteAll(legend_->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    auto* row = static_cast<QHBoxLayout*>(legend_->layout());
    while (auto* item = row->takeAt(0)) delete item;
    const auto kernels = gantt_->legend();
    for (int i = 0; i < kernels.size() && i < 4; ++i) {
        row->addWidget(new Swatch(i));
        row->addWidget(new TokenLabel(kernels[i], Theme::Type::Caption, Token::Secondary));
        row->addSpacing(8);
    }
    if (kernels.size() > 4) row->addWidget(new TokenLabel(tr("grey: %n others", nullptr, static_cast<int>(kernels.size()) - 4), Theme::Type::Caption, Token::Secondary));
    row->addStretch();
    stack_->setCurrentIndex(comparison.runs.empty() ? 0 : 1);
    emit subtitleChanged();
}

void ComparePage::showSelection() {
    const auto selection = gantt_->selection();
    inspector_->setVisible(selection && view_->current() == 0);
    if (selection) inspector_->show(comparison_, deviceNames(comparison_), *selection);
}

void ComparePage::openComparison(qint64 id) {
    if (!context_.services.history()) return;
    context_.services.history()->comparison(id, onThreadOf<Result<Comparison>>(this, [this](Result<Comparison> stored) {
        if (!stored) return say(QString::fromStdString(stored.error().message), true);
        say({}, false);
        setComparison(*stored);
    }));
}

void ComparePage::fillStored() {
    storedMenu_->clear();
    auto* reading = storedMenu_->addAction(tr("Reading history…"));
    reading->setEnabled(false);
    if (!context_.services.history()) return;
    context_.services.history()->comparisons(onThreadOf<Result<std::vector<ComparisonRow>>>(
        this, [this](Result<std::vector<ComparisonRow>> rows) {
            storedMenu_->clear();
            if (!rows || rows->empty()) {
                storedMenu_->addAction(rows ? tr("None is stored yet") : QString::fromStdString(rows.error().message))->setEnabled(false);
                return;
            }
            for (std::size_t i = 0; i < std::min<std::size_t>(rows->size(), 20); ++i) {
                const auto& stored = (*rows)[i];
                auto* action = storedMenu_->addAction(tr("%1 · %2 · %3 jobs, %4 policies")
                                                          .arg(QString::fromStdString(stored.name), format::dateTime(stored.createdAt),
                                                               format::count(stored.jobs), format::count(stored.policies)));
                connect(action, &QAction::triggered, this, [this, id = stored.id] { openComparison(id); });
            }
        }));
}

void ComparePage::rename() {
    bool accepted = false;
    const QString name = QInputDialog::getText(this, tr("Rename the comparison"), tr("Name"), QLineEdit::Normal,
                                               QString::fromStdString(comparison_.name), &accepted).trimmed();
    if (!accepted || name.isEmpty()) return;
    comparison_.name = name.toStdString();
    resultName_->setText(name);
    if (comparison_.id > 0) context_.services.renameComparison(comparison_.id, name);
}

void ComparePage::exportResult() {
    QString file = QFileDialog::getSaveFileName(this, tr("Export the comparison"), QString::fromStdString(comparison_.name) + QStringLiteral(".json"),
                                                tr("JSON (*.json);;CSV (*.csv);;Picture of the chart (*.png)"));
    if (file.isEmpty()) return;
    if (file.endsWith(QStringLiteral(".png"), Qt::CaseInsensitive)) {
        const QPixmap picture = charts_->currentWidget()->grab();
        auto answer = onThreadOf<QString>(this, [this](QString failure) {
            if (!failure.isEmpty()) say(failure, true);
        });
        QThreadPool::globalInstance()->start([image = picture.toImage(), file, answer] {
            answer(image.save(file) ? QString() : ComparePage::tr("%1 could not be written").arg(file));
        });
        return;
    }
    const bool csv = file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive);
    const auto text = csv ? comparisonToCsv(comparison_) : comparisonToJson(comparison_);
    writeFile(file, QByteArray::fromStdString(text), this, [this, file](QString failure) {
        if (!failure.isEmpty()) say(tr("%1: %2").arg(file, failure), true);
    });
}

}  // namespace heteroscope
