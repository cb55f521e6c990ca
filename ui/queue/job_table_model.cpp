#include "ui/queue/job_table_model.h"

#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/theme.h"
#include "ui/timing_bar.h"

#include <QDateTime>

#include <algorithm>

namespace heteroscope {
namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }
QString firstLine(const std::string& value) { return text(value.substr(0, value.find('\n'))); }
std::int64_t nowNs() { return QDateTime::currentMSecsSinceEpoch() * 1'000'000; }

QString checkWord(const JobSnapshot& job) {
    switch (job.check.state) {
        case CheckResult::State::Passed: return JobTableModel::tr("passed");
        case CheckResult::State::Failed: return JobTableModel::tr("failed");
        case CheckResult::State::None: break;
    }
    return format::absent();
}

bool isNumeric(int column) {
    return column == JobTableModel::JobColumn || column == JobTableModel::PriorityColumn ||
           column == JobTableModel::WaitedColumn || column == JobTableModel::RunColumn;
}

}  // namespace

double waitedSeconds(const JobSnapshot& job, std::int64_t nowNs) {
    const TimingParts parts = timingOf(job, nowNs);
    return parts.waitSeconds + parts.stageInSeconds + parts.heldSeconds;
}

double ranSeconds(const JobSnapshot& job, std::int64_t nowNs) {
    const double run = timingOf(job, nowNs).runSeconds;
    return run > 0.0 || job.times.started > 0 ? run : -1.0;
}

JobProgress progressOf(const JobSnapshot& job, std::int64_t nowNs) {
    if (job.state != JobState::Running || job.times.started <= 0) return {};
    const double run = ranSeconds(job, nowNs);
    if (job.times.finished > job.times.started) return {1.0, JobTableModel::tr("results come back")};
    if (job.predictedSeconds <= 0.0) return {-1.0, JobTableModel::tr("run time not known yet")};
    const double left = job.predictedSeconds - run;
    if (left >= 0.0) return {run / job.predictedSeconds, JobTableModel::tr("%1 left").arg(format::seconds(left))};
    return {0.99, JobTableModel::tr("%1 over its prediction").arg(format::seconds(-left))};
}

QString progressText(const JobSnapshot& job) {
    if (job.error) return firstLine(job.error->message);
    if (job.check.state == CheckResult::State::Failed)
        return job.check.message.empty() ? JobTableModel::tr("check failed") : firstLine(job.check.message);
    if (job.check.state == CheckResult::State::Passed) return JobTableModel::tr("check passed");
    if (!job.reason.empty()) return firstLine(job.reason);
    return job.state == JobState::Succeeded ? JobTableModel::tr("not checked") : QString();
}

JobTableModel::JobTableModel(JobBoard& board, QObject* parent) : QAbstractTableModel(parent), board_(board) {
    std::vector<const JobSnapshot*> known;
    known.reserve(board.jobs().size());
    for (const auto& [id, job] : board.jobs()) known.push_back(&job);
    insertFresh(known);
    connect(&board, &JobBoard::jobsChanged, this, &JobTableModel::update);
    connect(&board, &JobBoard::devicesChanged, this, [this] {
        if (!rows_.empty())
            emit dataChanged(index(0, DeviceColumn), index(rowCount() - 1, DeviceColumn));
    });
}

int JobTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }
int JobTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

int JobTableModel::rowOf(JobId job) const {
    const auto it = rowOf_.find(job);
    return it == rowOf_.end() ? -1 : it->second;
}

void JobTableModel::update(const std::vector<JobId>& changed) {
    std::vector<int> rows;
    std::vector<const JobSnapshot*> fresh;
    for (const JobId id : changed) {
        if (const int row = rowOf(id); row >= 0) rows.push_back(row);
        else if (const JobSnapshot* job = board_.find(id)) fresh.push_back(job);
    }
    std::sort(rows.begin(), rows.end());
    insertFresh(fresh);
    announceChanges(rows);
    for (int row = rowCount() - static_cast<int>(fresh.size()); row < rowCount(); ++row) rows.push_back(row);
    if (!rows.empty()) emit rowsUpdated(rows);
}

void JobTableModel::insertFresh(const std::vector<const JobSnapshot*>& fresh) {
    if (fresh.empty()) return;
    const int first = static_cast<int>(rows_.size());
    beginInsertRows({}, first, first + static_cast<int>(fresh.size()) - 1);
    for (const JobSnapshot* job : fresh) {
        rowOf_.emplace(job->id, static_cast<int>(rows_.size()));
        rows_.push_back(job);
    }
    endInsertRows();
}

void JobTableModel::announceChanges(const std::vector<int>& rows) {
    for (std::size_t first = 0; first < rows.size();) {
        std::size_t last = first;
        while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
        emit dataChanged(index(rows[first], 0), index(rows[last], ColumnCount - 1));
        first = last + 1;
    }
}

QString JobTableModel::columnName(int column) {
    switch (column) {
        case StateColumn: return tr("State");
        case JobColumn: return tr("Job");
        case KernelColumn: return tr("Kernel");
        case DeviceColumn: return tr("Device");
        case ProgressColumn: return tr("Progress, reason or result");
        case PriorityColumn: return tr("Prio");
        case SubmittedColumn: return tr("Submitted");
        case WaitedColumn: return tr("Waited");
        case RunColumn: return tr("Run");
        case CheckColumn: return tr("Check");
        default: return {};
    }
}

QVariant JobTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole) return columnName(section);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment((isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    if (role == Qt::ToolTipRole && section == PriorityColumn) return tr("Priority: higher goes first");
    return {};
}

QVariant JobTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const JobSnapshot& job = this->job(index.row());
    switch (role) {
        case Qt::DisplayRole: return displayText(job, index.column());
        case Qt::ToolTipRole: return toolTip(job, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment((isNumeric(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
        case Qt::DecorationRole:
            return index.column() == StateColumn ? QVariant(Theme::stateIcon(job.state)) : QVariant();
        case Qt::ForegroundRole:
            if (index.column() == StateColumn) return Theme::stateColor(job.state);
            if (index.column() == ProgressColumn && (job.error || job.check.state == CheckResult::State::Failed))
                return Theme::color(Token::Bad);
            return {};
        case JobIdRole: return QVariant::fromValue<quint64>(job.id);
        case StateRole: return static_cast<int>(job.state);
        case ParametersRole: return text(job.parameters);
        case SeriesRole: return job.device.empty() ? -1 : board_.deviceIndex(job.device);
        case ProgressRatioRole: return progressOf(job, nowNs()).ratio;
        default: return {};
    }
}

QString JobTableModel::displayText(const JobSnapshot& job, int column) const {
    switch (column) {
        case StateColumn: return format::stateName(job.state);
        case JobColumn: return QString::number(job.id);
        case KernelColumn: return job.label.empty() ? text(job.kernel) : text(job.label) + QStringLiteral(" · ") + text(job.kernel);
        case DeviceColumn: return job.device.empty() ? format::absent() : board_.deviceShortName(job.device);
        case ProgressColumn: {
            const JobProgress progress = progressOf(job, nowNs());
            if (progress.ratio >= 0.0) return format::percent(progress.ratio) + QStringLiteral("  ") + progress.text;
            return progress.text.isEmpty() ? progressText(job) : progress.text;
        }
        case PriorityColumn: return QString::number(job.priority);
        case SubmittedColumn: return job.times.submitted > 0 ? format::clockTime(job.times.submitted) : format::absent();
        case WaitedColumn: return format::seconds(waitedSeconds(job, nowNs()));
        case RunColumn: {
            const double run = ranSeconds(job, nowNs());
            return run < 0.0 ? format::absent() : format::seconds(run);
        }
        case CheckColumn: return checkWord(job);
        default: return {};
    }
}

QString JobTableModel::toolTip(const JobSnapshot& job, int column) const {
    switch (column) {
        case KernelColumn: return text(job.kernel) + QLatin1Char('\n') + text(job.parameters);
        case DeviceColumn: return text(job.device) + (job.runtime.empty() ? QString() : QStringLiteral(" · ") + text(job.runtime));
        case ProgressColumn: return job.error ? text(job.error->message) : job.reason.empty() ? progressText(job) : text(job.reason);
        case SubmittedColumn: return job.times.submitted > 0 ? format::dateTime(job.times.submitted) : QString();
        case CheckColumn: return text(job.check.message);
        default: return {};
    }
}

}  // namespace heteroscope
