#include "ui/tone_label.h"

#include <QEvent>

namespace heteroscope {

ToneLabel::ToneLabel(Token token, Theme::Type type, bool bold, QWidget* parent)
    : ToneLabel(QString(), token, type, bold, parent) {}

ToneLabel::ToneLabel(const QString& text, Token token, Theme::Type type, bool bold, QWidget* parent)
    : QLabel(text, parent), token_(token) {
    setTextFormat(Qt::PlainText);
    setFont(Theme::font(type, bold));
    applyToken();
}

void ToneLabel::setToken(Token token) {
    if (token_ == token) return;
    token_ = token;
    applyToken();
}

void ToneLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) applyToken();
}

void ToneLabel::applyToken() {
    const QColor wanted = Theme::color(token_);
    if (palette().color(QPalette::WindowText) == wanted) return;  // else the change event would call itself
    QPalette changed = palette();
    changed.setColor(QPalette::WindowText, wanted);
    setPalette(changed);
}

}  // namespace heteroscope
