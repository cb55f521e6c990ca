#include "devices/opencl/platforms.h"

#include "devices/opencl/device_facts.h"
#include "devices/opencl/status.h"
#include "devices/opencl/vendor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace heteroscope::opencl {
namespace {

std::string platformName(cl_platform_id platform) {
    std::string name = queryText([&](std::size_t size, void* value, std::size_t* needed) {
        return clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, needed);
    });
    return name.empty() ? "(unnamed platform)" : name;
}

/// CL_SUCCESS with none, CL_PLATFORM_NOT_FOUND_KHR: both mean none.
std::vector<cl_platform_id> listPlatforms(cl_int& status) {
    cl_uint count = 0;
    status = clGetPlatformIDs(0, nullptr, &count);
    if (status != CL_SUCCESS || count == 0) return {};
    std::vector<cl_platform_id> platforms(count, nullptr);
    status = clGetPlatformIDs(count, platforms.data(), nullptr);
    return status == CL_SUCCESS ? platforms : std::vector<cl_platform_id>{};
}

/// A platform without a device may answer so, or with a status; some leave the count as it was. Never asked for 0.
std::vector<cl_device_id> listDevices(cl_platform_id platform, cl_int& status) {
    cl_uint count = 0;
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (status != CL_SUCCESS || count == 0) return {};
    std::vector<cl_device_id> devices(count, nullptr);
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    std::erase(devices, nullptr);
    return status == CL_SUCCESS ? devices : std::vector<cl_device_id>{};
}

std::string environmentValue(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

DeviceProblem noPlatform(const VendorFiles& files, const Machine& machine, cl_int status) {
    const std::string reason = status == CL_SUCCESS || status == -1001 ? "" : ": " + statusText(status);
    if (files.fromEnvironment)
        return {fmt::format("No OpenCL runtime was found: OCL_ICD_VENDORS is set to '{}', which names no usable one{}", files.place, reason),
                "unset OCL_ICD_VENDORS, or let it name a folder with .icd files"};
    return {fmt::format("No OpenCL runtime was found: {} {}{}", files.place,
                        files.entries.empty() ? "has no .icd file" : "names no usable one", reason),
            machine.install("pocl-opencl-icd") + " (makes the CPU a compute device; GPUs bring a runtime with their driver)"};
}

DeviceProblem noDevice(cl_platform_id platform, cl_int status) {
    const std::string name = platformName(platform);
    const std::string reason = status == CL_SUCCESS || status == CL_DEVICE_NOT_FOUND ? "" : ": " + statusText(status);
    DeviceProblem problem{fmt::format("The OpenCL platform '{}' has no device{}", name, reason),
                          "check with clinfo that its driver runs and that its hardware is there"};
    const std::string chosen = environmentValue("POCL_DEVICES");
    if (name == "Portable Computing Language" && !chosen.empty()) {
        problem.what += fmt::format(": POCL_DEVICES is set to '{}'", chosen);
        problem.fix = "unset POCL_DEVICES, or set it to devices that PoCL has (pthread, basic)";
    }
    return problem;
}

void addDevices(cl_platform_id platform, std::size_t index, Found& found) {
    cl_int status = CL_SUCCESS;
    const std::vector<cl_device_id> devices = listDevices(platform, status);
    if (devices.empty()) found.problems.push_back(noDevice(platform, status));
    for (cl_device_id device : devices) {
        DeviceInfo info = readFacts(platform, device);
        const std::string name = fmt::format("{} ({})", info.name.empty() ? "(unnamed device)" : info.name, platformName(platform));
        if (versionOf(info.runtimes.front().version) < std::pair(1, 2)) {
            found.problems.push_back({fmt::format("{} speaks '{}': OpenCL 1.2 or later is needed", name, info.runtimes.front().version),
                                      "update its driver"});
            continue;
        }
        cl_bool available = CL_TRUE;
        if (clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr) == CL_SUCCESS && available != CL_TRUE) {
            found.problems.push_back({fmt::format("{} is not available (CL_DEVICE_AVAILABLE is false)", name),
                                      "another program may hold it alone; free it and look again"});
            continue;
        }
        found.devices.push_back({device, {index, std::move(info)}});
    }
}

bool reaches(const Found& found, const std::string& vendor) {
    return std::ranges::any_of(found.devices, [&](const FoundDevice& device) {
        const RuntimeInfo& runtime = device.reported.info.runtimes.front();
        return device.reported.info.kind == DeviceKind::Gpu &&
               (runtime.platform + runtime.name + device.reported.info.name).find(vendor) != std::string::npos;
    });
}

/// NVIDIA's driver is there, but nothing tells the loader: usual in containers.
DeviceProblem unregisteredNvidia(const Machine& machine) {
    const bool standard = machine.nvidiaOpenCl.find("/usr/lib") != std::string::npos && machine.nvidiaOpenCl.find("/wsl/") == std::string::npos;
    const std::string name = standard ? "libnvidia-opencl.so.1" : machine.nvidiaOpenCl;
    return {fmt::format("NVIDIA's OpenCL runtime is here ({}), but no .icd file names it", machine.nvidiaOpenCl),
            fmt::format("{}sh -c 'mkdir -p /etc/OpenCL/vendors && echo {} > /etc/OpenCL/vendors/nvidia.icd'", machine.asRoot(), name)};
}

std::string gpuRuntimePackage(const std::string& vendor, const Machine& machine) {
    if (vendor == "AMD") return machine.install("mesa-opencl-icd") + " (or AMD's ROCm)";
    if (vendor == "Intel") return machine.install("intel-opencl-icd");
    if (machine.system == "ubuntu") return machine.asRoot() + "ubuntu-drivers install";
    return machine.install("nvidia-driver nvidia-opencl-icd") + (machine.system == "debian" ? " (from the section non-free)" : "");
}

/// Hardware that is on the bus or in the socket, but that no runtime reaches.
void addUnreached(const VendorFiles& files, const Machine& machine, Found& found) {
    if (!machine.nvidiaOpenCl.empty() && !files.names("libnvidia-opencl")) found.problems.push_back(unregisteredNvidia(machine));
    for (const Machine::PciGpu& gpu : machine.gpus) {
        const bool saidBefore = gpu.vendor == "NVIDIA" && !machine.nvidiaOpenCl.empty();
        if (saidBefore || reaches(found, gpu.vendor)) continue;
        found.problems.push_back({fmt::format("The {} GPU at {} has no OpenCL runtime", gpu.vendor, gpu.address), gpuRuntimePackage(gpu.vendor, machine)});
    }
    const auto isCpu = [](const FoundDevice& device) { return device.reported.info.kind == DeviceKind::Cpu; };
    if (!found.devices.empty() && !files.fromEnvironment && !files.names("libpocl") && std::ranges::none_of(found.devices, isCpu))
        found.problems.push_back({"The CPU has no OpenCL runtime", machine.install("pocl-opencl-icd")});
}

}  // namespace

Found findDevices(const Machine& machine) {
    Found found;
    cl_int status = CL_SUCCESS;
    const std::vector<cl_platform_id> platforms = listPlatforms(status);
    const VendorFiles files = VendorFiles::look();
    found.problems = vendorFileProblems(files, machine);
    if (platforms.empty()) found.problems.push_back(noPlatform(files, machine, status));
    for (std::size_t i = 0; i < platforms.size(); ++i) addDevices(platforms[i], i, found);
    addUnreached(files, machine, found);
    return found;
}

}  // namespace heteroscope::opencl
