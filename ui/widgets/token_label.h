#pragma once

#include "ui/theme.h"

#include <QLabel>

namespace heteroscope {

/// A label whose size and colour are tokens, so that it follows the theme. With setElided() it may become narrower
/// than its text, which then ends in "…" and stands whole in the tooltip.
class TokenLabel : public QLabel {
    Q_OBJECT
public:
    explicit TokenLabel(const QString& text = {}, Theme::Type type = Theme::Type::Text, Token token = Token::Text, bool bold = false,
                        QWidget* parent = nullptr);

    void setToken(Token token);
    void setElided(bool elided);
    QSize minimumSizeHint() const override;

protected:
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void recolour();

    Token token_;
    bool elided_ = false;
};

/// A runtime or kind in a small frame: "OpenCL (PoCL)". 16 px high, corner 4.
class Tag : public QLabel {
    Q_OBJECT
public:
    explicit Tag(const QString& text, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A small square in a device's series colour; index −1 draws nothing.
class Swatch : public QWidget {
    Q_OBJECT
public:
    explicit Swatch(int series, QWidget* parent = nullptr);
    void setSeries(int series);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int series_;
};

}  // namespace heteroscope
