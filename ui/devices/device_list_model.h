#pragma once

#include "ui/job_board.h"
#include "ui/theme.h"

#include <QAbstractListModel>
#include <QStyledItemDelegate>

namespace heteroscope {

/// The devices at the left of the page: name, id, and what each is doing.
class DeviceListModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Roles { IdRole = Qt::UserRole, SeriesRole, StateTextRole, StateIconRole, StateTokenRole };

    explicit DeviceListModel(const JobBoard& board, QObject* parent = nullptr);
    void setDevices(std::vector<DeviceInfo> devices);
    void refreshStates();
    const DeviceInfo* at(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    struct State {
        QString text, icon;
        Token token = Token::Secondary;
        bool operator==(const State&) const = default;
    };
    State stateOf(const DeviceInfo& device) const;

    const JobBoard& board_;
    std::vector<DeviceInfo> devices_;
    std::vector<State> states_;
};

/// Two lines a row, 48 px: swatch and name, id and state.
class DeviceListDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace heteroscope
