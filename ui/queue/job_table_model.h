#pragma once

#include "scheduler/engine.h"

#include <QAbstractTableModel>

#include <unordered_map>
#include <vector>

namespace heteroscope {

class JobBoard;

/// How far a job under way is, as of a moment.
struct JobProgress {
    double ratio = -1.0;  ///< 0..1; negative: not known, or nothing to measure
    QString text;         ///< "4.7 s left"
};
/// From the run time so far and its prediction; `nowNs` in ns since the Unix epoch.
JobProgress progressOf(const JobSnapshot& job, std::int64_t nowNs);

/// Time from its submission to the start of its kernel, or so far; seconds.
double waitedSeconds(const JobSnapshot& job, std::int64_t nowNs);
/// Time its kernel has run so far, or did run; seconds, negative when it has not started.
double ranSeconds(const JobSnapshot& job, std::int64_t nowNs);
/// What the job waits for, does, or came to, in one line.
QString progressText(const JobSnapshot& job);

/// The session's jobs as rows, in the order in which they came; a row never moves. New jobs come in one insertion an
/// update, changed ones are announced in place. Window's thread.
class JobTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Columns {
        StateColumn,
        JobColumn,
        KernelColumn,
        DeviceColumn,
        ProgressColumn,
        PriorityColumn,
        SubmittedColumn,
        WaitedColumn,
        RunColumn,
        CheckColumn,
        ColumnCount
    };
    enum Roles {
        JobIdRole = Qt::UserRole,  ///< quint64
        StateRole,                 ///< int, JobState
        ParametersRole,            ///< QString
        SeriesRole,                ///< int: the device's series colour; -1: none
        ProgressRatioRole,         ///< double, see JobProgress
    };

    explicit JobTableModel(JobBoard& board, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    const JobSnapshot& job(int row) const { return *rows_[static_cast<std::size_t>(row)]; }
    int rowOf(JobId job) const;  ///< -1: not there
    static QString columnName(int column);

signals:
    /// New and changed rows of one update, ascending. One signal for a proxy that sorts: it must see all of them at
    /// once, for at the first rowsInserted or dataChanged the others hold new values already.
    void rowsUpdated(const std::vector<int>& rows);

private:
    void update(const std::vector<JobId>& changed);
    void insertFresh(const std::vector<const JobSnapshot*>& fresh);
    void announceChanges(const std::vector<int>& rows);
    QString displayText(const JobSnapshot& job, int column) const;
    QString toolTip(const JobSnapshot& job, int column) const;

    JobBoard& board_;
    std::vector<const JobSnapshot*> rows_;  // the board's own: its map never moves nor erases a job
    std::unordered_map<JobId, int> rowOf_;
};

}  // namespace heteroscope
