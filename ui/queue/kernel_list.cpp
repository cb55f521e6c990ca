#include "ui/queue/kernel_list.h"

#include "ui/theme.h"

#include <QPainter>

#include <algorithm>

namespace heteroscope {
namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }

QStringList languagesOf(const Kernel& kernel) {
    QStringList names;
    for (const KernelVariant& variant : kernel.variants) {
        const QString name = variant.language == Language::OpenClC ? QStringLiteral("OpenCL C") : QStringLiteral("CUDA");
        if (!names.contains(name)) names << name;
    }
    return names;
}

bool matches(const Kernel& kernel, const QStringList& words) {
    return std::all_of(words.begin(), words.end(), [&](const QString& word) {
        return text(kernel.id).contains(word, Qt::CaseInsensitive) || text(kernel.title).contains(word, Qt::CaseInsensitive) ||
               text(kernel.description).contains(word, Qt::CaseInsensitive);
    });
}

/// Text with every match on a marked ground.
void drawMarked(QPainter* painter, const QRect& rect, const QString& whole, const QStringList& words) {
    const QFontMetricsF metrics(painter->font());
    const QString shown = metrics.elidedText(whole, Qt::ElideRight, rect.width());
    for (const QString& word : words)
        for (qsizetype at = shown.indexOf(word, 0, Qt::CaseInsensitive); at >= 0; at = shown.indexOf(word, at + word.size(), Qt::CaseInsensitive)) {
            const double left = metrics.horizontalAdvance(shown.left(at));
            const double width = metrics.horizontalAdvance(shown.mid(at, word.size()));
            painter->fillRect(QRectF(rect.left() + left, rect.top() + 1, width, rect.height() - 2), Theme::color(Token::SearchMatch));
        }
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace

void KernelListModel::setCatalogue(std::shared_ptr<const KernelCatalogue> catalogue) {
    catalogue_ = std::move(catalogue);
    refresh();
}

void KernelListModel::setSearch(const QString& text) {
    if (text == search_) return;
    search_ = text;
    refresh();
}

void KernelListModel::refresh() {
    beginResetModel();
    shown_.clear();
    const QStringList words = search_.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (catalogue_)
        for (const KernelPtr& kernel : catalogue_->kernels())
            if (matches(*kernel, words)) shown_.push_back(kernel);
    endResetModel();
}

int KernelListModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(shown_.size()); }
int KernelListModel::total() const { return catalogue_ ? static_cast<int>(catalogue_->kernels().size()) : 0; }

int KernelListModel::rowOf(const std::string& id) const {
    const auto it = std::find_if(shown_.begin(), shown_.end(), [&](const KernelPtr& kernel) { return kernel->id == id; });
    return it == shown_.end() ? -1 : static_cast<int>(it - shown_.begin());
}

QVariant KernelListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Kernel& kernel = *shown_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
        case KernelRole: return text(kernel.id);
        case DescriptionRole: return kernel.description.empty() ? text(kernel.title) : text(kernel.description);
        case Qt::ToolTipRole: return text(kernel.title) + QLatin1Char('\n') + text(kernel.description);
        case LanguagesRole: return languagesOf(kernel).join(QStringLiteral(" · "));
        case SearchRole: return search_;
        default: return {};
    }
}

QSize KernelDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const { return {200, 48}; }

void KernelDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected) painter->fillRect(option.rect, Theme::color(Token::Selection));
    else if (option.state.testFlag(QStyle::State_MouseOver)) painter->fillRect(option.rect, Theme::color(Token::Hover));
    if (selected) painter->fillRect(QRect(option.rect.left(), option.rect.top(), 3, option.rect.height()), Theme::color(Token::Accent));
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), Theme::color(Token::Hover));
    const QRect rect = option.rect.adjusted(16, 5, -12, -6);
    const QStringList words = index.data(KernelListModel::SearchRole).toString().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const QString languages = index.data(KernelListModel::LanguagesRole).toString();
    painter->setFont(Theme::font(Theme::Type::Caption));
    painter->setPen(Theme::color(Token::Secondary));
    const int languageWidth = QFontMetrics(painter->font()).horizontalAdvance(languages);
    const QRect upper(rect.left(), rect.top(), rect.width(), rect.height() / 2);
    const QRect lower(rect.left(), rect.top() + rect.height() / 2, rect.width(), rect.height() / 2);
    painter->drawText(upper, Qt::AlignRight | Qt::AlignVCenter, languages);
    drawMarked(painter, lower, index.data(KernelListModel::DescriptionRole).toString(), words);
    painter->setFont(Theme::font(Theme::Type::Text, true));
    painter->setPen(Theme::color(Token::Text));
    drawMarked(painter, upper.adjusted(0, 0, -languageWidth - 8, 0), index.data().toString(), words);
    painter->restore();
}

}  // namespace heteroscope
