#include "ui/widgets/empty_state.h"

#include "ui/widgets/token_label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace heteroscope {

EmptyState::EmptyState(const QString& title, const QString& text, QWidget* parent)
    : QWidget(parent), title_(new TokenLabel(title, Theme::Type::Title, Token::Text, true)),
      text_(new TokenLabel(text, Theme::Type::Text, Token::Secondary)), actions_(new QHBoxLayout) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 24, 24, 24);
    layout->setSpacing(8);
    title_->setAlignment(Qt::AlignCenter);
    text_->setAlignment(Qt::AlignCenter);
    text_->setTextFormat(Qt::PlainText);
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setVisible(!text.isEmpty());
    actions_->setSpacing(8);
    actions_->addStretch(1);
    actions_->addStretch(1);
    layout->addStretch(2);
    layout->addWidget(title_);
    layout->addWidget(text_);
    layout->addSpacing(8);
    layout->addLayout(actions_);
    layout->addStretch(3);
}

void EmptyState::setTexts(const QString& title, const QString& text) {
    title_->setText(title);
    text_->setText(text);
    text_->setVisible(!text.isEmpty());
}

QPushButton* EmptyState::addAction(const QString& text, bool accent) {
    auto* button = new QPushButton(text, this);
    button->setProperty("accent", accent);
    actions_->insertWidget(actions_->count() - 1, button);
    return button;
}

}  // namespace heteroscope
