#include "ui/widgets/notice_strip.h"

#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace heteroscope {

namespace {

constexpr int shownAtOnce = 2;

class NoticeRow : public QWidget {
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.fillRect(rect(), Theme::color(Token::WarningGround));
        painter.fillRect(0, height() - 1, width(), 1, Theme::color(Token::Warn));
        Theme::icon(QStringLiteral("warning"), Token::Warn).paint(&painter, QRect(16, (height() - 16) / 2, 16, 16));
    }
};

QLabel* paragraph(const QString& text, Token token, bool bold) {
    auto* label = new TokenLabel(text, Theme::Type::Text, token, bold);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

}  // namespace

NoticeStrip::NoticeStrip(QWidget* parent) : QWidget(parent), layout_(new QVBoxLayout(this)) {
    layout_->setContentsMargins(0, 0, 0, 0);
    layout_->setSpacing(0);
    QWidget::setVisible(false);
}

void NoticeStrip::add(Notice notice) {
    if (notice.key.isEmpty()) notice.key = notice.text;
    notices_.removeIf([&](const Notice& known) { return known.key == notice.key; });
    notices_.prepend(std::move(notice));
    rebuild();
}

void NoticeStrip::remove(const QString& key) {
    if (notices_.removeIf([&](const Notice& known) { return known.key == key; }) > 0) rebuild();
}

bool NoticeStrip::contains(const QString& key) const {
    return std::any_of(notices_.begin(), notices_.end(), [&](const Notice& known) { return known.key == key; });
}

void NoticeStrip::rebuild() {
    while (auto* item = layout_->takeAt(0)) {
        // A button of the row may be the one that is being clicked.
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (int i = 0; i < std::min<int>(shownAtOnce, count()); ++i) layout_->addWidget(makeRow(notices_[i]));
    setVisible(!notices_.isEmpty());
}

QWidget* NoticeStrip::makeRow(const Notice& notice) {
    auto* row = new NoticeRow(this);
    row->setAccessibleName(notice.text + QLatin1Char(' ') + notice.remedy);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(44, 8, 16, 9);
    layout->setSpacing(8);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(paragraph(notice.text, Token::Text, true));
    if (!notice.remedy.isEmpty()) words->addWidget(paragraph(notice.remedy, Token::Secondary, false));
    layout->addLayout(words, 1);
    const QString key = notice.key;
    for (const auto& action : notice.actions) {
        auto* button = new QPushButton(action.text, row);
        connect(button, &QPushButton::clicked, this, [this, key, action] {
            if (action.dismisses) remove(key);
            action.run();
        });
        layout->addWidget(button, 0, Qt::AlignVCenter);
    }
    auto* dismiss = new QPushButton(tr("Dismiss"), row);
    dismiss->setFlat(true);
    connect(dismiss, &QPushButton::clicked, this, [this, key] {
        remove(key);
        emit dismissed(key);
    });
    layout->addWidget(dismiss, 0, Qt::AlignVCenter);
    return row;
}

}  // namespace heteroscope
