#include "devices/discovery.h"

#include "devices/identity.h"
#include "devices/machine.h"
#include "devices/opencl/opencl_device.h"
#include "devices/opencl/platforms.h"

#include <fmt/format.h>

#include <algorithm>

namespace heteroscope {
namespace {

/// One physical device, reached through the first runtime that offers it; the others are listed with it.
void mergeRuntimes(std::vector<opencl::FoundDevice>& found) {
    std::vector<ReportedDevice> reported;
    for (const opencl::FoundDevice& device : found) reported.push_back(device.reported);
    const std::vector<std::size_t> first = physicalDevices(reported);
    std::vector<opencl::FoundDevice> merged;
    std::vector<std::size_t> place(found.size(), 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (first[i] == i) {
            place[i] = merged.size();
            merged.push_back(std::move(found[i]));
        } else {
            merged[place[first[i]]].reported.info.runtimes.push_back(reported[i].info.runtimes.front());
        }
    }
    found = std::move(merged);
}

DeviceProblem refused(const DeviceInfo& info, const Error& error) {
    const std::string platform = info.runtimes.empty() ? "" : info.runtimes.front().platform;
    std::string fix = "close programs that use the device, update its driver, or start the machine again; then look again";
    if (platform.find("NVIDIA") != std::string::npos)
        fix = "see with nvidia-smi whether another program holds it in exclusive compute mode (nvidia-smi -c DEFAULT ends that), or whether it needs a reset";
    return {fmt::format("{} of '{}' cannot be opened: {}", info.name, platform, error.message), fix};
}

}  // namespace

Discovery discoverDevices() {
    Discovery discovery;
    const Machine machine = Machine::look();
    opencl::Found found = opencl::findDevices(machine);
    discovery.problems = std::move(found.problems);
    mergeRuntimes(found.devices);
    std::vector<DeviceInfo*> infos;
    for (opencl::FoundDevice& device : found.devices) infos.push_back(&device.reported.info);
    identify(infos, machine.cpuName);
    for (opencl::FoundDevice& device : found.devices) {
        auto opened = opencl::OpenClDevice::open(device.device, device.reported.info);
        if (opened) {
            discovery.devices.push_back(std::move(*opened));
        } else {
            discovery.problems.push_back(refused(device.reported.info, opened.error()));
        }
    }
    return discovery;
}

}  // namespace heteroscope
