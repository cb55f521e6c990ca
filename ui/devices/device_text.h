#pragma once

#include "devices/device_info.h"

#include <QJsonObject>
#include <QList>
#include <QString>

namespace heteroscope {

/// One fact of a device with its name: {"Local memory", "256 KiB"}; "—" when the driver does not report it.
struct DeviceFact {
    QString name;
    QString value;
    bool operator==(const DeviceFact&) const = default;
};

/// Everything a kernel programmer looks for, in the order of the page; runtimes and extensions apart.
QList<DeviceFact> deviceFacts(const DeviceInfo& device);
/// The whole device as plain text, to paste into a mail or a report.
QString deviceText(const DeviceInfo& device);
/// The fields of `devices --json`.
QJsonObject deviceJson(const DeviceInfo& device);
QString apiName(Api api);

}  // namespace heteroscope
