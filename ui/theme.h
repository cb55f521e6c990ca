#pragma once

#include "scheduler/job.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QString>

class QApplication;

namespace heteroscope {

enum class Token {
    Window, Card, Raised, Line, Edge, Selection, Hover, WarningGround, OnAccent,
    Text, Secondary, Accent, Good, Warn, Bad, SearchMatch,
};

/// Colours, type and icons of the window (docs/ui: tokens). One theme is in force; widgets read it when they paint
/// and repaint on QEvent::PaletteChange. Window's thread.
class Theme {
public:
    enum class Mode { System, Light, Dark };

    /// Sets style, palette and style sheet of the application. System follows the desktop.
    static void apply(QApplication& application, Mode mode);
    static bool isDark();
    static QColor color(Token token);
    /// Series colours in order, by theme; index wraps.
    static QColor series(int index);
    static QColor stateColor(JobState state);

    enum class Type { Value, Title, Text, Caption };  ///< 24, 16, 13, 11 px at 96 dpi
    static QFont font(Type type, bool bold = false);  ///< tabular figures

    /// An SVG icon of resources/icons by name ("monitor", "queue", "pause"…), drawn in a token's colour, crisp at any scale.
    static QIcon icon(const QString& name, Token token = Token::Text);
    static QIcon stateIcon(JobState state);
};

}  // namespace heteroscope
