#include "ui/widgets/settings_dialog.h"

#include "ui/format.h"
#include "ui/widgets/segmented_control.h"
#include "ui/widgets/token_label.h"

#include <QComboBox>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSettings>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace heteroscope {

namespace {

constexpr std::array intervals{500, 1000, 2000, 5000};
const auto intervalKey = QStringLiteral("monitor/interval_ms");

}  // namespace

SettingsDialog::SettingsDialog(Theme::Mode theme, const QString& dataFolder, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Settings"));
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(16);
    auto* form = new QFormLayout;
    form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    form->setHorizontalSpacing(24);
    form->setVerticalSpacing(12);

    auto* themes = new SegmentedControl({tr("As the desktop"), tr("Light"), tr("Dark")});
    themes->setAccessibleName(tr("Colours"));
    themes->setCurrent(static_cast<int>(theme));
    connect(themes, &SegmentedControl::currentChanged, this, [this](int index) { emit themeChosen(static_cast<Theme::Mode>(index)); });
    form->addRow(tr("Colours"), themes);

    auto* interval = new QComboBox;
    for (const int ms : intervals) interval->addItem(tr("every %1").arg(format::seconds(ms / 1000.0)), ms);
    interval->setCurrentIndex(std::max(0, interval->findData(chartIntervalMs())));
    connect(interval, &QComboBox::activated, this, [this, interval](int index) {
        const int ms = interval->itemData(index).toInt();
        QSettings().setValue(intervalKey, ms);
        emit chartIntervalChosen(ms);
    });
    form->addRow(tr("Charts move"), interval);

    auto* folder = new QHBoxLayout;
    auto* path = new TokenLabel(dataFolder.isEmpty() ? format::absent() : dataFolder, Theme::Type::Text, Token::Secondary);
    path->setElided(true);
    path->setMinimumWidth(260);
    path->setToolTip(dataFolder);
    auto* open = new QPushButton(tr("Open"));
    open->setEnabled(!dataFolder.isEmpty());
    connect(open, &QPushButton::clicked, this, [dataFolder] { QDesktopServices::openUrl(QUrl::fromLocalFile(dataFolder)); });
    folder->addWidget(path, 1);
    folder->addWidget(open);
    form->addRow(tr("History and models"), folder);
    layout->addLayout(form);

    auto* hint = new TokenLabel(tr("Another data folder: start the program with --data-dir."), Theme::Type::Caption, Token::Secondary);
    layout->addWidget(hint);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);
}

int SettingsDialog::chartIntervalMs() {
    const int kept = QSettings().value(intervalKey, 1000).toInt();
    return std::find(intervals.begin(), intervals.end(), kept) == intervals.end() ? 1000 : kept;
}

KeysDialog::KeysDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keys"));
    const QList<std::pair<QString, QString>> keys{
        {tr("Ctrl+1 … Ctrl+5"), tr("Monitor, Queue, Compare, History, Devices")},
        {tr("Ctrl+N"), tr("Add jobs")},
        {tr("Ctrl+P"), tr("Pause or resume the queue")},
        {tr("Ctrl+F"), tr("Search on this page")},
        {tr("Ctrl+B"), tr("Side bar wide or narrow")},
        {tr("F5"), tr("Look for devices again")},
        {tr("Space"), tr("Monitor: freeze the charts")},
        {tr("← →"), tr("Monitor: move the cross-hair on the chart that has the focus")},
        {tr("F1, ?"), tr("This list")},
        {tr("Ctrl+Q"), tr("Quit")},
    };
    auto* layout = new QVBoxLayout(this);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(24);
    for (int row = 0; row < keys.size(); ++row) {
        grid->addWidget(new TokenLabel(keys[row].first, Theme::Type::Text, Token::Text, true), row, 0);
        grid->addWidget(new TokenLabel(keys[row].second, Theme::Type::Text, Token::Secondary), row, 1);
    }
    layout->addLayout(grid);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);
}

}  // namespace heteroscope
