#pragma once

#include "ui/theme.h"

#include <QStringList>
#include <QWidget>

namespace heteroscope {

/// One choice of a few in one frame: [ 1 min | 5 min | 15 min ]. Arrow keys move the choice.
class SegmentedControl : public QWidget {
    Q_OBJECT
public:
    explicit SegmentedControl(QStringList labels, QWidget* parent = nullptr);

    int current() const { return current_; }
    void setCurrent(int index);  ///< out of range: nothing happens
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void currentChanged(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRect segment(int index) const;
    int widthOf(int index) const;

    QStringList labels_;
    int current_ = 0;
};

}  // namespace heteroscope
