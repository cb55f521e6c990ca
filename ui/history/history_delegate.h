#pragma once

#include <QStyledItemDelegate>

namespace heteroscope {

/// Draws the cells of HistoryModel: state with icon, parameters beside the kernel, the device's swatch, a faint bar
/// for what is not loaded yet.
class HistoryDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace heteroscope
