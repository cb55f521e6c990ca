#include "ui/monitor/latest_model.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <algorithm>

namespace heteroscope {

namespace {

QString endWords(const JobSnapshot& job, const QString& device) {
    if (job.state == JobState::Succeeded) {
        QString text = QObject::tr("on %1 in %2").arg(device, format::seconds(job.runSeconds));
        if (job.check.state == CheckResult::State::Passed) text += QObject::tr(", check passed");
        return text;
    }
    QString why = QString::fromStdString(job.error ? job.error->message : job.reason).section(QLatin1Char('\n'), 0, 0);
    if (why.isEmpty()) why = format::stateName(job.state);
    return job.device.empty() ? why : QObject::tr("on %1: %2").arg(device, why);
}

}  // namespace

LatestModel::LatestModel(const JobBoard& board, QObject* parent) : QAbstractTableModel(parent), board_(board) {}

void LatestModel::note(const std::vector<JobId>& jobs) {
    for (const JobId id : jobs) {
        const JobSnapshot* job = board_.find(id);
        if (!job) continue;
        if (isFinal(job->state)) {
            add({id, std::max(job->times.ended, job->times.finished), job->state, job->kernel, job->device, nullptr,
                 endWords(*job, board_.deviceShortName(job->device))});
        } else if (job->decision && job->times.assigned > 0) {
            add({id, job->times.assigned, job->state, job->kernel, job->device, job->decision, {}});
        }
    }
}

void LatestModel::add(Entry entry) {
    // A job told again takes the place of what was said before of the same thing.
    const auto same = [&](const Entry& known) { return known.job == entry.job && isFinal(known.state) == isFinal(entry.state); };
    if (const auto it = std::find_if(coming_.begin(), coming_.end(), same); it != coming_.end()) coming_.erase(it);
    const auto place = std::find_if(coming_.begin(), coming_.end(), [&](const Entry& known) { return known.at <= entry.at; });
    if (place == coming_.end() && coming_.size() >= kept) return;
    coming_.insert(place, std::move(entry));
    if (coming_.size() > kept) coming_.pop_back();
}

bool LatestModel::publish() {
    const auto equal = [](const Entry& a, const Entry& b) { return a.job == b.job && a.at == b.at && a.state == b.state; };
    if (std::equal(coming_.begin(), coming_.end(), rows_.begin(), rows_.end(), equal)) return false;
    if (coming_.size() == rows_.size()) {
        rows_ = coming_;
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCountOf - 1));
        return true;
    }
    beginResetModel();
    rows_ = coming_;
    endResetModel();
    return true;
}

int LatestModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

int LatestModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : columnCountOf; }

QString LatestModel::sentence(const Entry& entry) const {
    if (!entry.decision) return entry.text;
    std::vector<std::string> names;
    for (const auto& device : board_.latest().devices) names.push_back(board_.deviceShortName(device.id).toStdString());
    return QString::fromStdString(explain(*entry.decision, names));
}

QVariant LatestModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Entry& entry = rows_[static_cast<std::size_t>(index.row())];
    if (role == JobIdRole) return static_cast<quint64>(entry.job);
    if (role == Qt::ToolTipRole) return index.column() == TextColumn ? sentence(entry) : format::stateName(entry.state);
    if (role == Qt::AccessibleTextRole && index.column() == StateColumn) return format::stateName(entry.state);
    if (role == Qt::DecorationRole && index.column() == StateColumn) return Theme::stateIcon(entry.state);
    if (role == Qt::ForegroundRole) {
        if (index.column() == JobColumn) return Theme::color(Token::Accent);
        if (index.column() == KernelColumn) return Theme::color(Token::Text);
        return Theme::color(Token::Secondary);
    }
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case TimeColumn: return format::clockTime(entry.at);
        case JobColumn: return format::jobNumber(entry.job);
        case KernelColumn: return QString::fromStdString(entry.kernel);
        case TextColumn: return sentence(entry);
        default: return {};
    }
}

}  // namespace heteroscope
