#pragma once

#include "scheduler/comparison.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace heteroscope {

/// A Comparison as a table: one row a policy, medians over its repeats. The last columns are the devices' utilisation.
class ComparisonModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        PolicyColumn, MakespanColumn, BestColumn, BoundColumn, MeanWaitColumn, P95WaitColumn, FailedColumn, FirstDeviceColumn,
    };
    enum Role { SortRole = Qt::UserRole, IsBestRole };

    using QAbstractTableModel::QAbstractTableModel;

    void setComparison(const Comparison& comparison, const QStringList& deviceNames);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    QString policyAt(int row) const;
    /// The table as text with tabs, for the clipboard.
    QString toText() const;

private:
    struct Row {
        QString policy;
        double makespan = -1, toBest = -1, toBound = -1, meanWait = -1, p95Wait = -1;
        double lowest = -1, highest = -1;  // makespans over the repeats
        std::size_t repeats = 0, failed = 0;
        QString firstError;
        std::vector<double> utilisation;
    };

    double value(const Row& row, int column) const;
    QString text(const Row& row, int column) const;
    QString toolTip(const Row& row, int column) const;

    std::vector<Row> rows_;
    QStringList devices_;
};

}  // namespace heteroscope
