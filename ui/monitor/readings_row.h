#pragma once

#include "ui/monitor/reading_text.h"

#include <QWidget>

namespace heteroscope {

/// The values of a card, large, in fixed places so that cards align; painted at once, so that a changing figure moves
/// nothing.
class ReadingsRow : public QWidget {
    Q_OBJECT
public:
    explicit ReadingsRow(QWidget* parent = nullptr);
    void setReadings(std::vector<ReadingText> readings);
    const std::vector<ReadingText>& readings() const { return readings_; }
    QSize sizeHint() const override { return {480, 66}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF place(std::size_t index) const;

    std::vector<ReadingText> readings_;
};

}  // namespace heteroscope
