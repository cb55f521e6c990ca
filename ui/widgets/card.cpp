#include "ui/widgets/card.h"

#include <QPainter>

namespace heteroscope {

Card::Card(QWidget* parent) : QWidget(parent) {}

void Card::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Theme::color(Token::Line));
    painter.setBrush(Theme::color(Token::Card));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

Bar::Bar(Token ground, Edge edge, QWidget* parent) : QWidget(parent), ground_(ground), edge_(edge) {}

void Bar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::color(ground_));
    const QColor line = Theme::color(Token::Line);
    switch (edge_) {
        case Edge::None: break;
        case Edge::Top: painter.fillRect(0, 0, width(), 1, line); break;
        case Edge::Bottom: painter.fillRect(0, height() - 1, width(), 1, line); break;
        case Edge::Right: painter.fillRect(width() - 1, 0, 1, height(), line); break;
    }
}

}  // namespace heteroscope
