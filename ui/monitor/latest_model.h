#pragma once

#include "ui/job_board.h"

#include <QAbstractTableModel>

#include <deque>

namespace heteroscope {

/// The last things that happened to jobs: placed (with the decision's sentence) or ended (with how). Newest first.
class LatestModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Columns { TimeColumn, StateColumn, JobColumn, KernelColumn, TextColumn, columnCountOf };
    enum Roles { JobIdRole = Qt::UserRole };

    explicit LatestModel(const JobBoard& board, QObject* parent = nullptr);

    /// Notes what changed; rows appear with the next publish().
    void note(const std::vector<JobId>& jobs);
    /// True when rows changed.
    bool publish();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

    static constexpr std::size_t kept = 50;

private:
    struct Entry {
        JobId job;
        std::int64_t at;
        JobState state;
        std::string kernel;
        std::string device;
        std::shared_ptr<const Decision> decision;  ///< of one that was placed
        QString text;                              ///< of one that ended
    };
    void add(Entry entry);
    QString sentence(const Entry& entry) const;

    const JobBoard& board_;
    std::deque<Entry> coming_;
    std::deque<Entry> rows_;
};

}  // namespace heteroscope
