#pragma once

#include "ui/theme.h"

#include <QAbstractButton>

namespace heteroscope {

/// Text in the accent colour that does something when clicked; underlined under the pointer, with a focus ring.
class LinkButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit LinkButton(const QString& text, Theme::Type type = Theme::Type::Text, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace heteroscope
