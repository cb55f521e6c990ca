#pragma once

#include "scheduler/job.h"

#include <QAbstractProxyModel>

#include <array>
#include <string>
#include <vector>

namespace heteroscope {

class JobTableModel;

/// JobTableModel filtered by state and text, and sorted. Its own instead of QSortFilterProxyModel because an update
/// touches many scattered rows: here that is one pass and one signal, however many rows the queue has.
class JobFilterModel : public QAbstractProxyModel {
    Q_OBJECT
public:
    explicit JobFilterModel(JobTableModel& jobs, QObject* parent = nullptr);

    /// Empty: every state.
    void setStates(const std::vector<JobState>& states);
    /// Words, all of which must occur (in kernel, label, parameters, device, policy, reason, error or state); "#12" is
    /// the number of a job.
    void setText(const QString& text);
    bool filtered() const { return anyState_ || number_ || !words_.empty(); }
    bool accepts(int sourceRow) const;

    void sort(int column, Qt::SortOrder order) override;
    int sortColumn() const { return column_; }
    Qt::SortOrder sortOrder() const { return order_; }

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QModelIndex mapToSource(const QModelIndex& proxy) const override;
    QModelIndex mapFromSource(const QModelIndex& source) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    int sourceRow(int row) const { return order2source_[static_cast<std::size_t>(row)]; }
    int rowOfSource(int sourceRow) const { return source2order_[static_cast<std::size_t>(sourceRow)]; }  ///< -1: hidden

private:
    void rebuild();
    void take(const std::vector<int>& changed);
    std::size_t insertionCount(const std::vector<int>& sortedRows) const;
    void leave(const std::vector<int>& positions);
    void enter(const std::vector<int>& sortedRows);
    void move(const std::vector<int>& rows);
    bool less(int a, int b) const;
    int compare(int a, int b) const;
    void reindexFrom(std::size_t position);
    void reorder(std::vector<int> order);
    std::vector<int> sortedOrder() const;

    JobTableModel& jobs_;
    std::array<bool, jobStateCount> states_{};
    bool anyState_ = false;
    std::vector<std::string> words_;
    std::optional<JobId> number_;
    int column_ = 0;
    Qt::SortOrder order_ = Qt::AscendingOrder;
    std::int64_t now_ = 0;  // one moment for a whole pass: comparisons must agree with each other
    std::vector<int> order2source_;
    std::vector<int> source2order_;  // -1: filtered out
};

}  // namespace heteroscope
