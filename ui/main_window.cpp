#include "ui/main_window.h"

#include "ui/compare/compare_page.h"
#include "ui/devices/devices_page.h"
#include "ui/format.h"
#include "ui/history/history_page.h"
#include "ui/monitor/monitor_page.h"
#include "ui/queue/add_jobs_dialog.h"
#include "ui/queue/queue_page.h"
#include "ui/self_usage_sampler.h"
#include "ui/services.h"
#include "ui/widgets/header_bar.h"
#include "ui/widgets/notice_strip.h"
#include "ui/widgets/settings_dialog.h"
#include "ui/widgets/side_bar.h"
#include "ui/widgets/status_line.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace heteroscope {

namespace {

const auto geometryKey = QStringLiteral("window/geometry");
const auto pageKey = QStringLiteral("window/page");
const auto collapsedKey = QStringLiteral("window/side_bar_collapsed");
const auto themeKey = QStringLiteral("window/theme");
const auto dismissedKey = QStringLiteral("window/dismissed_problems");
const auto leftJobsKey = QStringLiteral("left-jobs");

QStringList localFiles(const QMimeData& data) {
    QStringList files;
    for (const auto& url : data.urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

bool isSource(const QString& file) {
    const QString suffix = QFileInfo(file).suffix().toLower();
    return suffix == QLatin1String("cl") || suffix == QLatin1String("cu");
}

}  // namespace

MainWindow::MainWindow(Services& services, QWidget* parent)
    : QMainWindow(parent), services_(services), board_(std::make_unique<JobBoard>(services)), sideBar_(new SideBar),
      header_(new HeaderBar), strip_(new NoticeStrip), stack_(new QStackedWidget), status_(new StatusLine),
      ownUsage_(std::make_unique<SelfUsageSampler>()) {
    setWindowTitle(tr("Heteroscope"));
    setAcceptDrops(true);
    setMinimumSize(1024, 640);
    auto* central = new QWidget;
    auto* columns = new QHBoxLayout(central);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(0);
    auto* rows = new QVBoxLayout;
    rows->setSpacing(0);
    rows->addWidget(header_);
    rows->addWidget(strip_);
    rows->addWidget(stack_, 1);
    rows->addWidget(status_);
    columns->addWidget(sideBar_);
    columns->addLayout(rows, 1);
    setCentralWidget(central);

    const PageContext context{services_, *board_};
    addPage(monitor_ = new MonitorPage(context, stack_));
    addPage(queue_ = new QueuePage(context, stack_));
    addPage(compare_ = new ComparePage(context, stack_));
    addPage(history_ = new HistoryPage(context, stack_));
    addPage(devices_ = new DevicesPage(context, stack_));
    connect(sideBar_->addAction(QStringLiteral("settings"), tr("Settings")), &QAbstractButton::clicked, this, &MainWindow::showSettings);
    connect(sideBar_, &SideBar::pageRequested, this, &MainWindow::showPage);

    connect(header_, &HeaderBar::addJobsRequested, this, &MainWindow::openAddJobs);
    connect(header_, &HeaderBar::pauseRequested, this, &MainWindow::togglePause);
    connect(header_, &HeaderBar::policyChosen, this, [this](const QString& policy) {
        if (!services_.engine()) return;
        if (const Status done = services_.engine()->setPolicy(policy.toStdString()); !done)
            strip_->add({QStringLiteral("policy"), QString::fromStdString(done.error().message), {}, {}});
    });
    connect(status_, &StatusLine::statesRequested, this, &MainWindow::showJobs);
    connect(strip_, &NoticeStrip::dismissed, this, [this](const QString& key) {
        if (!shownDeviceProblems_.contains(key)) return;
        dismissed_.insert(key);
        QSettings().setValue(dismissedKey, QStringList(dismissed_.begin(), dismissed_.end()));
    });
    connect(ownUsage_.get(), &SelfUsageSampler::taken, status_, &StatusLine::setOwnUsage);
    addShortcuts();
    connectServices();
    restore();
}

MainWindow::~MainWindow() {
    // Pages hold a reference to the board, which is a member here: they go first.
    delete takeCentralWidget();
}

void MainWindow::addPage(Page* page) {
    const int index = static_cast<int>(pages_.size());
    pages_.append(page);
    stack_->addWidget(page);
    sideBar_->addPage(page->iconName(), page->title(), QStringLiteral("Ctrl+%1").arg(index + 1));
    auto* key = new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + index)), this);
    connect(key, &QShortcut::activated, this, [this, index] { showPage(index); });
    connect(page, &Page::subtitleChanged, this, [this, page] {
        if (stack_->currentWidget() == page) updateHeader();
    });
    connect(page, &Page::addJobsRequested, this, &MainWindow::openAddJobs);
    connect(page, &Page::showJobRequested, this, [this](quint64 job) { showJob(job); });
    connect(page, &Page::noticeRequested, this, [this](const QString& text, const QString& remedy) { strip_->add({{}, text, remedy, {}}); });
    connect(page, &Page::openComparisonRequested, this, [this](qint64 id) {
        compare_->openComparison(id);
        showPage(CompareIndex);
    });
    connect(page, &Page::compareJobsRequested, this, [this](const QList<quint64>& jobs) {
        compare_->compareJobs(jobs);
        showPage(CompareIndex);
    });
}

void MainWindow::addShortcuts() {
    const auto add = [this](const QKeySequence& keys, auto then) {
        auto* shortcut = new QShortcut(keys, this);
        connect(shortcut, &QShortcut::activated, this, then);
    };
    add(QKeySequence(Qt::CTRL | Qt::Key_Q), [this] { close(); });
    add(QKeySequence(Qt::CTRL | Qt::Key_F), [this] { pages_[currentPage()]->focusSearch(); });
    add(QKeySequence(Qt::CTRL | Qt::Key_N), [this] { openAddJobs(); });
    add(QKeySequence(Qt::CTRL | Qt::Key_P), [this] { togglePause(); });
    add(QKeySequence(Qt::CTRL | Qt::Key_B), [this] { sideBar_->setCollapsed(!sideBar_->isCollapsed()); });
    add(QKeySequence(Qt::Key_F5), [this] { services_.rescan(); });
    add(QKeySequence(Qt::Key_F1), [this] { showKeys(); });
    add(QKeySequence(QStringLiteral("?")), [this] { showKeys(); });
}

void MainWindow::connectServices() {
    connect(board_.get(), &JobBoard::stateChanged, this, &MainWindow::updateState);
    connect(&services_, &Services::started, this, [this] {
        updateState();
        showLeftJobs();
    });
    connect(&services_, &Services::startFailed, this, [this](const QString& reason) {
        strip_->add({QStringLiteral("start"), tr("The program could not start its engine."), reason, {}});
    });
    connect(&services_, &Services::noticeRaised, this, [this](const QString& text, const QString& remedy) { strip_->add({{}, text, remedy, {}}); });
    connect(&services_, &Services::devicesChanged, this, &MainWindow::showDiscoveryProblems);
    connect(&services_, &Services::leftJobsChanged, this, &MainWindow::showLeftJobs);
    connect(&services_, &Services::filesRequested, this, [this](const QStringList& files) {
        if (isMinimized()) showNormal();
        raise();
        activateWindow();
        openFiles(files);
    });
    if (services_.engine()) showLeftJobs();
    showDiscoveryProblems();
    updateState();
}

void MainWindow::restore() {
    QSettings settings;
    const auto kept = settings.value(dismissedKey).toStringList();
    dismissed_ = QSet<QString>(kept.begin(), kept.end());
    for (const auto& key : kept) strip_->remove(key);
    sideBar_->setCollapsed(settings.value(collapsedKey, false).toBool());
    resize(1280, 800);
    restoreGeometry(settings.value(geometryKey).toByteArray());
    showPage(settings.value(pageKey, 0).toInt());
    if (chosenTheme() != Theme::Mode::System) Theme::apply(*qApp, chosenTheme());
}

Theme::Mode MainWindow::chosenTheme() {
    const QString word = QSettings().value(themeKey).toString();
    if (word == QLatin1String("light")) return Theme::Mode::Light;
    if (word == QLatin1String("dark")) return Theme::Mode::Dark;
    return Theme::Mode::System;
}

void MainWindow::chooseTheme(Theme::Mode mode) {
    QSettings().setValue(themeKey, mode == Theme::Mode::Light  ? QStringLiteral("light")
                                   : mode == Theme::Mode::Dark ? QStringLiteral("dark")
                                                               : QStringLiteral("system"));
    Theme::apply(*qApp, mode);
    updateState();
}

int MainWindow::currentPage() const { return stack_->currentIndex(); }

void MainWindow::showPage(int index) {
    if (index < 0 || index >= pages_.size()) index = MonitorIndex;
    stack_->setCurrentIndex(index);
    sideBar_->setCurrent(index);
    updateHeader();
}

void MainWindow::updateHeader() {
    const Page* page = pages_[currentPage()];
    header_->setTitle(page->title(), page->subtitle());
}

void MainWindow::updateState() {
    const auto& latest = board_->latest();
    const bool started = services_.engine() != nullptr;
    header_->setState(started, QString::fromStdString(latest.policy), latest.paused);
    status_->setUpdate(latest);
    showEngineProblems();
}

void MainWindow::showDiscoveryProblems() {
    QSet<QString> now;
    const auto problems = services_.problems();
    for (const auto& problem : problems) {
        const QString key = QStringLiteral("device: ") + QString::fromStdString(problem.what);
        now.insert(key);
        if (dismissed_.contains(key) || strip_->contains(key)) continue;
        strip_->add({key, QString::fromStdString(problem.what), QString::fromStdString(problem.fix),
                     {{tr("Rescan"), [this] { services_.rescan(); }, false}}});
    }
    for (const auto& key : shownDeviceProblems_)
        if (!now.contains(key)) strip_->remove(key);
    shownDeviceProblems_ = now;
    updateHeader();
}

void MainWindow::showEngineProblems() {
    QSet<QString> now;
    for (const auto& problem : board_->latest().problems) {
        const QString key = QStringLiteral("engine: ") + QString::fromStdString(problem.what);
        now.insert(key);
        // Dismissed: it stays away until it has gone and come again.
        if (!shownEngineProblems_.contains(key))
            strip_->add({key, QString::fromStdString(problem.what), QString::fromStdString(problem.fix),
                         {{tr("Rescan"), [this] { services_.rescan(); }, false}}});
    }
    for (const auto& key : shownEngineProblems_)
        if (!now.contains(key)) strip_->remove(key);
    shownEngineProblems_ = now;
}

void MainWindow::showLeftJobs() {
    const auto left = services_.leftJobs();
    if (left.empty()) {
        strip_->remove(leftJobsKey);
        return;
    }
    const int n = static_cast<int>(left.size());
    const QString text = n == 1 ? tr("One job was left by a session that ended.")
                                : tr("%1 jobs were left by a session that ended.").arg(format::count(left.size()));
    strip_->add({leftJobsKey, text, tr("They wait in history. Resume puts them into the queue as they were."),
                 {{tr("Resume"), [this] { services_.resumeLeftJobs(); }, true},
                  {tr("Drop…"), [this] { confirmDropOfLeftJobs(); }, true}}});
}

void MainWindow::confirmDropOfLeftJobs() {
    const auto n = services_.leftJobs().size();
    if (n == 0) return;
    strip_->add({leftJobsKey, n == 1 ? tr("Drop this job?") : tr("Drop these %1 jobs?").arg(format::count(n)),
                 tr("History keeps them as cancelled; they can be run again from there."),
                 {{tr("Drop"), [this] { services_.dropLeftJobs(); }, true}, {tr("Keep"), [this] { showLeftJobs(); }, true}}});
}

void MainWindow::openFiles(const QStringList& files) {
    for (const auto& file : files) {
        if (!QFileInfo(file).isFile()) {
            strip_->add({{}, tr("%1 is not a file that can be read.").arg(file), {}, {}});
        } else if (isSource(file)) {
            auto* dialog = new AddJobsDialog({services_, *board_}, this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->openSource(file);
            dialog->show();
        } else {
            compare_->openWorkload(file);
            showPage(CompareIndex);
        }
    }
}

void MainWindow::openAddJobs() {
    auto* dialog = new AddJobsDialog({services_, *board_}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void MainWindow::showJob(JobId job) {
    // Job 0: the queue as it stands. One of an earlier session is found in history only.
    if (job == 0 || board_->find(job)) {
        if (job != 0) queue_->showJob(job);
        showPage(QueueIndex);
    } else {
        history_->showJob(job);
        showPage(HistoryIndex);
    }
}

void MainWindow::showJobs(const QList<JobState>& states) {
    queue_->setStateFilter(states);
    showPage(QueueIndex);
}

void MainWindow::togglePause() {
    auto* engine = services_.engine();
    if (!engine) return;
    if (board_->latest().paused) engine->resume();
    else engine->pause();
}

void MainWindow::showKeys() {
    auto* dialog = new KeysDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void MainWindow::showSettings() {
    auto* dialog = new SettingsDialog(chosenTheme(), services_.dataFolder(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SettingsDialog::themeChosen, this, &MainWindow::chooseTheme);
    connect(dialog, &SettingsDialog::chartIntervalChosen, monitor_, &MonitorPage::setInterval);
    dialog->show();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::ThemeChange && chosenTheme() == Theme::Mode::System) Theme::apply(*qApp, Theme::Mode::System);
    // Icons kept as pixmaps follow the theme only when they are made again.
    if (event->type() == QEvent::PaletteChange && !pages_.isEmpty()) updateState();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    QSettings settings;
    settings.setValue(geometryKey, saveGeometry());
    settings.setValue(pageKey, currentPage());
    settings.setValue(collapsedKey, sideBar_->isCollapsed());
    for (auto* page : pages_) page->saveState();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!localFiles(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    openFiles(localFiles(*event->mimeData()));
}

}  // namespace heteroscope
