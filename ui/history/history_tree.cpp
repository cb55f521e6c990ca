#include "ui/history/history_tree.h"

#include "ui/format.h"
#include "ui/theme.h"

#include <QDateTime>
#include <QHeaderView>
#include <QLocale>
#include <QStandardItemModel>

#include <algorithm>
#include <functional>
#include <map>

namespace heteroscope {
namespace {

enum Roles { SessionRole = Qt::UserRole + 1, ComparisonRole, SearchRole, AllRole };

QDateTime local(std::int64_t epochNs) { return QDateTime::fromMSecsSinceEpoch(epochNs / 1'000'000); }

QString jobsText(std::uint64_t jobs) {
    return jobs == 1 ? HistoryTree::tr("1 job") : HistoryTree::tr("%1 jobs").arg(format::count(jobs));
}

/// One line of the tree before it is one.
struct Entry {
    std::int64_t at = 0;
    QString text, size, toolTip;
    int role = SessionRole;
    std::int64_t id = 0;
};

QStandardItem* makeItem(const QString& text) {
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    item->setFont(Theme::font(Theme::Type::Text));
    return item;
}

QStandardItem* makeSize(const QString& text) {
    QStandardItem* item = makeItem(text);
    item->setFont(Theme::font(Theme::Type::Caption));
    item->setForeground(Theme::color(Token::Secondary));
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

Entry sessionEntry(const SessionRow& session, bool open) {
    const QString time = local(session.startedAt).toString(QStringLiteral("HH:mm"));
    Entry entry{session.startedAt, HistoryTree::tr("%1 session").arg(time), jobsText(session.jobs), {}, SessionRole, session.id};
    if (open) entry.text = HistoryTree::tr("%1 open now").arg(time);
    entry.toolTip = HistoryTree::tr("Session %1, began %2").arg(session.id).arg(format::dateTime(session.startedAt));
    if (session.endedAt > 0) entry.toolTip += HistoryTree::tr(", ended %1").arg(format::dateTime(session.endedAt));
    else if (!open) entry.toolTip += HistoryTree::tr("; the program ended without closing it");
    return entry;
}

Entry comparisonEntry(const ComparisonRow& comparison) {
    const QString name = QString::fromStdString(comparison.name);
    return {comparison.createdAt, HistoryTree::tr("%1 %2").arg(local(comparison.createdAt).toString(QStringLiteral("HH:mm")), name),
            HistoryTree::tr("%1 policies").arg(comparison.policies),
            HistoryTree::tr("%1: %2 under %3 policies, %4. Double-click opens it.")
                .arg(name, jobsText(comparison.jobs)).arg(comparison.policies).arg(format::dateTime(comparison.createdAt)),
            ComparisonRole, comparison.id};
}

}  // namespace

QString historyGroup(const QDate& day, const QDate& today) {
    const QLocale english(QLocale::English);
    const qint64 ago = day.daysTo(today);
    const QString name = english.toString(day, QStringLiteral("ddd d MMM"));
    if (ago <= 0) return ago == 0 ? HistoryTree::tr("Today, %1").arg(name) : name;
    if (ago < 7) return name;
    if (ago < 35) return HistoryTree::tr("Week of %1").arg(english.toString(day.addDays(1 - day.dayOfWeek()), QStringLiteral("d MMM")));
    return english.toString(day, day.year() == today.year() ? QStringLiteral("MMMM") : QStringLiteral("MMMM yyyy"));
}

HistoryTree::HistoryTree(QWidget* parent) : QTreeView(parent), model_(new QStandardItemModel(this)) {
    setObjectName(QStringLiteral("historyTree"));
    setAccessibleName(tr("Sessions and comparisons"));
    setModel(model_);
    setHeaderHidden(true);
    setFrameShape(QFrame::NoFrame);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setUniformRowHeights(true);
    setIndentation(16);
    setExpandsOnDoubleClick(true);
    setContextMenuPolicy(Qt::CustomContextMenu);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, &HistoryTree::chosen);
    connect(this, &QAbstractItemView::activated, this, [this](const QModelIndex& index) {
        const QVariant comparison = index.siblingAtColumn(0).data(ComparisonRole);
        if (comparison.isValid()) emit comparisonActivated(comparison.toLongLong());
    });
    setContents({}, {});
}

void HistoryTree::chosen(const QModelIndex& index) {
    const QModelIndex item = index.siblingAtColumn(0);
    if (item.data(SessionRole).isValid()) emit sessionChosen(item.data(SessionRole).toLongLong());
    else if (item.data(AllRole).toBool()) emit sessionChosen(std::nullopt);
}

void HistoryTree::setContents(const std::vector<SessionRow>& sessions, const std::vector<ComparisonRow>& comparisons) {
    const auto session = currentSession();
    const auto comparison = currentComparison();
    std::map<QString, bool> unfolded;
    for (int row = 0; row < model_->rowCount(); ++row)
        unfolded[model_->item(row)->text()] = isExpanded(model_->index(row, 0));

    std::vector<Entry> entries;
    std::uint64_t jobs = 0;
    QString size;  // nothing before the first answer
    for (const SessionRow& one : sessions) {
        jobs += one.jobs;
        const bool open = one.endedAt == 0 && one.id == sessions.front().id;
        if (one.jobs > 0 || open) entries.push_back(sessionEntry(one, open));
    }
    for (const ComparisonRow& one : comparisons) entries.push_back(comparisonEntry(one));
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.at > b.at; });

    const QSignalBlocker quiet(selectionModel());
    model_->clear();
    model_->setColumnCount(2);
    QStandardItem* all = makeItem(tr("All jobs"));
    all->setData(true, AllRole);
    all->setFont(Theme::font(Theme::Type::Text, true));
    if (!sessions.empty()) size = jobsText(jobs);
    model_->appendRow({all, makeSize(size)});
    const QDate today = QDate::currentDate();
    QStandardItem* group = nullptr;
    for (const Entry& entry : entries) {
        const QString name = historyGroup(local(entry.at).date(), today);
        if (!group || group->text() != name) {
            group = makeItem(name);
            group->setFont(Theme::font(Theme::Type::Text, true));
            group->setSelectable(false);
            model_->appendRow({group, makeSize({})});
        }
        QStandardItem* item = makeItem(entry.text);
        item->setData(QVariant::fromValue<qlonglong>(entry.id), entry.role);
        item->setToolTip(entry.toolTip);
        if (entry.role == ComparisonRole) {
            item->setIcon(Theme::icon(QStringLiteral("compare"), Token::Secondary));
            item->setData(entry.text.section(QLatin1Char(' '), 1), SearchRole);
        }
        group->appendRow({item, makeSize(entry.size)});
    }
    for (int row = 1; row < model_->rowCount(); ++row) {
        const auto before = unfolded.find(model_->item(row)->text());
        setExpanded(model_->index(row, 0), before == unfolded.end() ? row <= 3 : before->second);
    }
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(0, QHeaderView::Stretch);
    header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    QStandardItem* current = session ? itemOf(SessionRole, *session) : comparison ? itemOf(ComparisonRole, *comparison) : nullptr;
    setCurrentIndex((current ? current : all)->index());
    setSearch(search_);
}

void HistoryTree::setSearch(const QString& text) {
    search_ = text;
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (int row = 1; row < model_->rowCount(); ++row) {
        const QStandardItem* group = model_->item(row);
        int shown = 0;
        for (int i = 0; i < group->rowCount(); ++i) {
            const QString whole = group->text() + QLatin1Char(' ') + group->child(i)->text();
            const bool fits = std::all_of(words.begin(), words.end(), [&](const QString& word) { return whole.contains(word, Qt::CaseInsensitive); });
            setRowHidden(i, group->index(), !fits);
            shown += fits;
        }
        setRowHidden(row, {}, shown == 0);
        if (!words.isEmpty() && shown > 0) expand(group->index());
    }
}

std::optional<std::int64_t> HistoryTree::currentSession() const {
    const QVariant id = currentIndex().siblingAtColumn(0).data(SessionRole);
    return id.isValid() ? std::optional<std::int64_t>(id.toLongLong()) : std::nullopt;
}

std::optional<std::int64_t> HistoryTree::currentComparison() const {
    const QVariant id = currentIndex().siblingAtColumn(0).data(ComparisonRole);
    return id.isValid() ? std::optional<std::int64_t>(id.toLongLong()) : std::nullopt;
}

QString HistoryTree::comparisonName(std::int64_t id) const {
    const QStandardItem* item = itemOf(ComparisonRole, id);
    return item ? item->data(SearchRole).toString() : QString();
}

void HistoryTree::selectAll() { setCurrentIndex(model_->index(0, 0)); }

void HistoryTree::selectSession(std::int64_t id) {
    if (const QStandardItem* item = itemOf(SessionRole, id)) setCurrentIndex(item->index());
}

QStandardItem* HistoryTree::itemOf(int role, std::int64_t id) const {
    for (int row = 1; row < model_->rowCount(); ++row)
        for (int i = 0; i < model_->item(row)->rowCount(); ++i) {
            QStandardItem* item = model_->item(row)->child(i);
            if (item->data(role).isValid() && item->data(role).toLongLong() == id) return item;
        }
    return nullptr;
}

}  // namespace heteroscope
