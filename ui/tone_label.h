#pragma once

#include "ui/theme.h"

#include <QLabel>

namespace heteroscope {

/// A label in one of the theme's colours and types; follows a change of theme. Plain text unless told otherwise.
class ToneLabel : public QLabel {
    Q_OBJECT
public:
    explicit ToneLabel(Token token, Theme::Type type = Theme::Type::Text, bool bold = false, QWidget* parent = nullptr);
    explicit ToneLabel(const QString& text, Token token = Token::Text, Theme::Type type = Theme::Type::Text,
                       bool bold = false, QWidget* parent = nullptr);

    void setToken(Token token);
    Token token() const { return token_; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void applyToken();

    Token token_;
};

}  // namespace heteroscope
