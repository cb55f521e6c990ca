#pragma once

#include "ui/theme.h"

#include <QWidget>

namespace heteroscope {

/// A ground for other widgets: card colour, a line around, corners of 6.
class Card : public QWidget {
    Q_OBJECT
public:
    explicit Card(QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// A plain bar in a token's colour with a line below or above (header, status bar, page bar).
class Bar : public QWidget {
    Q_OBJECT
public:
    enum class Edge { None, Top, Bottom, Right };
    Bar(Token ground, Edge edge, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Token ground_;
    Edge edge_;
};

}  // namespace heteroscope
