#include "ui/widgets/token_label.h"

#include <QEvent>
#include <QPainter>

namespace heteroscope {

TokenLabel::TokenLabel(const QString& text, Theme::Type type, Token token, bool bold, QWidget* parent)
    : QLabel(text, parent), token_(token) {
    setTextFormat(Qt::PlainText);  // messages of compilers and names of files are never markup
    setForegroundRole(QPalette::WindowText);  // on a card Qt would take another role, which has no token of ours
    setFont(Theme::font(type, bold));
    recolour();
}

void TokenLabel::setToken(Token token) {
    if (token == token_) return;
    token_ = token;
    recolour();
}

void TokenLabel::setElided(bool elided) {
    elided_ = elided;
    updateGeometry();
}

QSize TokenLabel::minimumSizeHint() const {
    const QSize whole = QLabel::minimumSizeHint();
    return elided_ ? QSize(24, whole.height()) : whole;
}

void TokenLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) recolour();
}

void TokenLabel::recolour() {
    const QColor colour = Theme::color(token_);
    if (palette().color(QPalette::WindowText) == colour) return;  // also ends the change that this makes
    QPalette own = palette();
    own.setColor(QPalette::WindowText, colour);
    setPalette(own);
}

void TokenLabel::paintEvent(QPaintEvent* event) {
    if (!elided_) {
        QLabel::paintEvent(event);
        return;
    }
    QPainter painter(this);
    painter.setPen(Theme::color(token_));
    const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
    painter.drawText(contentsRect(), static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
    const QString tip = shown == text() ? QString() : text();
    if (toolTip() != tip) setToolTip(tip);
}

Tag::Tag(const QString& text, QWidget* parent) : QLabel(text, parent) { setFont(Theme::font(Theme::Type::Caption)); }

QSize Tag::sizeHint() const { return {fontMetrics().horizontalAdvance(text()) + 10, 18}; }

void Tag::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    box = QRectF(box.left(), box.center().y() - 8.5, box.width(), 17);
    painter.setPen(Theme::color(Token::Line));
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(Theme::color(Token::Secondary));
    painter.drawText(box, Qt::AlignCenter, text());
}

Swatch::Swatch(int series, QWidget* parent) : QWidget(parent), series_(series) { setFixedSize(10, 16); }

void Swatch::setSeries(int series) {
    series_ = series;
    update();
}

void Swatch::paintEvent(QPaintEvent*) {
    if (series_ < 0) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::series(series_));
    painter.drawRoundedRect(QRectF(0, (height() - 9) / 2.0, 9, 9), 2, 2);
}

}  // namespace heteroscope
