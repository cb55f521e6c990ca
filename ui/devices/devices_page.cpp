#include "ui/devices/devices_page.h"

#include "ui/devices/device_list_model.h"
#include "ui/devices/device_text.h"
#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/token_label.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <functional>

namespace heteroscope {

namespace {

QString json(const QJsonValue& value) {
    const QJsonDocument document = value.isArray() ? QJsonDocument(value.toArray()) : QJsonDocument(value.toObject());
    return QString::fromUtf8(document.toJson(QJsonDocument::Indented));
}

/// A push button with a menu: copy as text, copy as JSON.
QPushButton* copyButton(const QString& label, QWidget* parent, std::function<QString()> text, std::function<QString()> document) {
    auto* button = new QPushButton(label, parent);
    button->setIcon(Theme::icon(QStringLiteral("copy")));
    auto* menu = new QMenu(button);
    QObject::connect(menu->addAction(QObject::tr("As text")), &QAction::triggered, button, [text] { QGuiApplication::clipboard()->setText(text()); });
    QObject::connect(menu->addAction(QObject::tr("As JSON")), &QAction::triggered, button, [document] { QGuiApplication::clipboard()->setText(document()); });
    button->setMenu(menu);
    return button;
}

TokenLabel* selectable(const QString& text, Theme::Type type = Theme::Type::Text, Token token = Token::Text) {
    auto* label = new TokenLabel(text.isEmpty() ? format::absent() : text, type, token);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setWordWrap(true);
    return label;
}

}  // namespace

DevicesPage::DevicesPage(PageContext context, QWidget* parent)
    : Page(parent), context_(context), model_(new DeviceListModel(context.board, this)), list_(new QListView), problems_(new QWidget),
      problemsLayout_(new QVBoxLayout(problems_)), stack_(new QStackedWidget), detail_(new QScrollArea), empty_(new EmptyState(QString())) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeList());
    detail_->setWidgetResizable(true);
    detail_->setFrameShape(QFrame::NoFrame);
    detail_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* rescan = empty_->addAction(tr("Rescan"), true);
    connect(rescan, &QPushButton::clicked, this, [this] { context_.services.rescan(); });
    stack_->addWidget(detail_);
    stack_->addWidget(empty_);
    layout->addWidget(stack_, 1);
    connect(&context_.board, &JobBoard::devicesChanged, this, &DevicesPage::devicesChanged);
    connect(&context_.board, &JobBoard::stateChanged, model_, &DeviceListModel::refreshStates);
    connect(&context_.services, &Services::started, this, &DevicesPage::devicesChanged);
    devicesChanged();
}

QWidget* DevicesPage::makeList() {
    auto* side = new Bar(Token::Card, Bar::Edge::Right);
    side->setFixedWidth(248);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 1, 0);
    layout->setSpacing(0);
    list_->setModel(model_);
    list_->setItemDelegate(new DeviceListDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setMouseTracking(true);
    list_->setSelectionMode(QAbstractItemView::SingleSelection);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setAccessibleName(tr("Devices"));
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) { showDetail(current.row()); });
    layout->addWidget(list_, 1);
    problemsLayout_->setContentsMargins(16, 12, 12, 12);
    problemsLayout_->setSpacing(4);
    auto* scroll = new QScrollArea;
    scroll->setWidget(problems_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->viewport()->setAutoFillBackground(false);
    problems_->setAutoFillBackground(false);  // QScrollArea::setWidget switched it on
    layout->addWidget(scroll);
    layout->addWidget(makeFooter());
    return side;
}

QWidget* DevicesPage::makeFooter() {
    auto* footer = new Bar(Token::Card, Bar::Edge::Top);
    footer->setFixedHeight(44);
    auto* layout = new QHBoxLayout(footer);
    layout->setContentsMargins(16, 0, 16, 0);
    auto* rescan = new QPushButton(tr("Rescan"), footer);
    rescan->setObjectName(QStringLiteral("rescan"));
    rescan->setToolTip(tr("Look for devices again (F5)"));
    connect(rescan, &QPushButton::clicked, this, [this] { context_.services.rescan(); });
    layout->addWidget(rescan);
    layout->addWidget(copyButton(tr("Report"), footer, [this] { return reportText(); }, [this] { return reportJson(); }));
    layout->addStretch(1);
    return footer;
}

QString DevicesPage::subtitle() const {
    const auto devices = context_.services.devices();
    if (devices.empty()) return context_.services.discovering() ? tr("looking for devices") : tr("no device");
    std::size_t runtimes = 0;
    for (const auto& device : devices) runtimes += device.runtimes.size();
    return tr("%1, %2").arg(devices.size() == 1 ? tr("1 device") : tr("%1 devices").arg(format::count(devices.size())),
                            runtimes == 1 ? tr("1 runtime") : tr("%1 runtimes").arg(format::count(runtimes)));
}

void DevicesPage::focusSearch() {
    if (search_) search_->setFocus(Qt::ShortcutFocusReason);
}

void DevicesPage::selectDevice(int row) { list_->setCurrentIndex(model_->index(row)); }

void DevicesPage::devicesChanged() {
    const QString wanted = wanted_;
    model_->setDevices(context_.services.devices());
    int row = 0;
    for (int i = 0; i < model_->rowCount(); ++i)
        if (model_->index(i).data(DeviceListModel::IdRole).toString() == wanted) row = i;
    stack_->setCurrentWidget(model_->rowCount() > 0 ? static_cast<QWidget*>(detail_) : empty_);
    if (model_->rowCount() > 0) {
        selectDevice(row);
        showDetail(row);
    } else if (context_.services.discovering()) {
        empty_->setTexts(tr("Looking for devices…"), {});
    } else {
        empty_->setTexts(tr("No device that can run kernels was found"), tr("What is missing stands at the left, each with its remedy."));
    }
    showProblems();
    emit subtitleChanged();
}

void DevicesPage::showProblems() {
    while (auto* item = problemsLayout_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const auto problems = context_.services.problems();
    problems_->parentWidget()->parentWidget()->setVisible(!problems.empty());
    if (problems.empty()) return;
    problemsLayout_->addWidget(new TokenLabel(tr("Not found or not usable"), Theme::Type::Text, Token::Text, true));
    for (const auto& problem : problems) {
        problemsLayout_->addSpacing(4);
        problemsLayout_->addWidget(selectable(QString::fromStdString(problem.what), Theme::Type::Text, Token::Text));
        if (!problem.fix.empty()) problemsLayout_->addWidget(selectable(QString::fromStdString(problem.fix), Theme::Type::Caption, Token::Secondary));
    }
    problemsLayout_->addStretch(1);
    // As high as its words, and never more than the list above.
    const int wanted = problemsLayout_->heightForWidth(246) + 4;
    problems_->parentWidget()->parentWidget()->setFixedHeight(std::clamp(wanted, 60, 280));
}

void DevicesPage::showDetail(int row) {
    const DeviceInfo* device = model_->at(row);
    search_ = nullptr;
    if (!device) return;
    wanted_ = QString::fromStdString(device->id);
    detail_->setWidget(makeDetail(*device));
}

QWidget* DevicesPage::makeDetail(const DeviceInfo& device) {
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(16, 12, 16, 16);
    layout->setSpacing(16);
    layout->addWidget(makeHeader(device));
    layout->addWidget(makeFacts(device));
    layout->addWidget(makeRuntimes(device));
    layout->addWidget(makeExtensions(device), 1);
    return page;
}

QWidget* DevicesPage::makeHeader(const DeviceInfo& device) {
    auto* header = new QWidget;
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* name = new TokenLabel(QString::fromStdString(device.name), Theme::Type::Title, Token::Text, true);
    name->setElided(true);
    name->setMaximumWidth(name->QLabel::sizeHint().width());
    layout->addWidget(name, 100);
    layout->addWidget(new TokenLabel(QString::fromStdString(device.id), Theme::Type::Text, Token::Secondary));
    for (const auto& runtime : device.runtimes) layout->addWidget(new Tag(apiName(runtime.api)));
    layout->addStretch(1);
    const DeviceInfo copied = device;
    layout->addWidget(copyButton(tr("Copy"), header, [copied] { return deviceText(copied); }, [copied] { return json(deviceJson(copied)); }));
    return header;
}

QWidget* DevicesPage::makeFacts(const DeviceInfo& device) {
    auto* card = new Card;
    auto* grid = new QGridLayout(card);
    grid->setContentsMargins(16, 12, 16, 12);
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(2);
    constexpr int columns = 4;
    const auto facts = deviceFacts(device);
    for (int i = 0; i < facts.size(); ++i) {
        const int row = (i / columns) * 3, column = i % columns;
        grid->addWidget(new TokenLabel(facts[i].name, Theme::Type::Caption, Token::Secondary), row, column);
        auto* value = selectable(facts[i].value);
        value->setWordWrap(false);
        if (facts[i].value == format::absent()) value->setToolTip(tr("not reported"));
        // The UUID is longer than a column: it comes last and takes what is left.
        const bool isLong = facts[i].value.size() > 24 && i + 1 == facts.size();
        grid->addWidget(value, row + 1, column, 1, isLong ? columns - column : 1);
        grid->setRowMinimumHeight(row + 2, row / 3 + 1 < (facts.size() + columns - 1) / columns ? 8 : 0);
        grid->setColumnStretch(column, 1);
    }
    return card;
}

QWidget* DevicesPage::makeRuntimes(const DeviceInfo& device) {
    auto* card = new Card;
    auto* grid = new QGridLayout(card);
    grid->setContentsMargins(16, 12, 16, 12);
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(6);
    grid->addWidget(new TokenLabel(tr("Runtimes"), Theme::Type::Text, Token::Text, true), 0, 0, 1, 5);
    const QStringList heads{tr("API"), tr("Platform"), tr("Version"), tr("Language"), tr("Driver")};
    for (int i = 0; i < heads.size(); ++i) grid->addWidget(new TokenLabel(heads[i], Theme::Type::Caption, Token::Secondary), 1, i);
    int row = 2;
    for (const auto& runtime : device.runtimes) {
        grid->addWidget(selectable(apiName(runtime.api)), row, 0, Qt::AlignTop);
        const std::array values{runtime.platform, runtime.version, runtime.languageVersion, runtime.driverVersion};
        for (int i = 0; i < 4; ++i) grid->addWidget(selectable(QString::fromStdString(values[static_cast<std::size_t>(i)])), row, i + 1, Qt::AlignTop);
        ++row;
    }
    const std::array stretches{1, 4, 4, 2, 3};
    for (int i = 0; i < 5; ++i) grid->setColumnStretch(i, stretches[static_cast<std::size_t>(i)]);
    return card;
}

QWidget* DevicesPage::makeExtensions(const DeviceInfo& device) {
    auto* card = new Card;
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(16, 12, 16, 12);
    layout->setSpacing(8);
    auto* top = new QHBoxLayout;
    top->addWidget(new TokenLabel(tr("Extensions"), Theme::Type::Text, Token::Text, true));
    auto* found = new TokenLabel(format::count(device.extensions.size()), Theme::Type::Text, Token::Secondary);
    top->addWidget(found);
    top->addStretch(1);
    search_ = new QLineEdit;
    search_->setPlaceholderText(tr("Search (Ctrl+F)"));
    search_->setClearButtonEnabled(true);
    search_->setFixedWidth(220);
    search_->setAccessibleName(tr("Search in extensions"));
    top->addWidget(search_);
    layout->addLayout(top);
    auto* list = new QListWidget;
    list->setFrameShape(QFrame::NoFrame);
    list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list->setFlow(QListView::LeftToRight);
    list->setWrapping(true);
    list->setResizeMode(QListView::Adjust);
    list->setMinimumHeight(140);
    list->setAccessibleName(tr("Extensions"));
    int widest = 120;
    for (const auto& extension : device.extensions) {
        list->addItem(QString::fromStdString(extension));
        widest = std::max(widest, list->fontMetrics().horizontalAdvance(QString::fromStdString(extension)));
    }
    list->setGridSize(QSize(widest + 28, 26));
    layout->addWidget(list, 1);
    const auto all = device.extensions.size();
    connect(search_, &QLineEdit::textChanged, list, [list, found, all](const QString& text) {
        int shown = 0;
        for (int i = 0; i < list->count(); ++i) {
            const bool hit = list->item(i)->text().contains(text.trimmed(), Qt::CaseInsensitive);
            list->item(i)->setHidden(!hit);
            shown += hit ? 1 : 0;
        }
        found->setText(text.trimmed().isEmpty() ? format::count(all) : tr("%1 of %2").arg(format::count(static_cast<std::uint64_t>(shown)), format::count(all)));
    });
    return card;
}

QString DevicesPage::reportText() const {
    QString out;
    for (const auto& device : context_.services.devices()) out += deviceText(device) + QLatin1Char('\n');
    for (const auto& problem : context_.services.problems())
        out += tr("Problem: %1\nRemedy: %2\n\n").arg(QString::fromStdString(problem.what), QString::fromStdString(problem.fix));
    return out;
}

QString DevicesPage::reportJson() const {
    QJsonArray devices, problems;
    for (const auto& device : context_.services.devices()) devices.append(deviceJson(device));
    for (const auto& problem : context_.services.problems())
        problems.append(QJsonObject{{QStringLiteral("what"), QString::fromStdString(problem.what)}, {QStringLiteral("fix"), QString::fromStdString(problem.fix)}});
    return json(QJsonObject{{QStringLiteral("devices"), devices}, {QStringLiteral("problems"), problems}});
}

}  // namespace heteroscope
