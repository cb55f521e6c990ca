#pragma once

#include "scheduler/history/history_reader.h"

#include <QTreeView>

#include <optional>

class QStandardItem;
class QStandardItemModel;

namespace heteroscope {

/// Sessions and comparisons by date: today, single days of the last week, weeks, months. The first item stands for all.
class HistoryTree : public QTreeView {
    Q_OBJECT
public:
    explicit HistoryTree(QWidget* parent = nullptr);

    /// Keeps what is selected and what is unfolded. The newest session without an end is the one that is open
    /// (`currentOpen`), others without one died.
    void setContents(const std::vector<SessionRow>& sessions, const std::vector<ComparisonRow>& comparisons);
    /// Shows entries only that hold every word.
    void setSearch(const QString& text);
    std::optional<std::int64_t> currentSession() const;
    std::optional<std::int64_t> currentComparison() const;
    QString comparisonName(std::int64_t id) const;
    void selectAll() override;  ///< the item for all
    void selectSession(std::int64_t id);

signals:
    void sessionChosen(std::optional<std::int64_t> session);  ///< none: all
    void comparisonActivated(qint64 comparison);

private:
    void chosen(const QModelIndex& index);
    void addGroup(QStandardItem* group, const QString& name);
    QStandardItem* itemOf(int role, std::int64_t id) const;

    QStandardItemModel* model_;
    QString search_;
};

/// The name of the group that a moment falls in, seen from `today`.
QString historyGroup(const QDate& day, const QDate& today);

}  // namespace heteroscope
