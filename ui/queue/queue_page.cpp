#include "ui/queue/queue_page.h"

#include "scheduler/workload/workload.h"
#include "ui/ask.h"
#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/job_pane.h"
#include "ui/queue/job_delegate.h"
#include "ui/queue/job_filter_model.h"
#include "ui/queue/job_table_model.h"
#include "ui/queue/state_chips.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollBar>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QThreadPool>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace heteroscope {
namespace {

constexpr int barMargin = 16, gap = 8, smallPane = 320;
constexpr std::array defaultWidths{108, 52, 156, 92, 220, 44, 76, 68, 68, 72};
static_assert(defaultWidths.size() == JobTableModel::ColumnCount);

bool canCancel(const JobSnapshot& job) { return !isFinal(job.state); }
bool canRetry(const JobSnapshot& job) { return isFinal(job.state) && job.state != JobState::Succeeded; }
bool canReorder(const JobSnapshot& job) {
    return job.state == JobState::Waiting || job.state == JobState::Ready || job.state == JobState::Assigned;
}
bool canRunAgain(const JobSnapshot& job) { return job.spec != nullptr; }
bool anyJob(const JobSnapshot&) { return true; }

QString jobCount(std::size_t n) {
    return n == 1 ? QueuePage::tr("1 job") : QueuePage::tr("%1 jobs").arg(format::count(n));
}

/// Blocks on the disk: not on the window's thread.
QString writeFile(const QString& file, const std::vector<std::shared_ptr<const JobSpec>>& specs) {
    std::set<JobId> written;
    for (const auto& spec : specs) written.insert(spec->id);
    std::vector<JobSpec> jobs;
    jobs.reserve(specs.size());
    for (const auto& spec : specs) {
        jobs.push_back(*spec);
        // What a job waited for and is not in the file is over, or was left out by choice.
        std::erase_if(jobs.back().after, [&](JobId before) { return !written.contains(before); });
    }
    const std::string document = jobsToWorkloadJson(jobs, QFileInfo(file).completeBaseName().section(QLatin1Char('.'), 0, 0).toStdString());
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(document.data(), static_cast<qint64>(document.size())) < 0 || !out.commit())
        return file + QStringLiteral(": ") + out.errorString();
    return {};
}

QString errorText(const Error& error) {
    QString place;
    if (!error.file.empty() && error.message.find(error.file) == std::string::npos) {
        place = QString::fromStdString(error.file);
        if (error.line > 0) place += QLatin1Char(':') + QString::number(error.line);
        place += QStringLiteral(": ");
    }
    return place + QString::fromStdString(error.message);
}

}  // namespace

QueuePage::QueuePage(PageContext context, QWidget* parent) : Page(parent), context_(context) {
    jobs_ = new JobTableModel(context_.board, this);
    rows_ = new JobFilterModel(*jobs_, this);
    makeActions();

    stack_ = new QStackedWidget(this);
    stack_->addWidget(makeTable());
    stack_->addWidget(makeEmpty());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(stack_, 1);
    footer_ = makeFooter();
    layout->addWidget(footer_);

    connect(&context_.board, &JobBoard::stateChanged, this, &QueuePage::boardChanged);
    connect(&context_.board, &JobBoard::jobsChanged, this, [this](const std::vector<JobId>& changed) {
        if (pane_->job() != 0 && std::find(changed.begin(), changed.end(), pane_->job()) != changed.end()) paneTimer_.start();
    });
    connect(&context_.services, &Services::started, this, &QueuePage::boardChanged);
    connect(rows_, &QAbstractItemModel::modelAboutToBeReset, this, &QueuePage::keepSelection);
    connect(rows_, &QAbstractItemModel::modelReset, this, &QueuePage::giveSelectionBack);
    connect(rows_, &QAbstractItemModel::rowsInserted, this, &QueuePage::refreshEmpty);
    connect(rows_, &QAbstractItemModel::rowsRemoved, this, &QueuePage::refreshEmpty);

    clock_.setInterval(250);
    connect(&clock_, &QTimer::timeout, this, [this] {
        if (table_->isVisible()) table_->viewport()->update();
    });
    paneTimer_.setSingleShot(true);
    paneTimer_.setInterval(80);
    connect(&paneTimer_, &QTimer::timeout, this, &QueuePage::refreshPane);
    searchTimer_.setSingleShot(true);
    searchTimer_.setInterval(120);
    connect(&searchTimer_, &QTimer::timeout, this, &QueuePage::filterChanged);
    restoreState();
    boardChanged();
    refreshEmpty();
}

QAction* QueuePage::makeAction(const QString& name, const QString& text, const QString& icon, const QKeySequence& keys) {
    auto* action = new QAction(text, this);
    action->setObjectName(name);
    if (!icon.isEmpty()) action->setIcon(Theme::icon(icon));
    if (!keys.isEmpty()) {
        action->setShortcut(keys);
        action->setToolTip(QStringLiteral("%1 (%2)").arg(text, keys.toString(QKeySequence::NativeText)));
    }
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    return action;
}

void QueuePage::makeActions() {
    cancel_ = makeAction(QStringLiteral("cancelJobs"), tr("Cancel"), QStringLiteral("cancel"), QKeySequence::Delete);
    retry_ = makeAction(QStringLiteral("retryJobs"), tr("Retry"), QStringLiteral("retry"), QKeySequence(QStringLiteral("Ctrl+Shift+R")));
    again_ = makeAction(QStringLiteral("runJobsAgain"), tr("Run again"), QStringLiteral("refresh"), QKeySequence(QStringLiteral("Ctrl+R")));
    raise_ = makeAction(QStringLiteral("raisePriority"), tr("Raise priority"), QStringLiteral("arrow-up"), QKeySequence(QStringLiteral("Ctrl+Up")));
    lower_ = makeAction(QStringLiteral("lowerPriority"), tr("Lower priority"), QStringLiteral("arrow-down"), QKeySequence(QStringLiteral("Ctrl+Down")));
    setPriority_ = makeAction(QStringLiteral("setPriority"), tr("Set priority…"), QStringLiteral("priority"), QKeySequence(QStringLiteral("Ctrl+Shift+P")));
    copy_ = makeAction(QStringLiteral("copyJobs"), tr("Copy"), QStringLiteral("copy"), QKeySequence::Copy);
    compare_ = makeAction(QStringLiteral("compareJobs"), tr("Compare policies on these"), QStringLiteral("compare"), {});
    compare_->setIconText(tr("Compare"));  // on its button
    details_ = makeAction(QStringLiteral("showDetails"), tr("Details"), QStringLiteral("info"), {});
    open_ = makeAction(QStringLiteral("openWorkload"), tr("Open a workload…"), QStringLiteral("open"), QKeySequence::Open);
    save_ = makeAction(QStringLiteral("saveQueue"), tr("Save the queue as a workload…"), QStringLiteral("save"), QKeySequence::Save);
    saveSelected_ = makeAction(QStringLiteral("saveSelected"), tr("Save as a workload…"), QStringLiteral("save"), {});
    connect(cancel_, &QAction::triggered, this, &QueuePage::cancelSelected);
    connect(retry_, &QAction::triggered, this, &QueuePage::retrySelected);
    connect(again_, &QAction::triggered, this, [this] { runAgain(selectedWhere(canRunAgain)); });
    connect(raise_, &QAction::triggered, this, [this] { changePriority(1); });
    connect(lower_, &QAction::triggered, this, [this] { changePriority(-1); });
    connect(setPriority_, &QAction::triggered, this, &QueuePage::askPriority);
    connect(copy_, &QAction::triggered, this, &QueuePage::copySelected);
    connect(compare_, &QAction::triggered, this, &QueuePage::compareSelected);
    connect(details_, &QAction::triggered, this, [this] {
        paneWanted_ = true;
        refreshPane();
    });
    connect(open_, &QAction::triggered, this, &QueuePage::askOpen);
    connect(save_, &QAction::triggered, this, [this] { askSave(unfinishedJobs()); });
    connect(saveSelected_, &QAction::triggered, this, [this] { askSave(selectedWhere(canRunAgain)); });
    addActions({open_, save_});
}

QWidget* QueuePage::makeBar() {
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(barMargin, 10, barMargin, 10);
    layout->setSpacing(gap);
    chips_ = new StateChips(bar);
    connect(chips_, &StateChips::chosenChanged, this, &QueuePage::filterChanged);
    search_ = new QLineEdit(bar);
    search_->setObjectName(QStringLiteral("queueSearch"));
    search_->setPlaceholderText(tr("Search (Ctrl+F)"));
    search_->setToolTip(tr("Words in kernel, parameters, device, reason or state; #12 is a job's number"));
    search_->setClearButtonEnabled(true);
    search_->addAction(Theme::icon(QStringLiteral("search"), Token::Secondary), QLineEdit::LeadingPosition);
    search_->setFixedWidth(180);
    connect(search_, &QLineEdit::textChanged, &searchTimer_, qOverload<>(&QTimer::start));
    connect(search_, &QLineEdit::returnPressed, this, [this] {
        searchTimer_.stop();
        filterChanged();
        table_->setFocus();
    });
    auto* columns = new QToolButton(bar);
    columns->setIcon(Theme::icon(QStringLiteral("columns")));
    columns->setToolTip(tr("Columns"));
    columns->setAccessibleName(columns->toolTip());
    connect(columns, &QToolButton::clicked, this, [this, columns] { openColumnMenu(columns->mapToGlobal(QPoint(0, columns->height()))); });
    layout->addWidget(chips_, 1);
    layout->addWidget(search_, 0, Qt::AlignTop);
    layout->addWidget(columns, 0, Qt::AlignTop);
    return bar;
}

QWidget* QueuePage::makeTable() {
    splitter_ = new QSplitter(Qt::Horizontal, this);
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(1);
    auto* left = new QStackedWidget(splitter_);
    table_ = new QTableView(left);
    table_->setObjectName(QStringLiteral("queueTable"));
    table_->setModel(rows_);
    delegate_ = new JobDelegate(table_);
    table_->setItemDelegate(delegate_);
    connect(delegate_, &JobDelegate::jobLinkClicked, this, [this](quint64 job) { showJob(job); });
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setShowGrid(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->setMouseTracking(true);
    table_->setWordWrap(false);
    table_->setTabKeyNavigation(false);
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(28);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsMovable(true);
    header->setMinimumSectionSize(40);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    for (int column = 0; column < JobTableModel::ColumnCount; ++column)
        table_->setColumnWidth(column, widths_[static_cast<std::size_t>(column)] = defaultWidths[static_cast<std::size_t>(column)]);
    header->setSectionResizeMode(JobTableModel::ProgressColumn, QHeaderView::Stretch);
    header->setSortIndicator(JobTableModel::StateColumn, Qt::AscendingOrder);
    table_->setSortingEnabled(true);
    connect(header, &QWidget::customContextMenuRequested, this,
            [this, header](const QPoint& at) { openColumnMenu(header->mapToGlobal(at)); });
    connect(table_, &QWidget::customContextMenuRequested, this, &QueuePage::openMenu);
    connect(table_, &QTableView::activated, details_, [this] { details_->trigger(); });
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &QueuePage::refreshActions);
    connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, &paneTimer_, qOverload<>(&QTimer::start));
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, &paneTimer_, qOverload<>(&QTimer::start));
    table_->addActions({cancel_, retry_, again_, raise_, lower_, setPriority_, copy_});
    auto* escape = makeAction(QStringLiteral("closePane"), {}, {}, QKeySequence(Qt::Key_Escape));
    connect(escape, &QAction::triggered, this, [this] {
        paneWanted_ = false;
        refreshPane();
    });
    splitter_->addAction(escape);

    noMatch_ = new QWidget(left);
    auto* noMatchLayout = new QVBoxLayout(noMatch_);
    auto* noMatchText = new TokenLabel(tr("No job matches the filter."), Theme::Type::Text, Token::Secondary);
    noMatchText->setAlignment(Qt::AlignCenter);
    auto* showAll = new QPushButton(tr("Show all"), noMatch_);
    showAll->setObjectName(QStringLiteral("showAll"));
    connect(showAll, &QPushButton::clicked, this, [this] {
        search_->clear();
        setStateFilter({});
    });
    noMatchLayout->addStretch(1);
    noMatchLayout->addWidget(noMatchText);
    noMatchLayout->addWidget(showAll, 0, Qt::AlignHCenter);
    noMatchLayout->addStretch(2);
    left->addWidget(table_);
    left->addWidget(noMatch_);
    left->setMinimumWidth(360);

    pane_ = new JobPane(context_, splitter_);
    connect(pane_, &JobPane::closeRequested, escape, &QAction::trigger);
    connect(pane_, &JobPane::runAgainRequested, this, [this](quint64 job) { runAgain({job}); });
    pane_->hide();
    splitter_->addWidget(left);
    splitter_->addWidget(pane_);
    connect(splitter_, &QSplitter::splitterMoved, this, &QueuePage::refreshColumns);
    splitter_->setStretchFactor(0, 1);
    splitter_->setStretchFactor(1, 0);
    return splitter_;
}

QWidget* QueuePage::makeEmpty() {
    auto* empty = new QWidget(this);
    empty->setObjectName(QStringLiteral("queueEmpty"));
    empty->setAutoFillBackground(true);
    empty->setBackgroundRole(QPalette::Base);
    auto* layout = new QVBoxLayout(empty);
    auto* headline = new TokenLabel(tr("No jobs yet"), Theme::Type::Title, Token::Text, true);
    headline->setAlignment(Qt::AlignCenter);
    auto* hint = new TokenLabel(tr("Jobs stand here from the moment they are added: what waits and why, what runs where, and what came of it."), Theme::Type::Text, Token::Secondary);
    hint->setAlignment(Qt::AlignCenter);
    hint->setWordWrap(true);
    auto* add = new QPushButton(tr("Add jobs"), empty);
    add->setObjectName(QStringLiteral("emptyAdd"));
    add->setProperty("accent", true);
    connect(add, &QPushButton::clicked, this, &Page::addJobsRequested);
    auto* open = new QPushButton(tr("Open a workload…"), empty);
    open->setObjectName(QStringLiteral("emptyOpen"));
    connect(open, &QPushButton::clicked, open_, &QAction::trigger);
    sampleButton_ = new QToolButton(empty);
    sampleButton_->setObjectName(QStringLiteral("emptySamples"));
    sampleButton_->setText(tr("Run a sample"));
    sampleButton_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    sampleButton_->setPopupMode(QToolButton::InstantPopup);
    sampleMenu_ = new QMenu(sampleButton_);
    sampleButton_->setMenu(sampleMenu_);
    connect(sampleMenu_, &QMenu::aboutToShow, this, &QueuePage::fillSampleMenu);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(gap);
    buttons->addStretch(1);
    buttons->addWidget(add);
    buttons->addWidget(open);
    buttons->addWidget(sampleButton_);
    buttons->addStretch(1);
    layout->addStretch(2);
    layout->addWidget(headline);
    layout->addWidget(hint);
    layout->addSpacing(gap);
    layout->addLayout(buttons);
    layout->addStretch(3);
    return empty;
}

QWidget* QueuePage::makeFooter() {
    auto* footer = new QWidget(this);
    auto* layout = new QHBoxLayout(footer);
    layout->setContentsMargins(barMargin, 7, barMargin, 7);
    layout->setSpacing(gap);
    const auto button = [&](QAction* action) {
        auto* made = new QToolButton(footer);
        made->setDefaultAction(action);
        made->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        layout->addWidget(made);
    };
    button(cancel_);
    button(retry_);
    button(again_);
    priorityMenu_ = new QMenu(tr("Priority"), this);
    priorityMenu_->setIcon(Theme::icon(QStringLiteral("priority")));
    priorityMenu_->addActions({raise_, lower_, setPriority_});
    auto* priority = priorityButton_ = new QToolButton(footer);
    priority->setText(tr("Priority"));
    priority->setIcon(Theme::icon(QStringLiteral("priority")));
    priority->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    priority->setPopupMode(QToolButton::InstantPopup);
    priority->setMenu(priorityMenu_);
    layout->addWidget(priority);
    button(compare_);
    selectionLabel_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    layout->addWidget(selectionLabel_);
    layout->addStretch(1);
    outlook_ = new TokenLabel(QString(), Theme::Type::Text, Token::Secondary);
    outlook_->setObjectName(QStringLiteral("queueOutlook"));
    layout->addWidget(outlook_);
    auto* more = new QToolButton(footer);
    more->setIcon(Theme::icon(QStringLiteral("more")));
    more->setToolTip(tr("Open or save a workload"));
    more->setAccessibleName(more->toolTip());
    more->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(more);
    menu->addActions({open_, save_});
    more->setMenu(menu);
    layout->addWidget(more);
    return footer;
}

void QueuePage::restoreState() {
    const QSettings settings;
    const QVariantList widths = settings.value(QStringLiteral("queue/widths")).toList();
    for (int column = 0; column < JobTableModel::ColumnCount && column < widths.size(); ++column)
        if (const int width = widths[column].toInt(); width >= 40 && width <= 2000) {
            widths_[static_cast<std::size_t>(column)] = width;
            table_->setColumnWidth(column, width);
        }
    for (const QVariant& column : settings.value(QStringLiteral("queue/hiddenColumns")).toList()) hiddenColumns_ << column.toInt();
    const int sorted = settings.value(QStringLiteral("queue/sortColumn"), 0).toInt();
    const bool descending = settings.value(QStringLiteral("queue/sortDescending"), false).toBool();
    if (sorted >= 0 && sorted < JobTableModel::ColumnCount)
        table_->sortByColumn(sorted, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    paneWanted_ = settings.value(QStringLiteral("queue/pane"), true).toBool();
    if (!splitter_->restoreState(settings.value(QStringLiteral("queue/splitter")).toByteArray())) splitter_->setSizes({912, 368});
    refreshColumns();
}

void QueuePage::saveState() {
    QSettings settings;
    QVariantList widths, hidden;
    for (int column = 0; column < JobTableModel::ColumnCount; ++column) {
        const bool shrunk = table_->isColumnHidden(column) || (narrow_ && column == JobTableModel::KernelColumn);
        widths << (shrunk ? widths_[static_cast<std::size_t>(column)] : table_->columnWidth(column));
    }
    for (const int column : hiddenColumns_) hidden << column;
    settings.setValue(QStringLiteral("queue/widths"), widths);
    settings.setValue(QStringLiteral("queue/hiddenColumns"), hidden);
    settings.setValue(QStringLiteral("queue/sortColumn"), rows_->sortColumn());
    settings.setValue(QStringLiteral("queue/sortDescending"), rows_->sortOrder() == Qt::DescendingOrder);
    settings.setValue(QStringLiteral("queue/pane"), paneWanted_);
    settings.setValue(QStringLiteral("queue/splitter"), splitter_->saveState());
}

void QueuePage::focusSearch() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

QString QueuePage::subtitle() const { return jobs_->rowCount() == 0 ? QString() : jobCount(static_cast<std::size_t>(jobs_->rowCount())); }

void QueuePage::setStateFilter(const QList<JobState>& states) {
    chips_->setChosen({states.begin(), states.end()});
    filterChanged();
}

void QueuePage::filterChanged() {
    rows_->setStates(chips_->chosen());
    rows_->setText(search_->text());
    refreshEmpty();
    refreshActions();
}

void QueuePage::showJob(JobId job) {
    const int source = jobs_->rowOf(job);
    if (source < 0) return;
    if (!rows_->accepts(source)) {
        const QSignalBlocker quiet(search_);
        search_->clear();
        setStateFilter({});
    }
    paneWanted_ = true;
    select({job}, job);
    table_->setFocus();
}

void QueuePage::select(const std::vector<JobId>& jobs, JobId current) {
    std::vector<int> rows;
    QModelIndex currentIndex;
    for (const JobId job : jobs) {
        const int source = jobs_->rowOf(job);
        const int row = source < 0 ? -1 : rows_->rowOfSource(source);
        if (row < 0) continue;
        rows.push_back(row);
        if (job == current) currentIndex = rows_->index(row, 0);
    }
    std::sort(rows.begin(), rows.end());
    QItemSelection selection;
    for (std::size_t first = 0; first < rows.size();) {
        std::size_t last = first;
        while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
        selection.append(QItemSelectionRange(rows_->index(rows[first], 0), rows_->index(rows[last], rows_->columnCount() - 1)));
        first = last + 1;
    }
    QItemSelectionModel* model = table_->selectionModel();
    if (currentIndex.isValid()) model->setCurrentIndex(currentIndex, QItemSelectionModel::NoUpdate);
    model->select(selection, QItemSelectionModel::ClearAndSelect);
    if (currentIndex.isValid() && jobs.size() == 1) table_->scrollTo(currentIndex);
    refreshPane();
}

void QueuePage::keepSelection() {
    keptSelection_ = selectedJobs();
    keptCurrent_ = currentJob();
    keptScroll_ = table_->verticalScrollBar()->value();
}

void QueuePage::giveSelectionBack() {
    const int scroll = keptScroll_;
    if (!keptSelection_.empty()) select(keptSelection_, keptCurrent_);
    table_->verticalScrollBar()->setValue(scroll);
    keptSelection_.clear();
    refreshEmpty();
    refreshActions();
}

JobId QueuePage::currentJob() const {
    const QModelIndex current = table_->selectionModel()->currentIndex();
    return current.isValid() ? jobs_->job(rows_->sourceRow(current.row())).id : 0;
}

std::vector<JobId> QueuePage::selectedJobs() const { return selectedWhere(anyJob); }

std::vector<JobId> QueuePage::selectedWhere(bool (*suits)(const JobSnapshot&)) const {
    std::vector<int> rows;
    // Ranges, not indexes: ten columns of 100,000 rows would be a million of them.
    for (const QItemSelectionRange& range : table_->selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom(); ++row) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<JobId> found;
    for (const int row : rows) {
        const JobSnapshot& job = jobs_->job(rows_->sourceRow(row));
        if (suits(job)) found.push_back(job.id);
    }
    return found;
}

std::vector<JobId> QueuePage::unfinishedJobs() const {
    std::vector<JobId> found;
    for (const auto& [id, job] : context_.board.jobs())
        if (canCancel(job) && job.spec) found.push_back(id);
    return found;
}

void QueuePage::boardChanged() {
    chips_->setCounts(context_.board.latest().counts);
    refreshActions();
    refreshFooter();
    refreshEmpty();
    const auto& counts = context_.board.latest().counts;
    std::size_t open = 0;
    for (int state = 0; state < static_cast<int>(JobState::Succeeded); ++state) open += counts[static_cast<std::size_t>(state)];
    if (open > 0 && !clock_.isActive()) clock_.start();
    if (open == 0) clock_.stop();
    emit subtitleChanged();
}

void QueuePage::refreshActions() {
    const bool ready = context_.services.engine() != nullptr;
    // One pass: this runs at every update, and the whole queue may be selected.
    std::size_t all = 0;
    bool open = false, again = false, retry = false, reorder = false;
    for (const QItemSelectionRange& range : table_->selectionModel()->selection()) {
        all += static_cast<std::size_t>(range.height());
        for (int row = range.top(); row <= range.bottom() && !(open && again && retry && reorder); ++row) {
            const JobSnapshot& job = jobs_->job(rows_->sourceRow(row));
            open |= canCancel(job);
            again |= canRunAgain(job);
            retry |= canRetry(job);
            reorder |= canReorder(job);
        }
    }
    cancel_->setEnabled(ready && open);
    retry_->setEnabled(ready && retry);
    for (QAction* action : {raise_, lower_, setPriority_}) action->setEnabled(ready && reorder);
    priorityButton_->setEnabled(ready && reorder);
    for (QAction* action : {again_, compare_, saveSelected_}) action->setEnabled(again);
    copy_->setEnabled(all > 0);
    details_->setEnabled(all > 0);
    save_->setEnabled(ready);
    selectionLabel_->setText(all < 2 ? QString() : tr("%1 selected").arg(format::count(all)));
}

void QueuePage::refreshFooter() {
    const EngineUpdate& latest = context_.board.latest();
    std::size_t open = 0;
    for (int state = 0; state < static_cast<int>(JobState::Succeeded); ++state) open += latest.counts[static_cast<std::size_t>(state)];
    QString said;
    if (open > 0) {
        if (latest.paused) said = tr("queue is paused");
        else if (latest.emptyInSeconds >= 0.0) said = tr("queue empty in %1").arg(format::seconds(latest.emptyInSeconds));
        else said = tr("when the queue will be empty is not known yet");
    }
    if (outlook_->text() != said) outlook_->setText(said);
}

void QueuePage::refreshEmpty() {
    const bool none = jobs_->rowCount() == 0;
    stack_->setCurrentIndex(none ? 1 : 0);
    footer_->setVisible(!none);
    chips_->parentWidget()->setVisible(!none);
    auto* left = static_cast<QStackedWidget*>(noMatch_->parentWidget());
    left->setCurrentWidget(rows_->rowCount() == 0 && rows_->filtered() ? noMatch_ : table_);
    sampleButton_->setVisible(!context_.services.sampleWorkloads().isEmpty());
}

void QueuePage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    refreshColumns();
}

/// What there is room for, less what the person does not want.
void QueuePage::refreshColumns() {
    const int room = pane_->isVisibleTo(this) && pane_->width() > 0 ? width() - pane_->width() : width();
    const bool narrow = room < 760;
    const auto fits = [&](int column) {
        switch (column) {
            case JobTableModel::CheckColumn: return room >= 1300;
            case JobTableModel::SubmittedColumn: return room >= 800;
            case JobTableModel::PriorityColumn: return !narrow;
            default: return true;
        }
    };
    for (int column = 0; column < JobTableModel::ColumnCount; ++column) {
        const bool hidden = !fits(column) || hiddenColumns_.contains(column);
        if (table_->isColumnHidden(column) == hidden) continue;
        if (hidden) widths_[static_cast<std::size_t>(column)] = table_->columnWidth(column);
        table_->setColumnHidden(column, hidden);
    }
    if (narrow != narrow_) {
        // A kernel without its parameters needs less.
        auto& kernel = widths_[JobTableModel::KernelColumn];
        if (narrow) kernel = table_->columnWidth(JobTableModel::KernelColumn);
        table_->setColumnWidth(JobTableModel::KernelColumn, narrow ? std::min(kernel, 108) : kernel);
        narrow_ = narrow;
    }
    delegate_->setShowParameters(!narrow);
    const bool small = width() < 1040;
    if (small != small_) {
        small_ = small;
        pane_->setMinimumWidth(small ? smallPane : 340);
        if (small) splitter_->setSizes({width() - smallPane, smallPane});
    }
}

std::vector<std::string> QueuePage::deviceNames() const {
    std::vector<std::string> names;
    for (const DeviceSnapshot& device : context_.board.latest().devices)
        names.push_back(context_.board.deviceShortName(device.id).toStdString());
    return names;
}

void QueuePage::refreshPane() {
    paneTimer_.stop();
    // The view makes a row current when it gets the focus; only one that was chosen opens the pane.
    const JobSnapshot* job = table_->selectionModel()->hasSelection() ? context_.board.find(currentJob()) : nullptr;
    const bool show = job && paneWanted_;
    if (show) pane_->showJob(*job, deviceNames());
    else pane_->clear();
    pane_->setVisible(show);
    refreshColumns();
}

void QueuePage::openMenu(const QPoint& at) {
    if (!table_->indexAt(at).isValid()) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("queueMenu"));
    menu->addAction(details_);
    menu->addSeparator();
    menu->addActions({cancel_, retry_, again_});
    menu->addMenu(priorityMenu_);
    menu->addSeparator();
    menu->addActions({compare_, saveSelected_, copy_});
    menu->popup(table_->viewport()->mapToGlobal(at));
}

void QueuePage::openColumnMenu(const QPoint& globalPosition) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int column = JobTableModel::JobColumn; column < JobTableModel::ColumnCount; ++column) {
        QAction* action = menu->addAction(column == JobTableModel::PriorityColumn ? tr("Priority") : JobTableModel::columnName(column));
        action->setCheckable(true);
        action->setChecked(!hiddenColumns_.contains(column));
        connect(action, &QAction::toggled, this, [this, column](bool shown) {
            if (shown) hiddenColumns_.remove(column);
            else hiddenColumns_.insert(column);
            refreshColumns();
        });
    }
    menu->popup(globalPosition);
}

void QueuePage::fillSampleMenu() {
    sampleMenu_->clear();
    for (const QString& file : context_.services.sampleWorkloads()) {
        QAction* action = sampleMenu_->addAction(QFileInfo(file).fileName().section(QLatin1Char('.'), 0, 0));
        action->setToolTip(file);
        connect(action, &QAction::triggered, this, [this, file] { openWorkload(file); });
    }
}

void QueuePage::cancelSelected() {
    const auto jobs = selectedWhere(canCancel);
    if (jobs.empty()) return;
    const auto running = selectedWhere([](const JobSnapshot& job) { return job.state == JobState::Running; });
    if (running.empty()) {
        cancelJobs(jobs);
        return;
    }
    auto* box = new QMessageBox(QMessageBox::Question, tr("Cancel jobs"),
                                running.size() == 1 && jobs.size() == 1 ? tr("Cancel %1, which is running?").arg(format::jobNumber(jobs.front()))
                                : running.size() == 1 ? tr("Cancel %1, one of which is running?").arg(jobCount(jobs.size()))
                                                      : tr("Cancel %1, %2 of which are running?").arg(jobCount(jobs.size()), format::count(running.size())),
                                QMessageBox::NoButton, this);
    box->setInformativeText(tr("A kernel that its runtime cannot stop runs to its end; its result is dropped, and the job says so."));
    auto* yes = box->addButton(tr("Cancel jobs"), QMessageBox::AcceptRole);
    box->addButton(tr("Keep them"), QMessageBox::RejectRole);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(yes, &QAbstractButton::clicked, this, [this, jobs] { cancelJobs(jobs); });
    box->open();
}

void QueuePage::cancelJobs(const std::vector<JobId>& jobs) {
    if (Engine* engine = context_.services.engine()) engine->cancel(jobs);
}

void QueuePage::retrySelected() {
    const auto jobs = selectedWhere(canRetry);
    if (Engine* engine = context_.services.engine(); engine && !jobs.empty()) engine->retry(jobs);
}

void QueuePage::runAgain(const std::vector<JobId>& jobs) {
    if (jobs.empty()) return;
    context_.services.runAgain(jobs, this, [this](Result<std::vector<JobId>> answer) {
        if (!answer) emit noticeRequested(tr("Not run again: %1").arg(errorText(answer.error())), {});
    });
}

void QueuePage::changePriority(int by) {
    Engine* engine = context_.services.engine();
    if (!engine) return;
    std::map<int, std::vector<JobId>> byPriority;
    for (const JobId id : selectedWhere(canReorder)) {
        const int now = context_.board.find(id)->priority;
        const bool room = by > 0 ? now < std::numeric_limits<int>::max() : now > std::numeric_limits<int>::min();
        if (room) byPriority[now + by].push_back(id);
    }
    for (auto& [priority, jobs] : byPriority) engine->setPriority(std::move(jobs), priority);
}

void QueuePage::askPriority() {
    const auto jobs = selectedWhere(canReorder);
    if (jobs.empty()) return;
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Set priority"));
    dialog->setLabelText(tr("Priority of %1 (higher goes first):").arg(jobCount(jobs.size())));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(-1'000'000, 1'000'000);
    dialog->setIntValue(context_.board.find(jobs.front())->priority);
    connect(dialog, &QInputDialog::intValueSelected, this, &QueuePage::setPriority);
    dialog->open();
}

void QueuePage::setPriority(int priority) {
    if (Engine* engine = context_.services.engine()) engine->setPriority(selectedWhere(canReorder), priority);
}

void QueuePage::copySelected() const {
    QString text;
    for (int column = 0; column < JobTableModel::ColumnCount; ++column)
        text += JobTableModel::columnName(column) + QLatin1Char(column + 1 < JobTableModel::ColumnCount ? '\t' : '\n');
    for (const JobId id : selectedJobs()) {
        const int row = jobs_->rowOf(id);
        for (int column = 0; column < JobTableModel::ColumnCount; ++column) {
            const QModelIndex cell = jobs_->index(row, column);
            text += cell.data().toString();
            if (column == JobTableModel::KernelColumn) text += QLatin1Char(' ') + cell.data(JobTableModel::ParametersRole).toString();
            text += QLatin1Char(column + 1 < JobTableModel::ColumnCount ? '\t' : '\n');
        }
    }
    QGuiApplication::clipboard()->setText(text);
}

void QueuePage::compareSelected() {
    QList<quint64> jobs;
    for (const JobId id : selectedWhere(canRunAgain)) jobs << id;
    if (!jobs.isEmpty()) emit compareJobsRequested(jobs);
}

void QueuePage::askOpen() {
    auto* dialog = new QFileDialog(this, tr("Open a workload"), {}, tr("Workloads (*.workload.json *.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &QueuePage::openWorkload);
    dialog->open();
}

void QueuePage::openWorkload(const QString& file) {
    context_.services.loadWorkload(file, this, [this, file](Result<Workload> answer) {
        if (!answer) {
            emit noticeRequested(tr("Not opened: %1").arg(errorText(answer.error())), {});
            return;
        }
        submitWorkload(file, std::move(*answer));
    });
}

void QueuePage::submitWorkload(const QString& file, Workload workload) {
    const QString name = QFileInfo(file).fileName();
    if (workload.jobs.empty()) {
        emit noticeRequested(tr("%1 has no jobs.").arg(name), {});
        return;
    }
    if (!workload.runnable()) {
        emit noticeRequested(tr("%1 has jobs without a kernel: they state costs only and cannot run for real.").arg(name), {});
        return;
    }
    QStringList warnings;
    for (const auto& warning : workload.warnings) warnings << QString::fromStdString(warning);
    context_.services.submit(workload.jobSpecs(), this, [this, name, warnings](Result<std::vector<JobId>> answer) {
        if (!answer) emit noticeRequested(tr("%1 was not added: %2").arg(name, errorText(answer.error())), {});
        else if (!warnings.isEmpty()) emit noticeRequested(tr("%1 was added, with warnings: %2").arg(name, warnings.join(QStringLiteral("; "))), {});
    });
}

void QueuePage::askSave(const std::vector<JobId>& jobs) {
    if (jobs.empty()) {
        emit noticeRequested(tr("Nothing to save: no job waits or runs."), tr("Select finished jobs and save those from their menu."));
        return;
    }
    auto* dialog = new QFileDialog(this, tr("Save as a workload"), {}, tr("Workloads (*.workload.json)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("workload.json"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, jobs](const QString& file) { saveWorkload(file, jobs); });
    dialog->open();
}

void QueuePage::saveWorkload(const QString& file, const std::vector<JobId>& jobs) {
    std::vector<std::shared_ptr<const JobSpec>> specs;
    for (const JobId id : jobs)
        if (const JobSnapshot* job = context_.board.find(id); job && job->spec) specs.push_back(job->spec);
    const auto done = onThreadOf<QString>(this, [this, file, count = specs.size()](const QString& error) {
        emit noticeRequested(error.isEmpty() ? tr("%1 saved in %2.").arg(jobCount(count), file) : tr("Not saved: %1").arg(error), {});
    });
    QThreadPool::globalInstance()->start([file, specs, done] { done(writeFile(file, specs)); });
}

}  // namespace heteroscope
