#include "ui/devices/device_text.h"

#include "ui/format.h"

#include <QCoreApplication>
#include <QJsonArray>

namespace heteroscope {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("DeviceText", text); }

QString kindName(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::Cpu: return tr("CPU");
        case DeviceKind::Gpu: return tr("GPU");
        case DeviceKind::Accelerator: return tr("Accelerator");
    }
    return format::absent();
}

template <class T, class Write>
QString orAbsent(const std::optional<T>& value, Write write) {
    return value ? write(*value) : format::absent();
}

QString bytesOf(std::uint64_t bytes) { return format::bytes(static_cast<double>(bytes)); }

QString join(const std::vector<std::uint64_t>& values) {
    if (values.empty()) return format::absent();
    QStringList words;
    for (const auto value : values) words << format::count(value);
    return words.join(QStringLiteral(" × "));
}

QString yes(bool value) { return value ? tr("yes") : tr("no"); }

template <class T>
QJsonValue number(const std::optional<T>& value) {
    return value ? QJsonValue(static_cast<qint64>(*value)) : QJsonValue(QJsonValue::Null);
}

QJsonValue text(const std::optional<std::string>& value) { return value ? QJsonValue(QString::fromStdString(*value)) : QJsonValue(QJsonValue::Null); }

}  // namespace

QString apiName(Api api) {
    switch (api) {
        case Api::OpenCl: return QStringLiteral("OpenCL");
        case Api::Cuda: return QStringLiteral("CUDA");
        case Api::Null: return QStringLiteral("null");
    }
    return format::absent();
}

QList<DeviceFact> deviceFacts(const DeviceInfo& device) {
    return {
        {tr("Type"), kindName(device.kind)},
        {tr("Compute units"), orAbsent(device.computeUnits, [](std::uint32_t n) { return format::count(n); })},
        {tr("Clock"), orAbsent(device.clockMegahertz, [](std::uint32_t mhz) { return format::rate(mhz * 1e6, QStringLiteral("Hz")); })},
        {tr("Memory"), orAbsent(device.memoryBytes, bytesOf)},
        {tr("Largest buffer"), orAbsent(device.maxAllocationBytes, bytesOf)},
        {tr("Local memory"), orAbsent(device.localMemoryBytes, bytesOf)},
        {tr("Max. work-group"), orAbsent(device.maxWorkGroupSize, [](std::uint64_t n) { return format::count(n); })},
        {tr("Max. work-items"), join(device.maxWorkItemSizes)},
        {tr("Shares host memory"), yes(device.sharesHostMemory)},
        {tr("double"), yes(device.hasDouble)},
        {tr("half"), yes(device.hasHalf)},
        {tr("Images"), yes(device.hasImages)},
        {tr("PCI address"), device.pciAddress ? QString::fromStdString(*device.pciAddress) : format::absent()},
        {tr("UUID"), device.uuid ? QString::fromStdString(*device.uuid) : format::absent()},
    };
}

QString deviceText(const DeviceInfo& device) {
    QString out = QStringLiteral("%1 (%2)\n").arg(QString::fromStdString(device.name), QString::fromStdString(device.id));
    for (const auto& fact : deviceFacts(device)) out += QStringLiteral("  %1: %2\n").arg(fact.name, fact.value);
    for (const auto& runtime : device.runtimes)
        out += QStringLiteral("  %1: %2\n    %3\n    %4\n    %5 %6\n")
                   .arg(apiName(runtime.api), QString::fromStdString(runtime.platform), QString::fromStdString(runtime.version),
                        QString::fromStdString(runtime.languageVersion), tr("driver"), QString::fromStdString(runtime.driverVersion));
    QStringList extensions;
    for (const auto& extension : device.extensions) extensions << QString::fromStdString(extension);
    out += QStringLiteral("  %1: %2\n").arg(tr("Extensions"), extensions.isEmpty() ? format::absent() : extensions.join(QLatin1Char(' ')));
    return out;
}

QJsonObject deviceJson(const DeviceInfo& device) {
    QJsonArray runtimes, extensions, sizes;
    for (const auto& runtime : device.runtimes)
        runtimes.append(QJsonObject{{QStringLiteral("api"), QString::fromUtf8(toString(runtime.api).data(), static_cast<qsizetype>(toString(runtime.api).size()))},
                                    {QStringLiteral("platform"), QString::fromStdString(runtime.platform)},
                                    {QStringLiteral("name"), QString::fromStdString(runtime.name)},
                                    {QStringLiteral("version"), QString::fromStdString(runtime.version)},
                                    {QStringLiteral("language_version"), QString::fromStdString(runtime.languageVersion)},
                                    {QStringLiteral("driver_version"), QString::fromStdString(runtime.driverVersion)}});
    for (const auto& extension : device.extensions) extensions.append(QString::fromStdString(extension));
    for (const auto size : device.maxWorkItemSizes) sizes.append(static_cast<qint64>(size));
    const auto kind = toString(device.kind);
    return {{QStringLiteral("id"), QString::fromStdString(device.id)},
            {QStringLiteral("name"), QString::fromStdString(device.name)},
            {QStringLiteral("kind"), QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size()))},
            {QStringLiteral("runtimes"), runtimes},
            {QStringLiteral("compute_units"), number(device.computeUnits)},
            {QStringLiteral("clock_mhz"), number(device.clockMegahertz)},
            {QStringLiteral("memory_bytes"), number(device.memoryBytes)},
            {QStringLiteral("max_allocation_bytes"), number(device.maxAllocationBytes)},
            {QStringLiteral("local_memory_bytes"), number(device.localMemoryBytes)},
            {QStringLiteral("max_work_group_size"), number(device.maxWorkGroupSize)},
            {QStringLiteral("max_work_item_sizes"), sizes},
            {QStringLiteral("shares_host_memory"), device.sharesHostMemory},
            {QStringLiteral("has_double"), device.hasDouble},
            {QStringLiteral("has_half"), device.hasHalf},
            {QStringLiteral("has_images"), device.hasImages},
            {QStringLiteral("uuid"), text(device.uuid)},
            {QStringLiteral("pci_address"), text(device.pciAddress)},
            {QStringLiteral("extensions"), extensions}};
}

}  // namespace heteroscope
