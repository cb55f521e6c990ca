#pragma once

#include "scheduler/history/history_reader.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <memory>
#include <vector>

namespace heteroscope {

class JobBoard;

/// Stored jobs as rows, fetched in pages of 256 when a view first asks for one of them: a row not yet there is a
/// placeholder (LoadedRole false). Never waits. A new filter takes the place of the old rows when its first page is
/// here. Window's thread.
class HistoryModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Columns {
        StateColumn, JobColumn, KernelColumn, DeviceColumn, PolicyColumn, SubmittedColumn, WaitedColumn, RunColumn, CheckColumn,
        ColumnCount
    };
    enum Roles {
        JobIdRole = Qt::UserRole,  ///< quint64; 0 while not loaded
        StateRole,                 ///< int, JobState
        ParametersRole,            ///< QString
        SeriesRole,                ///< int: the device's series colour; -1: none
        LoadedRole,                ///< bool
    };
    static constexpr std::uint64_t pageRows = 256;

    explicit HistoryModel(JobBoard& board, QObject* parent = nullptr);

    void setReader(HistoryReader* reader);
    void setFilter(const HistoryFilter& filter);
    const HistoryFilter& filter() const { return filter_; }
    /// Asks for everything in view once more; rows stay as they are until the answer is here.
    void refresh();

    bool loaded() const { return loaded_; }  ///< the first answer of the filter in force is here
    JobId jobAt(int row) const;              ///< 0 while not loaded
    int rowOf(JobId job) const;              ///< among the loaded ones; -1: not there
    static QString columnName(int column);
    static HistoryFilter::Order orderOf(int column);
    static int columnOf(HistoryFilter::Order order);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Orders in the database. Check has no order: nothing happens.
    void sort(int column, Qt::SortOrder order) override;

signals:
    void answered();  ///< a page arrived: loaded() and rowCount() are up to date
    void failed(const QString& message);

private:
    enum class PageState : std::uint8_t { Missing, Asked, Fresh, Stale };

    void want(int row) const;
    void fetchWanted();
    void fetch(std::size_t page);
    void take(std::uint64_t generation, Result<HistoryRows> answer);
    void replaceAll(HistoryRows page);
    void resize(std::size_t total);
    void put(HistoryRows page);
    void forgetFarPages(std::size_t near);
    QString displayText(const HistoryRow& row, int column) const;
    QString toolTip(const HistoryRow& row, int column) const;
    QVariant colour(const HistoryRow& row, int column) const;

    JobBoard& board_;
    HistoryReader* reader_ = nullptr;
    HistoryFilter filter_;
    std::uint64_t generation_ = 0;  // answers of an older filter are dropped
    bool loaded_ = false, replacing_ = true;
    std::vector<std::unique_ptr<const HistoryRow>> rows_;  // null: not loaded
    mutable std::vector<PageState> pages_;
    mutable std::vector<std::size_t> wanted_;
    mutable QTimer fetchTimer_;  // pages asked for in one paint go together
};

}  // namespace heteroscope
