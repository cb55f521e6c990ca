#include "ui/widgets/side_bar.h"

#include <QPainter>
#include <QVBoxLayout>

namespace heteroscope {

SideBarItem::SideBarItem(const QString& iconName, const QString& label, QWidget* parent)
    : QAbstractButton(parent), iconName_(iconName) {
    setText(label);
    setFont(Theme::font(Theme::Type::Caption));
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setAttribute(Qt::WA_Hover);
    setAccessibleName(label);
}

void SideBarItem::setCollapsed(bool collapsed) {
    collapsed_ = collapsed;
    updateGeometry();
    update();
}

QSize SideBarItem::sizeHint() const { return collapsed_ ? QSize(40, 40) : QSize(64, 56); }

void SideBarItem::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (isChecked()) {
        painter.fillRect(rect(), Theme::color(Token::Selection));
        painter.fillRect(QRect(0, 0, 3, height()), Theme::color(Token::Accent));
    } else if (underMouse()) {
        painter.fillRect(rect(), Theme::color(Token::Hover));
    }
    const Token token = isChecked() ? Token::Accent : Token::Secondary;
    QRect icon(0, 0, 20, 20);
    icon.moveCenter(QPoint(width() / 2, collapsed_ ? height() / 2 : 21));
    Theme::icon(iconName_, token).paint(&painter, icon);
    if (!collapsed_) {
        QFont face = font();
        face.setWeight(isChecked() ? QFont::DemiBold : QFont::Normal);
        painter.setFont(face);
        painter.setPen(Theme::color(token));
        painter.drawText(QRect(0, 34, width(), 16), Qt::AlignCenter, text());
    }
    if (hasFocus()) {
        painter.setPen(QPen(Theme::color(Token::Accent), 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(4.5, 2.5, -3.5, -2.5), 4, 4);
    }
}

SideBar::SideBar(QWidget* parent) : QWidget(parent), layout_(new QVBoxLayout(this)) {
    layout_->setContentsMargins(0, 0, 1, 4);
    layout_->setSpacing(0);
    layout_->addStretch(1);
    setFixedWidth(64);
}

void SideBar::addPage(const QString& iconName, const QString& label, const QString& shortcut) {
    auto* item = new SideBarItem(iconName, label, this);
    item->setToolTip(QStringLiteral("%1 (%2)").arg(label, shortcut));
    const int page = static_cast<int>(pages_.size());
    connect(item, &QAbstractButton::clicked, this, [this, page] { emit pageRequested(page); });
    layout_->insertWidget(page, item);
    pages_.append(item);
}

SideBarItem* SideBar::addAction(const QString& iconName, const QString& label) {
    auto* item = new SideBarItem(iconName, label, this);
    item->setCheckable(false);
    item->setToolTip(label);
    layout_->addWidget(item);
    actions_.append(item);
    return item;
}

void SideBar::setCurrent(int page) {
    for (int i = 0; i < pages_.size(); ++i) pages_[i]->setChecked(i == page);
}

void SideBar::setCollapsed(bool collapsed) {
    collapsed_ = collapsed;
    setFixedWidth(collapsed ? 40 : 64);
    for (auto* item : pages_) item->setCollapsed(collapsed);
    for (auto* item : actions_) item->setCollapsed(collapsed);
}

void SideBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::color(Token::Card));
    painter.fillRect(width() - 1, 0, 1, height(), Theme::color(Token::Line));
}

}  // namespace heteroscope
