#pragma once

#include "scheduler/kernel/kernel.h"

#include <QAbstractListModel>
#include <QStyledItemDelegate>

#include <memory>
#include <vector>

namespace heteroscope {

/// The kernels that match a search, by id, title and description.
class KernelListModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Roles { KernelRole = Qt::UserRole, DescriptionRole, LanguagesRole, SearchRole };

    using QAbstractListModel::QAbstractListModel;

    void setCatalogue(std::shared_ptr<const KernelCatalogue> catalogue);
    void setSearch(const QString& text);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    KernelPtr kernel(int row) const { return shown_[static_cast<std::size_t>(row)]; }
    int rowOf(const std::string& id) const;  ///< -1: not shown
    int total() const;

private:
    void refresh();

    std::shared_ptr<const KernelCatalogue> catalogue_;
    QString search_;
    std::vector<KernelPtr> shown_;
};

/// Two lines a kernel, what was searched for marked.
class KernelDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace heteroscope
