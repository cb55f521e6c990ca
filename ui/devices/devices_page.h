#pragma once

#include "ui/page.h"
#include "ui/services.h"

class QLabel;
class QLineEdit;
class QListView;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace heteroscope {

class DeviceListModel;
class EmptyState;
class TokenLabel;

/// Every device and everything its drivers say of it; what is missing on this machine and how to get it.
class DevicesPage : public Page {
    Q_OBJECT
public:
    DevicesPage(PageContext context, QWidget* parent);

    QString title() const override { return tr("Devices"); }
    QString iconName() const override { return QStringLiteral("devices"); }
    QString subtitle() const override;
    void focusSearch() override;

    void selectDevice(int row);
    /// Text and JSON of everything on this page: devices and problems.
    QString reportText() const;
    QString reportJson() const;

private:
    QWidget* makeList();
    QWidget* makeFooter();
    QWidget* makeDetail(const DeviceInfo& device);
    QWidget* makeHeader(const DeviceInfo& device);
    QWidget* makeFacts(const DeviceInfo& device);
    QWidget* makeRuntimes(const DeviceInfo& device);
    QWidget* makeExtensions(const DeviceInfo& device);
    void devicesChanged();
    void showProblems();
    void showDetail(int row);

    PageContext context_;
    DeviceListModel* model_;
    QListView* list_;
    QWidget* problems_;
    QVBoxLayout* problemsLayout_;
    QStackedWidget* stack_;
    QScrollArea* detail_;
    EmptyState* empty_;
    QLineEdit* search_ = nullptr;  ///< of the device shown
    QString wanted_;               ///< id of the device shown, over a rescan
};

}  // namespace heteroscope
