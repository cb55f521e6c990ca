#include "app/settings.h"

#include "scheduler/policy.h"

#include <QCoreApplication>
#include <QSettings>

namespace heteroscope::settings {
namespace {

const QString policyKey = QStringLiteral("queue/policy");

}  // namespace

void prepare() {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QCoreApplication::setOrganizationName(QStringLiteral("heteroscope"));
    QCoreApplication::setApplicationName(QStringLiteral("heteroscope"));
}

std::string policy() {
    const std::string text = QSettings().value(policyKey).toString().toStdString();
    return !text.empty() && makePolicy(text) ? text : "mct";
}

void setPolicy(const std::string& policy) { QSettings().setValue(policyKey, QString::fromStdString(policy)); }

}  // namespace heteroscope::settings
