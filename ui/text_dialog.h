#pragma once

#include <QString>

class QWidget;

namespace heteroscope {

/// Opens a window with text in monospace (a log, a source), numbered by line when `numbered`, with Copy. A `markedLine` from 1 is shown
/// on warning ground and scrolled to. Does not block.
void showText(QWidget* parent, const QString& title, const QString& text, bool numbered = false, int markedLine = 0);

}  // namespace heteroscope
