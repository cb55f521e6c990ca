#include "ui/compare/comparison_model.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <algorithm>

namespace heteroscope {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return -1.0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

void ComparisonModel::setComparison(const Comparison& comparison, const QStringList& deviceNames) {
    beginResetModel();
    rows_.clear();
    devices_ = deviceNames;
    const double best = comparison.bestMakespan();
    for (const auto& policy : comparison.policies()) {
        Row row;
        row.policy = QString::fromStdString(policy);
        std::vector<double> makespan, meanWait, p95Wait;
        std::vector<std::vector<double>> busy(static_cast<std::size_t>(devices_.size()));
        for (const auto& run : comparison.runs) {
            if (run.policy != policy) continue;
            row.failed += run.failed;
            if (row.firstError.isEmpty()) row.firstError = QString::fromStdString(run.firstError);
            if (run.schedule.empty()) continue;
            makespan.push_back(run.metrics.makespan);
            meanWait.push_back(run.metrics.meanWait);
            p95Wait.push_back(run.metrics.p95Wait);
            for (std::size_t d = 0; d < std::min(busy.size(), run.metrics.utilisation.size()); ++d) {
                busy[d].push_back(run.metrics.utilisation[d]);
            }
        }
        row.repeats = makespan.size();
        row.makespan = median(makespan);
        if (!makespan.empty()) {
            row.lowest = *std::min_element(makespan.begin(), makespan.end());
            row.highest = *std::max_element(makespan.begin(), makespan.end());
        }
        if (row.makespan >= 0.0 && best > 0.0) row.toBest = row.makespan / best;
        if (row.makespan >= 0.0 && comparison.lowerBoundSeconds > 0.0) row.toBound = row.makespan / comparison.lowerBoundSeconds;
        row.meanWait = median(meanWait);
        row.p95Wait = median(p95Wait);
        for (const auto& shares : busy) row.utilisation.push_back(median(shares));
        rows_.push_back(std::move(row));
    }
    endResetModel();
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ComparisonModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : FirstDeviceColumn + static_cast<int>(devices_.size());
}

double ComparisonModel::value(const Row& row, int column) const {
    switch (column) {
        case MakespanColumn: return row.makespan;
        case BestColumn: return row.toBest;
        case BoundColumn: return row.toBound;
        case MeanWaitColumn: return row.meanWait;
        case P95WaitColumn: return row.p95Wait;
        case FailedColumn: return static_cast<double>(row.failed);
        default: return row.utilisation[static_cast<std::size_t>(column - FirstDeviceColumn)];
    }
}

QString ComparisonModel::text(const Row& row, int column) const {
    if (column == PolicyColumn) return row.policy;
    if (column == FailedColumn) return row.failed == 0 ? QStringLiteral("0") : format::count(row.failed);
    const double v = value(row, column);
    if (v < 0.0) return format::absent();
    switch (column) {
        case MakespanColumn:
        case MeanWaitColumn:
        case P95WaitColumn: return format::seconds(v);
        case BestColumn: return v - 1.0 < 5e-4 ? tr("best") : format::difference(v - 1.0);
        case BoundColumn: return format::difference(v - 1.0);
        default: return format::percent(v);
    }
}

QString ComparisonModel::toolTip(const Row& row, int column) const {
    switch (column) {
        case MakespanColumn:
            if (row.repeats < 2) return tr("From the first submission to the last finish. One run.");
            return tr("From the first submission to the last finish. Median of %1 runs, %2 to %3.")
                .arg(row.repeats).arg(format::seconds(row.lowest), format::seconds(row.highest));
        case BestColumn: return tr("Makespan against the shortest of this comparison.");
        case BoundColumn:
            return tr("Makespan against the lower bound: no schedule of these jobs on these devices can be shorter, with the "
                      "shortest run times that were measured.");
        case MeanWaitColumn: return tr("Start minus submission, mean over the jobs; median over the repeats.");
        case P95WaitColumn: return tr("Start minus submission, 95th percentile by nearest rank; median over the repeats.");
        case FailedColumn: return row.failed == 0 ? tr("Every job succeeded.") : row.firstError;
        default:
            return column >= FirstDeviceColumn ? tr("Share of the makespan in which the device ran kernels.") : QString();
    }
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const auto& row = rows_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole: return text(row, index.column());
        case Qt::ToolTipRole: return toolTip(row, index.column());
        case Qt::TextAlignmentRole:
            return index.column() == PolicyColumn ? int(Qt::AlignLeft | Qt::AlignVCenter) : int(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::FontRole:
            return Theme::font(Theme::Type::Text, index.column() == MakespanColumn || (index.column() == PolicyColumn && data(index, IsBestRole).toBool()));
        case Qt::ForegroundRole:
            if (index.column() == FailedColumn && row.failed > 0) return Theme::color(Token::Bad);
            if (index.column() == BestColumn && data(index, IsBestRole).toBool()) return Theme::color(Token::Good);
            return {};
        case SortRole: return index.column() == PolicyColumn ? QVariant(row.policy) : QVariant(value(row, index.column()));
        case IsBestRole: return row.toBest >= 0.0 && row.toBest - 1.0 < 5e-4;
        default: return {};
    }
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) {
        return section == PolicyColumn ? int(Qt::AlignLeft | Qt::AlignVCenter) : int(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case PolicyColumn: return tr("Policy");
        case MakespanColumn: return tr("Makespan");
        case BestColumn: return tr("vs best");
        case BoundColumn: return tr("vs bound");
        case MeanWaitColumn: return tr("Mean wait");
        case P95WaitColumn: return tr("p95 wait");
        case FailedColumn: return tr("Failed");
        default: return tr("%1 busy").arg(devices_.value(section - FirstDeviceColumn));
    }
}

QString ComparisonModel::policyAt(int row) const {
    return row >= 0 && row < rowCount() ? rows_[static_cast<std::size_t>(row)].policy : QString();
}

QString ComparisonModel::toText() const {
    QStringList lines;
    QStringList cells;
    for (int c = 0; c < columnCount(); ++c) cells << headerData(c, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << cells.join(QLatin1Char('\t'));
    for (const auto& row : rows_) {
        cells.clear();
        for (int c = 0; c < columnCount(); ++c) cells << text(row, c);
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace heteroscope
