#pragma once

#include "scheduler/job.h"

#include <QRectF>
#include <QStyledItemDelegate>

#include <vector>

namespace heteroscope {

/// A "#1042" in a cell's text and where it stands.
struct JobLink {
    JobId job = 0;
    QRectF place;
};

/// Draws the cells of JobTableModel: state with icon, parameters beside the kernel, the device's swatch, progress as a bar, numbers of other
/// jobs as links.
class JobDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;

    void setShowParameters(bool show) { showParameters_ = show; }

signals:
    void jobLinkClicked(quint64 job);

private:
    void paintProgress(QPainter* painter, const QRect& rect, const QModelIndex& index) const;

    bool showParameters_ = true;
};

/// The links in `text` when it is drawn from `left` in a cell `rect`.
std::vector<JobLink> jobLinks(const QString& text, const QRect& rect, const QFont& font);

}  // namespace heteroscope
