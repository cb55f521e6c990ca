#pragma once

#include "ui/theme.h"

#include <QDialog>

namespace heteroscope {

/// The few things a person may set. Each takes effect at once; MainWindow and the Monitor page keep them.
class SettingsDialog : public QDialog {
    Q_OBJECT
public:
    /// `dataFolder` is shown, not changed: one process holds it while it runs.
    SettingsDialog(Theme::Mode theme, const QString& dataFolder, QWidget* parent);

    /// How often charts take in what was measured, in milliseconds; kept in QSettings.
    static int chartIntervalMs();

signals:
    void themeChosen(heteroscope::Theme::Mode mode);
    void chartIntervalChosen(int milliseconds);
};

/// Every key the window listens to, in words.
class KeysDialog : public QDialog {
    Q_OBJECT
public:
    explicit KeysDialog(QWidget* parent);
};

}  // namespace heteroscope
