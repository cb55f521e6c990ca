#pragma once

#include "ui/theme.h"

#include <QAbstractButton>
#include <QList>

class QVBoxLayout;

namespace heteroscope {

/// One item of the side bar: icon over label, 56 px high; icon alone when the bar is collapsed.
class SideBarItem : public QAbstractButton {
    Q_OBJECT
public:
    SideBarItem(const QString& iconName, const QString& label, QWidget* parent);
    void setCollapsed(bool collapsed);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString iconName_;
    bool collapsed_ = false;
};

/// The pages at the left, 64 px wide (40 collapsed), and what stands at its foot.
class SideBar : public QWidget {
    Q_OBJECT
public:
    explicit SideBar(QWidget* parent = nullptr);

    void addPage(const QString& iconName, const QString& label, const QString& shortcut);
    /// An item below that only reports its click.
    SideBarItem* addAction(const QString& iconName, const QString& label);
    void setCurrent(int page);
    void setCollapsed(bool collapsed);
    bool isCollapsed() const { return collapsed_; }
    SideBarItem* item(int page) const { return pages_.value(page); }

signals:
    void pageRequested(int page);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QVBoxLayout* layout_;
    QList<SideBarItem*> pages_;
    QList<SideBarItem*> actions_;
    bool collapsed_ = false;
};

}  // namespace heteroscope
