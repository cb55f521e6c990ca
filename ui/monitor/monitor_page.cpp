#include "ui/monitor/monitor_page.h"

#include "ui/format.h"
#include "ui/monitor/device_card.h"
#include "ui/monitor/latest_model.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/segmented_control.h"
#include "ui/widgets/settings_dialog.h"
#include "ui/widgets/token_label.h"

#include <QDateTime>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace heteroscope {

namespace {

constexpr int twoColumnsFrom = 1180;  // of the page, which the side bar makes narrower than the window
const auto rangeKey = QStringLiteral("monitor/range");
const auto secondRowKey = QStringLiteral("monitor/second_row");

/// Devices of one processor stand on one card; order of first appearance.
std::vector<std::vector<DeviceInfo>> byProcessor(const std::vector<DeviceInfo>& devices) {
    std::vector<std::vector<DeviceInfo>> groups;
    for (const auto& device : devices) {
        const auto same = [&](const std::vector<DeviceInfo>& group) {
            return !device.processor.empty() && group.front().processor == device.processor;
        };
        const auto group = std::find_if(groups.begin(), groups.end(), same);
        if (group == groups.end()) groups.push_back({device});
        else group->push_back(device);
    }
    return groups;
}

bool sameDevices(const std::vector<DeviceInfo>& a, const std::vector<DeviceInfo>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const DeviceInfo& x, const DeviceInfo& y) {
        return x.id == y.id && x.name == y.name && x.processor == y.processor && x.runtimes.size() == y.runtimes.size();
    });
}

}  // namespace

MonitorPage::MonitorPage(PageContext context, QWidget* parent)
    : Page(parent), context_(context), latest_(new LatestModel(context.board, this)), stack_(new QStackedWidget), scroll_(new QScrollArea),
      grid_(new QWidget), gridLayout_(new QGridLayout(grid_)), empty_(new EmptyState(QString())) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    latestCard_ = makeLatest();
    gridLayout_->setContentsMargins(16, 0, 16, 16);
    gridLayout_->setSpacing(16);
    scroll_->setWidget(grid_);
    scroll_->setWidgetResizable(true);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    rescan_ = empty_->addAction(tr("Rescan"), true);
    connect(rescan_, &QPushButton::clicked, this, [this] { context_.services.rescan(); });
    stack_->addWidget(scroll_);
    stack_->addWidget(empty_);
    layout->addWidget(stack_, 1);

    connect(&context_.services, &Services::telemetryTaken, this, [this](const std::vector<TelemetryFrame>& frames) {
        for (auto* card : cards_) card->take(frames);
    });
    connect(&context_.board, &JobBoard::jobsChanged, this, &MonitorPage::jobsChanged);
    connect(&context_.board, &JobBoard::stateChanged, this, [this] {
        if (isVisible() && !soon_.isActive()) soon_.start();
    });
    connect(&context_.board, &JobBoard::devicesChanged, this, &MonitorPage::rebuildCards);
    connect(&context_.services, &Services::started, this, &MonitorPage::refreshEmpty);
    connect(&context_.services, &Services::startFailed, this, &MonitorPage::refreshEmpty);
    tick_.setInterval(SettingsDialog::chartIntervalMs());
    connect(&tick_, &QTimer::timeout, this, &MonitorPage::redraw);
    soon_.setSingleShot(true);
    soon_.setInterval(200);
    connect(&soon_, &QTimer::timeout, this, &MonitorPage::redraw);
    rebuildCards();
    std::vector<JobId> known;
    for (const auto& [id, job] : context_.board.jobs()) known.push_back(id);
    jobsChanged(known);
}

QWidget* MonitorPage::makeBar() {
    auto* bar = new Bar(Token::Window, Bar::Edge::None);
    bar->setFixedHeight(48);
    ranges_ = new SegmentedControl({tr("1 min"), tr("5 min"), tr("15 min")});
    ranges_->setAccessibleName(tr("Time range of the charts"));
    ranges_->setCurrent(QSettings().value(rangeKey, 0).toInt());
    freeze_ = new QPushButton(tr("Freeze"));
    freeze_->setIcon(Theme::icon(QStringLiteral("pause")));
    freeze_->setCheckable(true);
    freeze_->setToolTip(tr("Hold the charts still; measuring goes on (Space)"));
    second_ = new QPushButton(tr("Second row"));
    second_->setCheckable(true);
    second_->setToolTip(tr("Memory, power and temperature over time"));
    second_->setChecked(QSettings().value(secondRowKey, true).toBool());
    crossWords_ = new TokenLabel;
    crossWords_->setElided(true);
    crossWords_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(16, 0, 16, 0);
    layout->setSpacing(8);
    layout->addWidget(ranges_);
    layout->addWidget(freeze_);
    layout->addWidget(second_);
    layout->addSpacing(8);
    layout->addWidget(crossWords_, 1);
    connect(ranges_, &SegmentedControl::currentChanged, this, [this] { redraw(); });
    connect(freeze_, &QPushButton::toggled, this, &MonitorPage::setFrozen);
    connect(second_, &QPushButton::toggled, this, [this](bool on) {
        for (auto* card : cards_) card->setSecondRow(on);
        redraw();
    });
    auto* space = new QShortcut(QKeySequence(Qt::Key_Space), this);
    space->setContext(Qt::WidgetWithChildrenShortcut);
    connect(space, &QShortcut::activated, this, [this] { freeze_->toggle(); });
    return bar;
}

QWidget* MonitorPage::makeLatest() {
    auto* card = new Card(grid_);
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(16, 12, 16, 8);
    layout->setSpacing(4);
    auto* top = new QHBoxLayout;
    auto* open = new LinkButton(tr("Open queue"));
    connect(open, &LinkButton::clicked, this, [this] { emit showJobRequested(0); });
    top->addWidget(new TokenLabel(tr("Latest"), Theme::Type::Text, Token::Text, true));
    top->addStretch(1);
    top->addWidget(open);
    layout->addLayout(top);
    latestTable_ = new QTableView;
    latestTable_->setModel(latest_);
    latestTable_->setFrameShape(QFrame::NoFrame);
    latestTable_->setShowGrid(false);
    latestTable_->horizontalHeader()->hide();
    latestTable_->verticalHeader()->hide();
    latestTable_->verticalHeader()->setMinimumSectionSize(20);
    latestTable_->verticalHeader()->setDefaultSectionSize(26);
    latestTable_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    latestTable_->setSelectionBehavior(QAbstractItemView::SelectRows);
    latestTable_->setSelectionMode(QAbstractItemView::SingleSelection);
    latestTable_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    latestTable_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    latestTable_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    latestTable_->setTabKeyNavigation(false);
    latestTable_->setWordWrap(false);
    latestTable_->setAccessibleName(tr("Latest decisions and ends"));
    latestTable_->setMinimumHeight(150);
    auto* header = latestTable_->horizontalHeader();
    header->setMinimumSectionSize(20);
    header->setStretchLastSection(true);
    const auto wide = [this](const QString& text) { return latestTable_->fontMetrics().horizontalAdvance(text) + 26; };
    header->resizeSection(LatestModel::TimeColumn, wide(QStringLiteral("00:00:00")));
    header->resizeSection(LatestModel::StateColumn, 30);
    header->resizeSection(LatestModel::JobColumn, wide(QStringLiteral("#00000")));
    header->resizeSection(LatestModel::KernelColumn, wide(QStringLiteral("black-scholes")));
    connect(latestTable_, &QTableView::activated, this, [this](const QModelIndex& index) { emit showJobRequested(index.data(LatestModel::JobIdRole).toULongLong()); });
    connect(latestTable_, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (index.column() == LatestModel::JobColumn) emit showJobRequested(index.data(LatestModel::JobIdRole).toULongLong());
    });
    auto* nothing = new EmptyState(tr("No jobs yet"), tr("Where each job goes and why, and how it ended, appears here."));
    connect(nothing->addAction(tr("Add jobs")), &QPushButton::clicked, this, [this] { emit addJobsRequested(); });
    auto* either = new QStackedWidget;
    either->addWidget(nothing);
    either->addWidget(latestTable_);
    connect(latest_, &QAbstractItemModel::modelReset, either, [this, either] { either->setCurrentIndex(latest_->rowCount() > 0 ? 1 : 0); });
    layout->addWidget(either, 1);
    return card;
}

QString MonitorPage::subtitle() const {
    const auto n = context_.services.devices().size();
    if (n == 0) return context_.services.discovering() ? tr("looking for devices") : tr("no device");
    return n == 1 ? tr("1 device") : tr("%1 devices").arg(format::count(n));
}

void MonitorPage::saveState() {
    QSettings settings;
    settings.setValue(rangeKey, ranges_->current());
    settings.setValue(secondRowKey, second_->isChecked());
}

void MonitorPage::setRange(int index) { ranges_->setCurrent(index); }

void MonitorPage::setInterval(int milliseconds) { tick_.setInterval(milliseconds); }

void MonitorPage::setFrozen(bool frozen) {
    freeze_->setChecked(frozen);
    if (frozen == isFrozen()) return;
    if (frozen) frozenAtMs_ = QDateTime::currentMSecsSinceEpoch();
    else frozenAtMs_.reset();
    freeze_->setText(frozen ? tr("Frozen at %1").arg(format::clockTime(*frozenAtMs_ * 1'000'000)) : tr("Freeze"));
    redraw();
}

void MonitorPage::rebuildCards() {
    const auto devices = context_.services.devices();
    refreshEmpty();
    if (!cards_.empty() && sameDevices(devices, shown_)) {
        emit subtitleChanged();
        return;
    }
    shown_ = devices;
    for (auto* card : cards_) {
        card->hide();
        card->deleteLater();  // its own signal may be on the stack
    }
    cards_.clear();
    for (auto& group : byProcessor(devices)) {
        auto* card = new DeviceCard(std::move(group), context_.board, bands_, grid_);
        card->setSecondRow(second_->isChecked());
        connect(card, &DeviceCard::hovered, this, [this](double timeMs) { setCrossHair(timeMs); });
        connect(card, &DeviceCard::hoverLeft, this, [this] { setCrossHair(std::nullopt); });
        connect(card, &DeviceCard::jobClicked, this, [this](JobId job) { emit showJobRequested(job); });
        connect(card, &DeviceCard::permissionAsked, this, [this](const QString& text, const QString& remedy) { emit noticeRequested(text, remedy); });
        cards_.push_back(card);
    }
    columns_ = 0;
    arrangeCards();
    redraw();
    emit subtitleChanged();
}

void MonitorPage::arrangeCards() {
    const int columns = width() >= twoColumnsFrom ? 2 : 1;
    if (columns == columns_) return;
    columns_ = columns;
    while (auto* item = gridLayout_->takeAt(0)) delete item;
    for (int row = 0; row < gridLayout_->rowCount(); ++row) gridLayout_->setRowStretch(row, 0);
    int place = 0;
    for (auto* card : cards_) {
        gridLayout_->addWidget(card, place / columns, place % columns);
        ++place;
    }
    gridLayout_->addWidget(latestCard_, place / columns, place % columns);
    for (int row = 0; row <= place / columns; ++row) gridLayout_->setRowStretch(row, 100);
    gridLayout_->setRowStretch(place / columns + 1, 1);  // what the charts do not take
    gridLayout_->setColumnStretch(0, 1);
    gridLayout_->setColumnStretch(1, columns == 2 ? 1 : 0);
}

void MonitorPage::refreshEmpty() {
    auto& services = context_.services;
    const bool none = services.devices().empty();
    stack_->setCurrentWidget(none ? static_cast<QWidget*>(empty_) : scroll_);
    emit subtitleChanged();
    if (!none) return;
    rescan_->setVisible(!services.discovering());
    if (services.discovering()) {
        empty_->setTexts(tr("Looking for devices…"), tr("Charts appear here as the devices are found."));
        return;
    }
    QStringList lines;
    for (const auto& problem : services.problems())
        lines << QString::fromStdString(problem.what) + (problem.fix.empty() ? QString() : QLatin1Char('\n') + QString::fromStdString(problem.fix));
    empty_->setTexts(tr("No device that can run kernels was found"),
                     lines.isEmpty() ? tr("No OpenCL platform reported a device.") : lines.join(QStringLiteral("\n\n")));
}

void MonitorPage::jobsChanged(const std::vector<JobId>& jobs) {
    for (const JobId id : jobs)
        if (const auto* job = context_.board.find(id)) bands_.update(*job);
    latest_->note(jobs);
    if (isVisible() && !soon_.isActive()) soon_.start();
}

void MonitorPage::refreshNow() {
    const std::int64_t nowMs = QDateTime::currentMSecsSinceEpoch();
    bands_.trim(nowMs * 1'000'000);
    for (auto* card : cards_) {
        card->refreshNow();
        card->refresh(ranges_->current(), frozenAtMs_.value_or(nowMs), !isFrozen());
    }
    latest_->publish();
    setCrossHair(crossTime_);
}

void MonitorPage::redraw() {
    if (!isVisible()) return;
    refreshNow();
}

void MonitorPage::setCrossHair(std::optional<double> timeMs) {
    crossTime_ = timeMs;
    QStringList words;
    for (auto* card : cards_) {
        card->setCrossHair(timeMs);
        if (timeMs) words << card->wordsAt(*timeMs);
    }
    const QString text = timeMs ? format::clockTime(static_cast<std::int64_t>(*timeMs * 1e6)) + QStringLiteral("   ") + words.join(QStringLiteral("   ")) : QString();
    if (text != crossWords_->text()) crossWords_->setText(text);
}

void MonitorPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    tick_.start();
    arrangeCards();
    redraw();
}

void MonitorPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    tick_.stop();
    soon_.stop();
}

void MonitorPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    arrangeCards();
    // Charts get their new sizes from the layout after this event: the bands follow them then.
    if (isVisible() && !soon_.isActive()) soon_.start();
}

}  // namespace heteroscope
