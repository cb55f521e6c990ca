#pragma once

#include <QWidget>

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace heteroscope {

class TokenLabel;

/// What would be here, and the actions that fill it. Centred.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    explicit EmptyState(const QString& title, const QString& text = {}, QWidget* parent = nullptr);

    void setTexts(const QString& title, const QString& text);
    /// A button below; `accent` for the one a person most likely wants.
    QPushButton* addAction(const QString& text, bool accent = false);

private:
    TokenLabel* title_;
    TokenLabel* text_;
    QHBoxLayout* actions_;
};

}  // namespace heteroscope
