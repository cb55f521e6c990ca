#include "ui/history/history_model.h"

#include "ui/ask.h"
#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/theme.h"

#include <QDateTime>

#include <algorithm>
#include <limits>

namespace heteroscope {
namespace {

// About 20,000 rows: more than anybody scrolls through, little enough to keep.
constexpr std::size_t mostPages = 80;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString orAbsent(const std::string& utf8) { return utf8.empty() ? format::absent() : text(utf8); }

// Today's by the clock alone, others with their day.
QString submittedText(std::int64_t epochNs) {
    if (epochNs <= 0) return format::absent();
    const bool today = QDateTime::fromMSecsSinceEpoch(epochNs / 1'000'000).date() == QDate::currentDate();
    return today ? format::clockTime(epochNs) : format::dateTime(epochNs);
}

bool everRan(const HistoryRow& row) { return row.runSeconds > 0.0; }
bool everPlaced(const HistoryRow& row) { return !row.device.empty(); }

}  // namespace

HistoryModel::HistoryModel(JobBoard& board, QObject* parent) : QAbstractTableModel(parent), board_(board) {
    fetchTimer_.setSingleShot(true);
    fetchTimer_.setInterval(0);
    connect(&fetchTimer_, &QTimer::timeout, this, &HistoryModel::fetchWanted);
    connect(&board_, &JobBoard::devicesChanged, this, [this] {
        if (!rows_.empty()) emit dataChanged(index(0, DeviceColumn), index(rowCount() - 1, DeviceColumn));
    });
}

void HistoryModel::setReader(HistoryReader* reader) {
    reader_ = reader;
    setFilter(filter_);
}

void HistoryModel::setFilter(const HistoryFilter& filter) {
    filter_ = filter;
    ++generation_;
    replacing_ = true;
    wanted_.clear();
    if (reader_) fetch(0);
}

void HistoryModel::refresh() {
    if (!reader_ || replacing_) return;
    for (PageState& page : pages_)
        if (page != PageState::Missing) page = PageState::Stale;
    if (pages_.empty()) pages_.push_back(PageState::Stale);
    // The total comes with any page; views ask for those in sight when they paint next.
    fetch(0);
    if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void HistoryModel::want(int row) const {
    if (!reader_ || replacing_) return;
    const std::size_t page = static_cast<std::size_t>(row) / pageRows;
    if (page >= pages_.size() || pages_[page] == PageState::Asked || pages_[page] == PageState::Fresh) return;
    if (std::find(wanted_.begin(), wanted_.end(), page) != wanted_.end()) return;
    wanted_.push_back(page);
    fetchTimer_.start();
}

void HistoryModel::fetchWanted() {
    // A scroll through a long table passes many pages: the ones asked for last are those in sight.
    constexpr std::size_t mostAtOnce = 4;
    const std::size_t first = wanted_.size() > mostAtOnce ? wanted_.size() - mostAtOnce : 0;
    for (std::size_t i = first; i < wanted_.size(); ++i) fetch(wanted_[i]);
    wanted_.clear();
}

void HistoryModel::fetch(std::size_t page) {
    if (page < pages_.size()) pages_[page] = PageState::Asked;
    reader_->page(filter_, page * pageRows, pageRows,
                  onThreadOf<Result<HistoryRows>>(this, [this, generation = generation_, page](Result<HistoryRows> answer) {
                      if (generation == generation_ && !answer && page < pages_.size()) pages_[page] = PageState::Missing;
                      take(generation, std::move(answer));
                  }));
}

void HistoryModel::take(std::uint64_t generation, Result<HistoryRows> answer) {
    if (generation != generation_) return;
    if (!answer) {
        if (answer.error().kind != ErrorKind::Cancelled) emit failed(text(answer.error().message));
        return;
    }
    const std::size_t total = std::min<std::size_t>(answer->total, std::numeric_limits<int>::max());
    // Fewer rows than before: which ones went is not told, so all are new.
    if (replacing_ || total < rows_.size()) {
        replaceAll(std::move(*answer));
    } else {
        resize(total);
        put(std::move(*answer));
    }
    loaded_ = true;
    emit answered();
}

void HistoryModel::replaceAll(HistoryRows page) {
    beginResetModel();
    replacing_ = false;
    rows_.clear();
    rows_.resize(std::min<std::size_t>(page.total, std::numeric_limits<int>::max()));
    pages_.assign((rows_.size() + pageRows - 1) / pageRows, PageState::Missing);
    put(std::move(page));
    endResetModel();
}

// New jobs have the highest numbers: in the usual order they come on top, and what is selected moves down with its row.
void HistoryModel::resize(std::size_t total) {
    const std::size_t before = rows_.size();
    if (total <= before) return;
    const bool onTop = filter_.descending && (filter_.order == HistoryFilter::Order::Id || filter_.order == HistoryFilter::Order::Submitted);
    const std::size_t at = onTop ? 0 : before, count = total - before;
    beginInsertRows({}, static_cast<int>(at), static_cast<int>(at + count - 1));
    std::vector<std::unique_ptr<const HistoryRow>> grown(total);
    std::move(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(at), grown.begin());
    std::move(rows_.begin() + static_cast<std::ptrdiff_t>(at), rows_.end(), grown.begin() + static_cast<std::ptrdiff_t>(at + count));
    rows_ = std::move(grown);
    pages_.assign((total + pageRows - 1) / pageRows, PageState::Stale);
    endInsertRows();
}

void HistoryModel::put(HistoryRows page) {
    const std::size_t first = page.offset;
    if (first >= rows_.size() || page.rows.empty()) return;
    const std::size_t count = std::min(page.rows.size(), rows_.size() - first);
    for (std::size_t i = 0; i < count; ++i) rows_[first + i] = std::make_unique<const HistoryRow>(std::move(page.rows[i]));
    if (first / pageRows < pages_.size()) pages_[first / pageRows] = PageState::Fresh;
    forgetFarPages(first / pageRows);
    emit dataChanged(index(static_cast<int>(first), 0), index(static_cast<int>(first + count - 1), ColumnCount - 1));
}

void HistoryModel::forgetFarPages(std::size_t near) {
    std::vector<std::size_t> kept;
    for (std::size_t page = 0; page < pages_.size(); ++page)
        if (pages_[page] == PageState::Fresh || pages_[page] == PageState::Stale) kept.push_back(page);
    if (kept.size() <= mostPages) return;
    const auto distance = [near](std::size_t page) { return page > near ? page - near : near - page; };
    const auto far = std::max_element(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    pages_[*far] = PageState::Missing;
    const std::size_t end = std::min(rows_.size(), (*far + 1) * pageRows);
    for (std::size_t row = *far * pageRows; row < end; ++row) rows_[row].reset();
}

JobId HistoryModel::jobAt(int row) const {
    const auto at = static_cast<std::size_t>(row);
    return row >= 0 && at < rows_.size() && rows_[at] ? rows_[at]->id : 0;
}

int HistoryModel::rowOf(JobId job) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [job](const auto& row) { return row && row->id == job; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QString HistoryModel::columnName(int column) {
    switch (column) {
        case StateColumn: return tr("State");
        case JobColumn: return tr("Job");
        case KernelColumn: return tr("Kernel");
        case DeviceColumn: return tr("Device");
        case PolicyColumn: return tr("Policy");
        case SubmittedColumn: return tr("Submitted");
        case WaitedColumn: return tr("Waited");
        case RunColumn: return tr("Run");
        case CheckColumn: return tr("Check");
        default: return {};
    }
}

HistoryFilter::Order HistoryModel::orderOf(int column) {
    using Order = HistoryFilter::Order;
    switch (column) {
        case StateColumn: return Order::State;
        case KernelColumn: return Order::Kernel;
        case DeviceColumn: return Order::Device;
        case PolicyColumn: return Order::Policy;
        case SubmittedColumn: return Order::Submitted;
        case WaitedColumn: return Order::Waited;
        case RunColumn: return Order::Run;
        default: return Order::Id;
    }
}

int HistoryModel::columnOf(HistoryFilter::Order order) {
    for (int column = 0; column < CheckColumn; ++column)
        if (orderOf(column) == order) return column;
    return JobColumn;
}

int HistoryModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int HistoryModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
    // Only what is painted is fetched: a view asks for the text of cells in sight.
    if (role == Qt::DisplayRole) want(index.row());
    const HistoryRow* row = rows_[static_cast<std::size_t>(index.row())].get();
    if (role == LoadedRole) return row != nullptr;
    if (role == Qt::TextAlignmentRole) {
        const bool isNumber = index.column() == JobColumn || index.column() == WaitedColumn || index.column() == RunColumn;
        return static_cast<int>((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (!row) return role == JobIdRole ? QVariant(quint64{0}) : QVariant();
    switch (role) {
        case Qt::DisplayRole: return displayText(*row, index.column());
        case Qt::ToolTipRole: return toolTip(*row, index.column());
        case Qt::ForegroundRole: return colour(*row, index.column());
        case JobIdRole: return QVariant::fromValue<quint64>(row->id);
        case StateRole: return static_cast<int>(row->state);
        case ParametersRole: return text(row->parameters);
        case SeriesRole: return row->device.empty() ? -1 : board_.deviceIndex(row->device);
        default: return {};
    }
}

QString HistoryModel::displayText(const HistoryRow& row, int column) const {
    switch (column) {
        case StateColumn: return format::stateName(row.state);
        case JobColumn: return QString::number(row.id);
        case KernelColumn: return text(row.kernel);
        case DeviceColumn: return row.device.empty() ? format::absent() : board_.deviceShortName(row.device);
        case PolicyColumn: return orAbsent(row.policy);
        case SubmittedColumn: return submittedText(row.submitted);
        case WaitedColumn: return everPlaced(row) ? format::seconds(row.waitSeconds) : format::absent();
        case RunColumn: return everRan(row) ? format::seconds(row.runSeconds) : format::absent();
        case CheckColumn: return row.check == "none" ? format::absent() : row.check == "passed" ? tr("passed") : tr("failed");
        default: return {};
    }
}

QString HistoryModel::toolTip(const HistoryRow& row, int column) const {
    switch (column) {
        case StateColumn: return text(row.error);
        case KernelColumn: {
            const QString kernel = text(row.kernel) + QLatin1Char('\n') + text(row.parameters);
            return row.label.empty() ? kernel : kernel + QLatin1Char('\n') + tr("Label: %1").arg(text(row.label));
        }
        case DeviceColumn: return row.device.empty() ? QString() : text(row.device) + QStringLiteral(" · ") + text(row.runtime);
        case SubmittedColumn: return format::dateTime(row.submitted);
        default: return {};
    }
}

QVariant HistoryModel::colour(const HistoryRow& row, int column) const {
    if (column == StateColumn) return Theme::stateColor(row.state);
    if (column == CheckColumn && row.check == "passed") return Theme::color(Token::Good);
    if (column == CheckColumn && row.check == "failed") return Theme::color(Token::Bad);
    return {};
}

QVariant HistoryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole) return columnName(section);
    if (role == Qt::TextAlignmentRole) {
        const bool isNumber = section == JobColumn || section == WaitedColumn || section == RunColumn;
        return static_cast<int>((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

void HistoryModel::sort(int column, Qt::SortOrder order) {
    if (column < 0 || column >= CheckColumn) return;
    HistoryFilter next = filter_;
    next.order = orderOf(column);
    next.descending = order == Qt::DescendingOrder;
    if (next != filter_) setFilter(next);
}

}  // namespace heteroscope
