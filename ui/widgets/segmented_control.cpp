#include "ui/widgets/segmented_control.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

namespace heteroscope {

SegmentedControl::SegmentedControl(QStringList labels, QWidget* parent) : QWidget(parent), labels_(std::move(labels)) {
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setFont(Theme::font(Theme::Type::Text));
    setAccessibleDescription(labels_.value(current_));
}

void SegmentedControl::setCurrent(int index) {
    if (index < 0 || index >= labels_.size() || index == current_) return;
    current_ = index;
    setAccessibleDescription(labels_.value(current_));
    update();
    emit currentChanged(index);
}

int SegmentedControl::widthOf(int index) const { return fontMetrics().horizontalAdvance(labels_[index]) + 24; }

QSize SegmentedControl::sizeHint() const {
    int width = 0;
    for (int i = 0; i < labels_.size(); ++i) width += widthOf(i);
    return {width, 28};
}

QRect SegmentedControl::segment(int index) const {
    int x = 0;
    for (int i = 0; i < index; ++i) x += widthOf(i);
    return {x, 0, widthOf(index), height()};
}

void SegmentedControl::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    QPainterPath shape;
    shape.addRoundedRect(frame, 6, 6);
    painter.fillPath(shape, Theme::color(Token::Raised));
    painter.setClipPath(shape);
    painter.fillRect(segment(current_), Theme::color(Token::Accent));
    painter.setClipping(false);
    for (int i = 0; i < labels_.size(); ++i) {
        const QRect place = segment(i);
        if (i > 0 && i != current_ && i != current_ + 1) painter.fillRect(QRect(place.left(), 1, 1, height() - 2), Theme::color(Token::Line));
        painter.setPen(Theme::color(i == current_ ? Token::OnAccent : Token::Text));
        painter.drawText(place, Qt::AlignCenter, labels_[i]);
    }
    painter.setPen(QPen(Theme::color(hasFocus() ? Token::Accent : Token::Edge), hasFocus() ? 2.0 : 1.0));
    painter.drawPath(shape);
}

void SegmentedControl::mousePressEvent(QMouseEvent* event) {
    for (int i = 0; i < labels_.size(); ++i)
        if (segment(i).contains(event->position().toPoint())) setCurrent(i);
}

void SegmentedControl::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left) setCurrent(current_ - 1);
    else if (event->key() == Qt::Key_Right) setCurrent(current_ + 1);
    else QWidget::keyPressEvent(event);
}

}  // namespace heteroscope
