#include "ui/history/history_page.h"

#include "ui/ask.h"
#include "ui/format.h"
#include "ui/history/history_delegate.h"
#include "ui/history/history_filter_bar.h"
#include "ui/history/history_model.h"
#include "ui/history/history_tree.h"
#include "ui/job_board.h"
#include "ui/job_pane.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/token_label.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr int barMargin = 16, gap = 8, rowHeight = 28, paneWidth = 368, treeWidth = 248;
constexpr int tickMs = 1000;
constexpr std::array<int, HistoryModel::ColumnCount> defaultWidths{116, 72, 176, 96, 92, 148, 92, 80, 64};
// Below this width the table shows what tells jobs apart, and leaves the rest to the pane.
constexpr int narrowTable = 800, narrowestTable = 640;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString jobsText(std::uint64_t n) { return n == 1 ? HistoryPage::tr("1 job") : HistoryPage::tr("%1 jobs").arg(format::count(n)); }

}  // namespace

HistoryPage::HistoryPage(PageContext context, QWidget* parent) : Page(parent), context_(context) {
    model_ = new HistoryModel(context_.board, this);
    makeActions();
    splitter_ = new QSplitter(Qt::Horizontal, this);
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(1);
    splitter_->addWidget(makeLeft());
    splitter_->addWidget(makeMiddle());
    splitter_->addWidget(makePane());
    splitter_->setStretchFactor(1, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter_);

    connect(model_, &HistoryModel::answered, this, &HistoryPage::modelAnswered);
    connect(model_, &HistoryModel::failed, this, [this](const QString& message) {
        if (std::exchange(lastFailure_, message) != message) emit noticeRequested(tr("History cannot be read: %1").arg(message), {});
    });
    connect(&context_.services, &Services::started, this, &HistoryPage::historyOpened);
    connect(&context_.board, &JobBoard::jobsChanged, this, [this] { dirtyTicks_ = std::max(dirtyTicks_, 2); });
    tick_.setInterval(tickMs);
    connect(&tick_, &QTimer::timeout, this, &HistoryPage::tick);
    tick_.start();
    restoreState();
    historyOpened();
}

HistoryPage::~HistoryPage() {
    if (exporting_) *exporting_ = false;
}

void HistoryPage::makeActions() {
    const auto make = [this](const char* name, const QString& label, const char* icon, const QKeySequence& keys) {
        auto* action = new QAction(Theme::icon(QString::fromLatin1(icon)), label, this);
        action->setObjectName(QString::fromLatin1(name));
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        return action;
    };
    again_ = make("historyRunAgain", tr("Run again"), "retry", QKeySequence(Qt::CTRL | Qt::Key_R));
    delete_ = make("historyDelete", tr("Delete…"), "trash", QKeySequence::Delete);
    copy_ = make("historyCopy", tr("Copy"), "copy", QKeySequence::Copy);
    csv_ = make("historyCsv", tr("As CSV…"), "export", {});
    json_ = make("historyJson", tr("As JSON…"), "export", {});
    connect(again_, &QAction::triggered, this, [this] { runAgain(selectedJobs()); });
    connect(delete_, &QAction::triggered, this, &HistoryPage::askDelete);
    connect(csv_, &QAction::triggered, this, [this] { askExport(QStringLiteral("csv")); });
    connect(json_, &QAction::triggered, this, [this] { askExport(QStringLiteral("json")); });
    connect(copy_, &QAction::triggered, this, [this] {
        QStringList lines;
        for (const QModelIndex& row : table_->selectionModel()->selectedRows()) {
            QStringList cells;
            for (int column = 0; column < HistoryModel::ColumnCount; ++column) cells << row.siblingAtColumn(column).data().toString();
            lines << cells.join(QLatin1Char('\t'));
        }
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
}

QWidget* HistoryPage::makeLeft() {
    auto* left = new Bar(Token::Card, Bar::Edge::Right, this);
    left->setMinimumWidth(160);
    auto* layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 1, 0);
    layout->setSpacing(0);
    treeSearch_ = new QLineEdit(left);
    treeSearch_->setObjectName(QStringLiteral("historyTreeSearch"));
    treeSearch_->setPlaceholderText(tr("Sessions and comparisons"));
    treeSearch_->setAccessibleName(tr("Search sessions and comparisons"));
    treeSearch_->setClearButtonEnabled(true);
    treeSearch_->addAction(Theme::icon(QStringLiteral("search"), Token::Secondary), QLineEdit::LeadingPosition);
    auto* searchBox = new QHBoxLayout;
    searchBox->setContentsMargins(12, 10, 12, 10);
    searchBox->addWidget(treeSearch_);
    layout->addLayout(searchBox);
    tree_ = new HistoryTree(left);
    layout->addWidget(tree_, 1);
    foot_ = new TokenLabel({}, Theme::Type::Caption, Token::Secondary, false, left);
    foot_->setObjectName(QStringLiteral("historyFoot"));
    foot_->setContentsMargins(12, 8, 12, 8);
    layout->addWidget(foot_);
    connect(treeSearch_, &QLineEdit::textChanged, tree_, &HistoryTree::setSearch);
    connect(tree_, &HistoryTree::sessionChosen, this, [this](std::optional<std::int64_t> session) {
        session_ = session;
        applyFilter();
    });
    connect(tree_, &HistoryTree::comparisonActivated, this, &Page::openComparisonRequested);
    connect(tree_, &QWidget::customContextMenuRequested, this, &HistoryPage::openTreeMenu);
    return left;
}

QWidget* HistoryPage::makeMiddle() {
    auto* middle = new Bar(Token::Card, Bar::Edge::None, this);
    middle->setMinimumWidth(320);
    auto* layout = new QVBoxLayout(middle);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    stack_ = new QStackedWidget(middle);
    stack_->addWidget(makeTable());
    stack_->installEventFilter(this);
    notOpen_ = new EmptyState(tr("History is being opened"), tr("The window does not wait for the disk."), stack_);
    nothingYet_ = new EmptyState(tr("No jobs yet"), tr("Every job that runs is kept here with its times, its decision and its outputs."), stack_);
    auto* add = nothingYet_->addAction(tr("Add jobs"), true);
    add->setObjectName(QStringLiteral("historyAddJobs"));
    connect(add, &QPushButton::clicked, this, &Page::addJobsRequested);
    noMatch_ = new EmptyState(tr("No job matches"), {}, stack_);
    auto* clear = noMatch_->addAction(tr("Clear filters"), true);
    clear->setObjectName(QStringLiteral("historyClearAll"));
    connect(clear, &QPushButton::clicked, this, [this] {
        tree_->selectAll();
        filters_->clear();
    });
    for (QWidget* state : {notOpen_, nothingYet_, noMatch_}) stack_->addWidget(state);
    layout->addWidget(stack_, 1);
    layout->addWidget(makeExportRow());
    return middle;
}

QWidget* HistoryPage::makeBar() {
    auto* bar = new Bar(Token::Card, Bar::Edge::Bottom, this);
    auto* layout = new QVBoxLayout(bar);
    layout->setContentsMargins(barMargin, 10, barMargin, 8);
    layout->setSpacing(gap);
    filters_ = new HistoryFilterBar(bar);
    layout->addWidget(filters_);
    auto* line = new QHBoxLayout;
    line->setSpacing(gap);
    summary_ = new TokenLabel({}, Theme::Type::Text, Token::Text, true, bar);
    summary_->setObjectName(QStringLiteral("historySummary"));
    line->addWidget(summary_);
    line->addStretch(1);
    for (QAction* action : {again_, delete_}) {
        auto* button = new QPushButton(action->text(), bar);
        button->setToolTip(action->shortcut().toString(QKeySequence::NativeText));
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        connect(action, &QAction::changed, button, [action, button] { button->setEnabled(action->isEnabled()); });
        line->addWidget(button);
    }
    auto* exports = new QPushButton(tr("Export"), bar);
    exports->setObjectName(QStringLiteral("historyExport"));
    auto* menu = new QMenu(exports);
    menu->addActions({csv_, json_});
    exports->setMenu(menu);
    line->addWidget(exports);
    layout->addLayout(line);
    connect(filters_, &HistoryFilterBar::changed, this, &HistoryPage::applyFilter);
    return bar;
}

QWidget* HistoryPage::makeTable() {
    table_ = new QTableView(this);
    table_->setObjectName(QStringLiteral("historyTable"));
    table_->setAccessibleName(tr("Stored jobs"));
    table_->setModel(model_);
    table_->setItemDelegate(new HistoryDelegate(table_));
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
    table_->verticalHeader()->setDefaultSectionSize(rowHeight);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsMovable(true);
    header->setMinimumSectionSize(40);
    for (int column = 0; column < HistoryModel::ColumnCount; ++column)
        table_->setColumnWidth(column, defaultWidths[static_cast<std::size_t>(column)]);
    header->setSectionResizeMode(HistoryModel::KernelColumn, QHeaderView::Stretch);
    header->setSortIndicator(HistoryModel::JobColumn, Qt::DescendingOrder);
    table_->setSortingEnabled(true);
    table_->addActions({again_, delete_, copy_});
    connect(table_, &QWidget::customContextMenuRequested, this, &HistoryPage::openMenu);
    connect(table_, &QTableView::activated, this, [this] {
        shown_ = 0;  // opens the pane again when it was closed
        currentChanged();
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &HistoryPage::currentChanged);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &HistoryPage::refreshActions);
    auto* escape = new QAction(this);
    escape->setShortcut(QKeySequence(Qt::Key_Escape));
    escape->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(escape, &QAction::triggered, this, &HistoryPage::closePane);
    addAction(escape);
    return table_;
}

QWidget* HistoryPage::makeExportRow() {
    exportRow_ = new Bar(Token::Raised, Bar::Edge::Top, this);
    auto* layout = new QHBoxLayout(exportRow_);
    layout->setContentsMargins(barMargin, 8, barMargin, 8);
    exportText_ = new TokenLabel({}, Theme::Type::Text, Token::Text, false, exportRow_);
    exportBar_ = new QProgressBar(exportRow_);
    exportBar_->setTextVisible(false);
    auto* cancel = new QPushButton(tr("Cancel"), exportRow_);
    cancel->setObjectName(QStringLiteral("historyCancelExport"));
    connect(cancel, &QPushButton::clicked, this, [this] {
        if (exporting_) *exporting_ = false;
    });
    layout->addWidget(exportText_);
    layout->addWidget(exportBar_, 1);
    layout->addWidget(cancel);
    exportRow_->hide();
    return exportRow_;
}

QWidget* HistoryPage::makePane() {
    paneBox_ = new QWidget(this);
    paneBox_->setMinimumWidth(300);
    auto* layout = new QVBoxLayout(paneBox_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    pane_ = new JobPane(context_, paneBox_);
    layout->addWidget(pane_, 1);
    earlier_ = new TokenLabel({}, Theme::Type::Caption, Token::Secondary, false, paneBox_);
    earlier_->setObjectName(QStringLiteral("historyEarlier"));
    earlier_->setContentsMargins(barMargin, 8, barMargin, 8);
    earlier_->setWordWrap(true);
    earlier_->hide();
    layout->addWidget(earlier_);
    connect(pane_, &JobPane::runAgainRequested, this, [this](quint64 job) { runAgain({job}); });
    connect(pane_, &JobPane::closeRequested, this, &HistoryPage::closePane);
    paneBox_->hide();
    return paneBox_;
}

void HistoryPage::restoreState() {
    const QSettings settings;
    const QVariantList widths = settings.value(QStringLiteral("history/widths")).toList();
    for (int column = 0; column < HistoryModel::ColumnCount && column < widths.size(); ++column)
        if (const int width = widths[column].toInt(); width >= 40 && width <= 2000) table_->setColumnWidth(column, width);
    const int column = settings.value(QStringLiteral("history/sortColumn"), static_cast<int>(HistoryModel::JobColumn)).toInt();
    const bool descending = settings.value(QStringLiteral("history/sortDescending"), true).toBool();
    if (column >= 0 && column < HistoryModel::CheckColumn)
        table_->sortByColumn(column, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    if (!splitter_->restoreState(settings.value(QStringLiteral("history/splitter")).toByteArray()))
        splitter_->setSizes({treeWidth, 1280 - treeWidth - paneWidth, paneWidth});
}

void HistoryPage::saveState() {
    QSettings settings;
    QVariantList widths;
    for (int column = 0; column < HistoryModel::ColumnCount; ++column) {
        const int width = table_->columnWidth(column);  // 0 while hidden
        widths << (width > 0 ? width : defaultWidths[static_cast<std::size_t>(column)]);
    }
    settings.setValue(QStringLiteral("history/widths"), widths);
    settings.setValue(QStringLiteral("history/sortColumn"), HistoryModel::columnOf(model_->filter().order));
    settings.setValue(QStringLiteral("history/sortDescending"), model_->filter().descending);
    settings.setValue(QStringLiteral("history/splitter"), splitter_->saveState());
}

void HistoryPage::focusSearch() { filters_->focusText(); }

void HistoryPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (!isAncestorOf(QApplication::focusWidget())) table_->setFocus();
    if (context_.services.history()) refreshAll();
}

bool HistoryPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == stack_ && event->type() == QEvent::Resize) refreshColumns();
    return Page::eventFilter(watched, event);
}

void HistoryPage::historyOpened() {
    if (HistoryReader* reader = context_.services.history()) {
        model_->setReader(reader);
        refreshSide();
    }
    refreshEmpty();
    refreshActions();
}

void HistoryPage::refreshAll() {
    model_->refresh();
    refreshSide();
}

// The tree at the left and the names in the filter lists.
void HistoryPage::refreshSide() {
    HistoryReader* reader = context_.services.history();
    if (!reader) return;
    reader->sessions(onThreadOf<Result<std::vector<SessionRow>>>(this, [this](Result<std::vector<SessionRow>> sessions) {
        HistoryReader* again = context_.services.history();
        if (!sessions || !again) return;
        again->comparisons(onThreadOf<Result<std::vector<ComparisonRow>>>(
            this, [this, list = std::move(*sessions)](Result<std::vector<ComparisonRow>> comparisons) {
                if (comparisons) tree_->setContents(list, *comparisons);
            }));
    }));
    reader->facets(onThreadOf<Result<HistoryFacets>>(this, [this](Result<HistoryFacets> facets) {
        if (!facets) return;
        facets_ = std::move(*facets);
        filters_->setFacets(facets_);
        foot_->setText(QStringLiteral("%1, %2").arg(jobsText(facets_.jobs), format::bytes(static_cast<double>(facets_.bytes))));
        refreshSummary();
        refreshEmpty();
    }));
}

void HistoryPage::applyFilter() {
    HistoryFilter filter = filters_->filter();
    filter.session = session_;
    filter.order = model_->filter().order;
    filter.descending = model_->filter().descending;
    if (filter != model_->filter()) model_->setFilter(filter);
}

// While jobs run their rows arrive all the time: one look a second is enough, and none while nobody looks.
void HistoryPage::tick() {
    if (!isVisible() || !context_.services.history()) return;
    if (filters_->dayChanged()) applyFilter();
    if (dirtyTicks_ <= 0) return;
    --dirtyTicks_;
    model_->refresh();
    if (dirtyTicks_ == 0) refreshSide();
}

void HistoryPage::modelAnswered() {
    lastFailure_.clear();
    refreshSummary();
    refreshEmpty();
    refreshActions();
    if (wantedJob_ == 0) return;
    if (const int row = model_->rowOf(wantedJob_); row >= 0) {
        wantedJob_ = 0;
        table_->selectRow(row);
        table_->scrollTo(model_->index(row, 0), QAbstractItemView::PositionAtCenter);
    }
}

void HistoryPage::refreshSummary() {
    const auto shown = static_cast<std::uint64_t>(model_->rowCount());
    const bool restricted = filters_->active() || session_.has_value();
    if (!model_->loaded()) summary_->setText({});
    else if (restricted && facets_.jobs > shown) summary_->setText(tr("%1 of %2").arg(format::count(shown), jobsText(facets_.jobs)));
    else summary_->setText(jobsText(shown));
}

void HistoryPage::refreshEmpty() {
    QWidget* page = table_;
    if (!context_.services.history()) page = notOpen_;
    else if (model_->loaded() && model_->rowCount() == 0) page = filters_->active() || session_ ? noMatch_ : nothingYet_;
    if (stack_->currentWidget() != page) stack_->setCurrentWidget(page);
}

void HistoryPage::refreshActions() {
    const bool any = table_->selectionModel()->hasSelection() && model_->rowCount() > 0;
    for (QAction* action : {again_, delete_, copy_}) action->setEnabled(any);
    const bool canExport = model_->rowCount() > 0 && !exporting_;
    csv_->setEnabled(canExport);
    json_->setEnabled(canExport);
}

void HistoryPage::refreshColumns() {
    const int width = stack_->width();
    const auto hide = [this](int column, bool hidden) {
        if (table_->isColumnHidden(column) != hidden) table_->setColumnHidden(column, hidden);
    };
    hide(HistoryModel::PolicyColumn, width < narrowTable);
    hide(HistoryModel::CheckColumn, width < narrowTable);
    hide(HistoryModel::SubmittedColumn, width < narrowestTable);
}

std::vector<JobId> HistoryPage::selectedJobs() const {
    std::vector<int> rows;
    for (const QModelIndex& row : table_->selectionModel()->selectedRows()) rows.push_back(row.row());
    std::sort(rows.begin(), rows.end());
    std::vector<JobId> jobs;
    for (const int row : rows)
        if (const JobId job = model_->jobAt(row); job != 0) jobs.push_back(job);
    return jobs;
}

void HistoryPage::showJob(JobId job) {
    wantedJob_ = job;
    if (const int row = model_->rowOf(job); row >= 0) return modelAnswered();
    tree_->selectAll();
    filters_->clear();
    // It may lie on any page: found by its number, then it is the only one.
    HistoryFilter one;
    one.text = "#" + std::to_string(job);
    model_->setFilter(one);
}

void HistoryPage::currentChanged() {
    const JobId job = model_->jobAt(table_->currentIndex().row());
    HistoryReader* reader = context_.services.history();
    if (job == 0 || !reader || job == shown_) return;
    shown_ = job;
    reader->detail(job, onThreadOf<Result<HistoryDetail>>(this, [this, job](Result<HistoryDetail> detail) {
        if (shown_ != job) return;  // another row was chosen meanwhile
        if (detail) return showDetail(*detail);
        emit noticeRequested(text(detail.error().message), {});
    }));
}

void HistoryPage::showDetail(const HistoryDetail& detail) {
    std::vector<std::string> names;
    for (const std::string& id : detail.deviceNames) names.push_back(context_.board.deviceShortName(id).toStdString());
    pane_->showJob(detail.job, names);
    QStringList lines;
    for (const AttemptRow& attempt : detail.earlierAttempts) {
        QString line = tr("Try %1: %2 on %3").arg(attempt.attempt).arg(format::stateName(attempt.state), context_.board.deviceShortName(attempt.device));
        if (attempt.times.ended > 0) line += QStringLiteral(", ") + format::dateTime(attempt.times.ended);
        if (attempt.error) line += QStringLiteral(". ") + text(attempt.error->message).section(QLatin1Char('\n'), 0, 0);
        lines << line;
    }
    earlier_->setText(lines.join(QLatin1Char('\n')));
    earlier_->setVisible(!lines.isEmpty());
    if (paneBox_->isHidden()) {
        paneBox_->show();
        table_->scrollTo(table_->currentIndex());
    }
}

void HistoryPage::closePane() {
    shown_ = 0;
    paneBox_->hide();
    pane_->clear();
    table_->setFocus();
}

void HistoryPage::openMenu(const QPoint& at) {
    if (!table_->selectionModel()->hasSelection()) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addActions({again_, copy_, delete_});
    menu->popup(table_->viewport()->mapToGlobal(at));
}

void HistoryPage::openTreeMenu(const QPoint& at) {
    const QModelIndex index = tree_->indexAt(at);
    if (index.isValid()) tree_->setCurrentIndex(index.siblingAtColumn(0));
    const auto comparison = tree_->currentComparison();
    if (!comparison) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(Theme::icon(QStringLiteral("compare")), tr("Open"), this, [this, id = *comparison] { emit openComparisonRequested(id); });
    menu->addAction(Theme::icon(QStringLiteral("edit")), tr("Rename…"), this, [this, id = *comparison] { renameComparison(id); });
    menu->addAction(Theme::icon(QStringLiteral("trash")), tr("Delete…"), this, [this, id = *comparison] { askDeleteComparison(id); });
    menu->popup(tree_->viewport()->mapToGlobal(at));
}

void HistoryPage::runAgain(const std::vector<JobId>& jobs) {
    if (jobs.empty()) return;
    context_.services.runAgain(jobs, this, [this](Result<std::vector<JobId>> fresh) {
        if (!fresh) return emit noticeRequested(tr("Not run again: %1").arg(text(fresh.error().message)), {});
        dirtyTicks_ = std::max(dirtyTicks_, 3);
        if (fresh->size() == 1) emit noticeRequested(tr("Runs again as %1.").arg(format::jobNumber(fresh->front())), {});
        else emit noticeRequested(tr("%1 run again, from %2 on.").arg(jobsText(fresh->size()), format::jobNumber(fresh->front())), {});
    });
}

void HistoryPage::askDelete() {
    const auto jobs = selectedJobs();
    if (jobs.empty()) return;
    auto* box = new QMessageBox(QMessageBox::Question, tr("Delete from history"),
                                jobs.size() == 1 ? tr("Delete job %1 from history?").arg(format::jobNumber(jobs.front()))
                                                 : tr("Delete %1 from history?").arg(jobsText(jobs.size())),
                                QMessageBox::Cancel, this);
    box->setObjectName(QStringLiteral("historyDeleteBox"));
    box->setInformativeText(tr("Their kept outputs go with them. This cannot be undone."));
    box->addButton(tr("Delete"), QMessageBox::DestructiveRole)->setObjectName(QStringLiteral("historyDeleteConfirm"));
    box->setDefaultButton(QMessageBox::Cancel);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::buttonClicked, this, [this, box, jobs](QAbstractButton* button) {
        if (box->buttonRole(button) == QMessageBox::DestructiveRole) deleteSelected(jobs);
    });
    box->open();
}

void HistoryPage::deleteSelected(const std::vector<JobId>& jobs) {
    context_.services.deleteJobs(jobs);
    table_->clearSelection();
    closePane();
    dirtyTicks_ = std::max(dirtyTicks_, 3);
    QTimer::singleShot(100, this, [this] { model_->refresh(); });
}

void HistoryPage::askExport(const QString& ending) {
    auto* dialog = new QFileDialog(this, tr("Export %1").arg(jobsText(static_cast<std::uint64_t>(model_->rowCount()))),
                                   QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    dialog->setNameFilter(ending == QStringLiteral("csv") ? tr("CSV (*.csv)") : tr("JSON (*.json)"));
    dialog->selectFile(QStringLiteral("jobs.") + ending);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &HistoryPage::exportTo);
    dialog->open();
}

void HistoryPage::exportTo(const QString& file) {
    HistoryReader* reader = context_.services.history();
    if (!reader || exporting_) return;
    exporting_ = std::make_shared<std::atomic<bool>>(true);
    exportText_->setText(tr("Exporting to %1").arg(file.section(QLatin1Char('/'), -1)));
    exportBar_->setRange(0, std::max(1, model_->rowCount()));
    exportBar_->setValue(0);
    exportRow_->show();
    refreshActions();
    const auto advance = onThreadOf<std::uint64_t>(this, [this](std::uint64_t rows) {
        exportBar_->setValue(static_cast<int>(std::min<std::uint64_t>(rows, static_cast<std::uint64_t>(exportBar_->maximum()))));
    });
    const auto finished = onThreadOf<Status>(this, [this, file](Status status) {
        exporting_.reset();
        exportRow_->hide();
        refreshActions();
        if (status) emit noticeRequested(tr("Exported to %1.").arg(file), {});
        else if (status.error().kind != ErrorKind::Cancelled) emit noticeRequested(tr("Not exported: %1").arg(text(status.error().message)), {});
    });
    reader->exportTo(model_->filter(), file.toStdString(),
                     [go = exporting_, advance](std::uint64_t rows) {
                         advance(rows);
                         return go->load();
                     },
                     finished);
}

void HistoryPage::renameComparison(std::int64_t id) {
    auto* dialog = new QInputDialog(this);
    dialog->setWindowTitle(tr("Rename comparison"));
    dialog->setLabelText(tr("Name"));
    dialog->setTextValue(tree_->comparisonName(id));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QInputDialog::textValueSelected, this, [this, id](const QString& name) {
        if (name.trimmed().isEmpty()) return;
        context_.services.renameComparison(id, name.trimmed());
        dirtyTicks_ = 1;
    });
    dialog->open();
}

void HistoryPage::askDeleteComparison(std::int64_t id) {
    auto* box = new QMessageBox(QMessageBox::Question, tr("Delete comparison"),
                                tr("Delete the comparison \"%1\"?").arg(tree_->comparisonName(id)), QMessageBox::Cancel, this);
    box->setInformativeText(tr("Its runs and schedules go with it. This cannot be undone."));
    box->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    box->setDefaultButton(QMessageBox::Cancel);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::buttonClicked, this, [this, box, id](QAbstractButton* button) {
        if (box->buttonRole(button) != QMessageBox::DestructiveRole) return;
        context_.services.deleteComparison(id);
        dirtyTicks_ = 1;
    });
    box->open();
}

}  // namespace heteroscope
