// An update is taken in three steps, each one a legal change to a view: rows that no longer pass leave, rows whose key
// changed are merged into place in one layout change, rows that pass now enter. Where that would be more steps than
// `stepLimit`, the model is reset instead.
#include "ui/queue/job_filter_model.h"

#include "ui/queue/job_table_model.h"

#include <QDateTime>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace heteroscope {
namespace {

constexpr std::size_t stepLimit = 64;

char folded(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Is `word` (folded) in `text`, ignoring the case of ASCII letters?
bool contains(std::string_view text, std::string_view word) {
    return std::search(text.begin(), text.end(), word.begin(), word.end(),
                       [](char a, char b) { return folded(a) == b; }) != text.end();
}

/// Order in which people care: what happens now, what comes, what was.
int stateRank(JobState state) {
    switch (state) {
        case JobState::Running: return 0;
        case JobState::Staging: return 1;
        case JobState::Assigned: return 2;
        case JobState::Ready: return 3;
        case JobState::Waiting: return 4;
        case JobState::Failed: return 5;
        case JobState::TimedOut: return 6;
        case JobState::Interrupted: return 7;
        case JobState::Succeeded: return 8;
        case JobState::Cancelled: return 9;
        case JobState::Skipped: return 10;
    }
    return 11;
}

/// Stretches of neighbours in positions that fall.
std::size_t removalCount(const std::vector<int>& falling) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < falling.size(); ++i)
        if (i == 0 || falling[i] != falling[i - 1] - 1) ++count;
    return count;
}

template <class T>
int three(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

/// Text order in which runs of digits count as numbers: "n=512" before "n=4096".
int naturalCompare(std::string_view a, std::string_view b) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            std::size_t ei = i, ej = j;
            while (ei < a.size() && digit(a[ei])) ++ei;
            while (ej < b.size() && digit(b[ej])) ++ej;
            if (ei - i != ej - j) return three(ei - i, ej - j);
            if (const int c = a.substr(i, ei - i).compare(b.substr(j, ej - j)); c != 0) return c;
            i = ei;
            j = ej;
            continue;
        }
        if (const int c = three(folded(a[i]), folded(b[j])); c != 0) return c;
        ++i;
        ++j;
    }
    return three(a.size() - i, b.size() - j);
}

int compareBy(int column, const JobSnapshot& a, const JobSnapshot& b, std::int64_t now) {
    switch (column) {
        case JobTableModel::StateColumn: return three(stateRank(a.state), stateRank(b.state));
        case JobTableModel::JobColumn: return three(a.id, b.id);
        case JobTableModel::KernelColumn:
            if (const int c = naturalCompare(a.kernel, b.kernel); c != 0) return c;
            return naturalCompare(a.parameters, b.parameters);
        case JobTableModel::DeviceColumn: return naturalCompare(a.device, b.device);
        case JobTableModel::ProgressColumn: return naturalCompare(a.reason, b.reason);
        case JobTableModel::PriorityColumn: return three(a.priority, b.priority);
        case JobTableModel::SubmittedColumn: return three(a.times.submitted, b.times.submitted);
        case JobTableModel::WaitedColumn: return three(waitedSeconds(a, now), waitedSeconds(b, now));
        case JobTableModel::RunColumn: return three(ranSeconds(a, now), ranSeconds(b, now));
        case JobTableModel::CheckColumn: return three(static_cast<int>(a.check.state), static_cast<int>(b.check.state));
        default: return 0;
    }
}

}  // namespace

JobFilterModel::JobFilterModel(JobTableModel& jobs, QObject* parent) : QAbstractProxyModel(parent), jobs_(jobs) {
    setSourceModel(&jobs);
    connect(&jobs, &JobTableModel::rowsUpdated, this, &JobFilterModel::take);
    rebuild();
}

bool JobFilterModel::accepts(int sourceRow) const {
    const JobSnapshot& job = jobs_.job(sourceRow);
    if (anyState_ && !states_[static_cast<std::size_t>(job.state)]) return false;
    if (number_ && job.id != *number_) return false;
    return std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
        return contains(job.kernel, word) || contains(job.parameters, word) || contains(job.label, word) ||
               contains(job.device, word) || contains(job.policy, word) || contains(job.reason, word) ||
               contains(toString(job.state), word) || (job.error && contains(job.error->message, word)) ||
               std::to_string(job.id) == word ||
               contains(jobs_.index(sourceRow, JobTableModel::DeviceColumn).data().toString().toStdString(), word);
    });
}

void JobFilterModel::setStates(const std::vector<JobState>& states) {
    std::array<bool, jobStateCount> wanted{};
    for (const JobState state : states) wanted[static_cast<std::size_t>(state)] = true;
    if (wanted == states_) return;
    states_ = wanted;
    anyState_ = !states.empty();
    rebuild();
}

void JobFilterModel::setText(const QString& text) {
    std::vector<std::string> words;
    std::optional<JobId> number;
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const JobId id = word.mid(1).toULongLong(&isNumber);
        if (word.startsWith(QLatin1Char('#')) && isNumber) number = id;
        else if (word != QLatin1String("#")) words.push_back(word.toLower().toStdString());
    }
    if (words == words_ && number == number_) return;
    words_ = std::move(words);
    number_ = number;
    rebuild();
}

void JobFilterModel::sort(int column, Qt::SortOrder order) {
    if (column < 0 || (column == column_ && order == order_)) return;
    column_ = column;
    order_ = order;
    reorder(sortedOrder());
}

int JobFilterModel::compare(int a, int b) const {
    const JobSnapshot& x = jobs_.job(a);
    const JobSnapshot& y = jobs_.job(b);
    if (const int c = compareBy(column_, x, y, now_); c != 0) return order_ == Qt::AscendingOrder ? c : -c;
    // Equals: what is still to come in the order of the queue, what is over with the latest first.
    const bool latestFirst = column_ != JobTableModel::JobColumn && isFinal(x.state) && isFinal(y.state);
    return latestFirst ? three(y.id, x.id) : three(x.id, y.id);
}

bool JobFilterModel::less(int a, int b) const { return compare(a, b) < 0; }

std::vector<int> JobFilterModel::sortedOrder() const {
    std::vector<int> order = order2source_;
    const_cast<JobFilterModel*>(this)->now_ = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    std::sort(order.begin(), order.end(), [this](int a, int b) { return less(a, b); });
    return order;
}

void JobFilterModel::rebuild() {
    beginResetModel();
    order2source_.clear();
    for (int row = 0; row < jobs_.rowCount(); ++row)
        if (accepts(row)) order2source_.push_back(row);
    order2source_ = sortedOrder();
    source2order_.assign(static_cast<std::size_t>(jobs_.rowCount()), -1);
    reindexFrom(0);
    endResetModel();
}

void JobFilterModel::reindexFrom(std::size_t position) {
    for (std::size_t i = position; i < order2source_.size(); ++i)
        source2order_[static_cast<std::size_t>(order2source_[i])] = static_cast<int>(i);
}

void JobFilterModel::take(const std::vector<int>& changed) {
    now_ = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    source2order_.resize(static_cast<std::size_t>(jobs_.rowCount()), -1);
    std::vector<int> leaving, staying, entering;
    for (const int row : changed) {
        const int position = rowOfSource(row);
        const bool in = accepts(row);
        if (position >= 0 && in) staying.push_back(row);
        else if (position >= 0) leaving.push_back(position);
        else if (in) entering.push_back(row);
    }
    std::sort(leaving.rbegin(), leaving.rend());
    std::sort(entering.begin(), entering.end(), [this](int a, int b) { return less(a, b); });
    if (removalCount(leaving) + insertionCount(entering) > stepLimit) {
        rebuild();
        return;
    }
    leave(leaving);
    move(staying);
    enter(entering);
}

/// How many insertions enter() would make.
std::size_t JobFilterModel::insertionCount(const std::vector<int>& sortedRows) const {
    std::size_t count = 0;
    auto previous = order2source_.begin();
    for (std::size_t i = 0; i < sortedRows.size() && count <= stepLimit; ++i) {
        const auto place = std::lower_bound(previous, order2source_.end(), sortedRows[i], [this](int a, int b) { return less(a, b); });
        if (i == 0 || place != previous) ++count;
        previous = place;
    }
    return count;
}

void JobFilterModel::leave(const std::vector<int>& positions) {
    const std::vector<int>& sorted = positions;  // the last first, so that the others stay where they are
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t j = i;
        while (j + 1 < sorted.size() && sorted[j + 1] == sorted[j] - 1) ++j;
        const int first = sorted[j], last = sorted[i];
        beginRemoveRows({}, first, last);
        for (int p = first; p <= last; ++p) source2order_[static_cast<std::size_t>(sourceRow(p))] = -1;
        order2source_.erase(order2source_.begin() + first, order2source_.begin() + last + 1);
        reindexFrom(static_cast<std::size_t>(first));
        endRemoveRows();
        i = j + 1;
    }
}

void JobFilterModel::move(const std::vector<int>& rows) {
    if (rows.empty()) return;
    std::vector<bool> moved(source2order_.size(), false);
    for (const int row : rows) moved[static_cast<std::size_t>(row)] = true;
    std::vector<int> rest;
    rest.reserve(order2source_.size());
    for (const int row : order2source_)
        if (!moved[static_cast<std::size_t>(row)]) rest.push_back(row);
    std::vector<int> sorted = rows;
    const auto before = [this](int a, int b) { return less(a, b); };
    std::sort(sorted.begin(), sorted.end(), before);
    std::vector<int> merged;
    merged.reserve(order2source_.size());
    auto from = rest.begin();
    for (const int row : sorted) {
        const auto place = std::lower_bound(from, rest.end(), row, before);
        merged.insert(merged.end(), from, place);
        merged.push_back(row);
        from = place;
    }
    merged.insert(merged.end(), from, rest.end());
    if (merged != order2source_) reorder(std::move(merged));
    std::vector<int> positions;
    positions.reserve(rows.size());
    for (const int row : rows) positions.push_back(rowOfSource(row));
    std::sort(positions.begin(), positions.end());
    for (std::size_t first = 0; first < positions.size();) {
        std::size_t last = first;
        while (last + 1 < positions.size() && positions[last + 1] == positions[last] + 1) ++last;
        emit dataChanged(index(positions[first], 0), index(positions[last], columnCount() - 1));
        first = last + 1;
    }
}

void JobFilterModel::enter(const std::vector<int>& rows) {
    const auto before = [this](int a, int b) { return less(a, b); };
    for (std::size_t i = 0; i < rows.size();) {
        const auto place = std::lower_bound(order2source_.begin(), order2source_.end(), rows[i], before);
        std::size_t j = i + 1;
        while (j < rows.size() && (place == order2source_.end() || less(rows[j], *place))) ++j;
        const int first = static_cast<int>(place - order2source_.begin());
        beginInsertRows({}, first, first + static_cast<int>(j - i) - 1);
        order2source_.insert(place, rows.begin() + static_cast<std::ptrdiff_t>(i), rows.begin() + static_cast<std::ptrdiff_t>(j));
        reindexFrom(static_cast<std::size_t>(first));
        endInsertRows();
        i = j;
    }
}

void JobFilterModel::reorder(std::vector<int> order) {
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<int> sources;
    sources.reserve(static_cast<std::size_t>(before.size()));
    for (const QModelIndex& index : before) sources.push_back(sourceRow(index.row()));
    order2source_ = std::move(order);
    reindexFrom(0);
    QModelIndexList after;
    after.reserve(before.size());
    for (qsizetype i = 0; i < before.size(); ++i)
        after.push_back(createIndex(rowOfSource(sources[static_cast<std::size_t>(i)]), before[i].column()));
    changePersistentIndexList(before, after);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QModelIndex JobFilterModel::index(int row, int column, const QModelIndex& parent) const {
    return hasIndex(row, column, parent) ? createIndex(row, column) : QModelIndex();
}
QModelIndex JobFilterModel::parent(const QModelIndex&) const { return {}; }
int JobFilterModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order2source_.size());
}
int JobFilterModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : jobs_.columnCount(); }

QModelIndex JobFilterModel::mapToSource(const QModelIndex& proxy) const {
    return proxy.isValid() ? jobs_.index(sourceRow(proxy.row()), proxy.column()) : QModelIndex();
}

QModelIndex JobFilterModel::mapFromSource(const QModelIndex& source) const {
    if (!source.isValid() || static_cast<std::size_t>(source.row()) >= source2order_.size()) return {};
    const int row = rowOfSource(source.row());
    return row < 0 ? QModelIndex() : createIndex(row, source.column());
}

QVariant JobFilterModel::headerData(int section, Qt::Orientation orientation, int role) const {
    return jobs_.headerData(section, orientation, role);
}

}  // namespace heteroscope
