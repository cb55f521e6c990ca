#include "ui/devices/device_list_model.h"

#include "ui/format.h"

#include <QPainter>

namespace heteroscope {

DeviceListModel::DeviceListModel(const JobBoard& board, QObject* parent) : QAbstractListModel(parent), board_(board) {}

void DeviceListModel::setDevices(std::vector<DeviceInfo> devices) {
    beginResetModel();
    devices_ = std::move(devices);
    states_.clear();
    for (const auto& device : devices_) states_.push_back(stateOf(device));
    endResetModel();
}

void DeviceListModel::refreshStates() {
    for (int row = 0; row < rowCount(); ++row) {
        auto state = stateOf(devices_[static_cast<std::size_t>(row)]);
        auto& shown = states_[static_cast<std::size_t>(row)];
        if (state == shown) continue;
        shown = std::move(state);
        emit dataChanged(index(row), index(row));
    }
}

const DeviceInfo* DeviceListModel::at(int row) const { return row < 0 || row >= rowCount() ? nullptr : &devices_[static_cast<std::size_t>(row)]; }

DeviceListModel::State DeviceListModel::stateOf(const DeviceInfo& device) const {
    for (const auto& snapshot : board_.latest().devices) {
        if (snapshot.id != device.id) continue;
        if (!snapshot.online) return {tr("lost"), QStringLiteral("warning"), Token::Bad};
        if (!snapshot.running.empty()) return {tr("running"), QStringLiteral("state-running"), Token::Accent};
        if (snapshot.queued > 0) return {tr("%1 queued").arg(format::count(snapshot.queued)), QStringLiteral("state-assigned"), Token::Secondary};
        return {tr("idle"), QStringLiteral("state-waiting"), Token::Secondary};
    }
    return {};
}

int DeviceListModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(devices_.size()); }

QVariant DeviceListModel::data(const QModelIndex& index, int role) const {
    const DeviceInfo* device = index.isValid() ? at(index.row()) : nullptr;
    if (!device) return {};
    const State& state = states_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
        case Qt::ToolTipRole: return QString::fromStdString(device->name);
        case Qt::AccessibleTextRole: return QStringLiteral("%1, %2, %3").arg(QString::fromStdString(device->name), QString::fromStdString(device->id), state.text);
        case IdRole: return QString::fromStdString(device->id);
        case SeriesRole: return board_.deviceIndex(device->id);
        case StateTextRole: return state.text;
        case StateIconRole: return state.icon;
        case StateTokenRole: return static_cast<int>(state.token);
        default: return {};
    }
}

void DeviceListDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    const QRect rect = option.rect;
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected) {
        painter->fillRect(rect, Theme::color(Token::Selection));
        painter->fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), Theme::color(Token::Accent));
    } else if (option.state.testFlag(QStyle::State_MouseOver)) {
        painter->fillRect(rect, Theme::color(Token::Hover));
    }
    painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), Theme::color(Token::Line));
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    if (const int series = index.data(DeviceListModel::SeriesRole).toInt(); series >= 0) {
        painter->setBrush(Theme::series(series));
        painter->drawRoundedRect(QRectF(rect.left() + 16, rect.top() + 13, 9, 9), 2, 2);
    }
    painter->setFont(Theme::font(Theme::Type::Text, true));
    painter->setPen(Theme::color(Token::Text));
    const QRect name = rect.adjusted(33, 7, -12, 0);
    painter->drawText(QRect(name.left(), name.top(), name.width(), 20), Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, name.width()));
    painter->setFont(Theme::font(Theme::Type::Caption));
    const QRect second(name.left(), rect.top() + 27, name.width(), 18);
    const QString state = index.data(DeviceListModel::StateTextRole).toString();
    const auto token = static_cast<Token>(index.data(DeviceListModel::StateTokenRole).toInt());
    const int stateWidth = state.isEmpty() ? 0 : painter->fontMetrics().horizontalAdvance(state);
    painter->setPen(Theme::color(Token::Secondary));
    painter->drawText(second, Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(index.data(DeviceListModel::IdRole).toString(), Qt::ElideRight, second.width() - stateWidth - 28));
    if (!state.isEmpty()) {
        painter->setPen(Theme::color(token));
        painter->drawText(second, Qt::AlignVCenter | Qt::AlignRight, state);
        Theme::icon(index.data(DeviceListModel::StateIconRole).toString(), token).paint(painter, QRect(second.right() - stateWidth - 18, second.top() + 3, 12, 12));
    }
    painter->restore();
}

QSize DeviceListDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const { return {200, 52}; }

}  // namespace heteroscope
