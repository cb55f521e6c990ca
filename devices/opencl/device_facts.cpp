#include "devices/opencl/device_facts.h"

#include <fmt/format.h>

#include <CL/cl_ext.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace heteroscope::opencl {
namespace {

// Not in every version of the headers. Sources: cl_khr_device_uuid, cl_khr_pci_bus_info, cl_nv_device_attribute_query.
constexpr cl_device_info deviceUuid = 0x106A;
constexpr cl_device_info pciBusInfo = 0x410F;
constexpr cl_device_info nvidiaPciBus = 0x4008;
constexpr cl_device_info nvidiaPciSlot = 0x4009;
constexpr cl_device_info nvidiaPciDomain = 0x400A;
constexpr cl_device_info amdBoardName = 0x4038;
constexpr cl_uint nvidiaVendor = 0x10DE;

std::string text(cl_device_id device, cl_device_info what) {
    return queryText([&](std::size_t size, void* value, std::size_t* needed) { return clGetDeviceInfo(device, what, size, value, needed); });
}

std::string text(cl_platform_id platform, cl_platform_info what) {
    return queryText([&](std::size_t size, void* value, std::size_t* needed) { return clGetPlatformInfo(platform, what, size, value, needed); });
}

template <class T>
std::optional<T> value(cl_device_id device, cl_device_info what) {
    T result{};
    if (clGetDeviceInfo(device, what, sizeof result, &result, nullptr) != CL_SUCCESS) return std::nullopt;
    return result;
}

/// A figure of 0 is a driver's way not to report it.
template <class T, class Wanted>
std::optional<Wanted> figure(cl_device_id device, cl_device_info what) {
    const std::optional<T> result = value<T>(device, what);
    if (!result || *result == 0) return std::nullopt;
    return static_cast<Wanted>(*result);
}

bool yes(cl_device_id device, cl_device_info what) { return value<cl_bool>(device, what).value_or(CL_FALSE) == CL_TRUE; }

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    for (std::string word; stream >> word;) found.push_back(word);
    return found;
}

bool has(const std::vector<std::string>& extensions, std::string_view name) { return std::ranges::find(extensions, name) != extensions.end(); }

std::vector<std::uint64_t> workItemSizes(cl_device_id device) {
    const cl_uint dimensions = value<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS).value_or(0);
    if (dimensions == 0 || dimensions > 64) return {};
    std::vector<std::size_t> sizes(dimensions);
    if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, dimensions * sizeof(std::size_t), sizes.data(), nullptr) != CL_SUCCESS) return {};
    return {sizes.begin(), sizes.end()};
}

DeviceKind kindOf(cl_device_id device) {
    const cl_device_type type = value<cl_device_type>(device, CL_DEVICE_TYPE).value_or(CL_DEVICE_TYPE_ACCELERATOR);
    if (type & CL_DEVICE_TYPE_GPU) return DeviceKind::Gpu;
    if (type & CL_DEVICE_TYPE_CPU) return DeviceKind::Cpu;
    return DeviceKind::Accelerator;
}

/// Never an empty or all-zero one: two devices that report nothing must not look like one.
std::optional<std::string> uuidOf(cl_device_id device, const std::vector<std::string>& extensions) {
    if (!has(extensions, "cl_khr_device_uuid")) return std::nullopt;
    const auto bytes = value<std::array<unsigned char, 16>>(device, deviceUuid);
    if (!bytes || std::ranges::all_of(*bytes, [](unsigned char byte) { return byte == 0; })) return std::nullopt;
    std::string hex;
    for (const unsigned char byte : *bytes) hex += fmt::format("{:02x}", byte);
    return hex;
}

std::optional<std::string> pciAddressOf(cl_device_id device, const std::vector<std::string>& extensions) {
    if (has(extensions, "cl_khr_pci_bus_info"))
        if (const auto where = value<std::array<cl_uint, 4>>(device, pciBusInfo))
            return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", (*where)[0], (*where)[1], (*where)[2], (*where)[3]);
    if (has(extensions, "cl_nv_device_attribute_query")) {
        const auto bus = value<cl_uint>(device, nvidiaPciBus), slot = value<cl_uint>(device, nvidiaPciSlot);
        if (bus && slot)
            return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", value<cl_uint>(device, nvidiaPciDomain).value_or(0), *bus, *slot >> 3, *slot & 7);
    }
    return std::nullopt;
}

}  // namespace

std::pair<int, int> versionOf(const std::string& text) {
    constexpr std::string_view prefix = "OpenCL ";
    if (!text.starts_with(prefix)) return {0, 0};
    int major = 0, minor = 0;
    const char* end = text.data() + text.size();
    const auto [dot, failure] = std::from_chars(text.data() + prefix.size(), end, major);
    if (failure != std::errc() || dot == end || *dot != '.') return {0, 0};
    std::from_chars(dot + 1, end, minor);
    return {major, minor};
}

DeviceInfo readFacts(cl_platform_id platform, cl_device_id device) {
    DeviceInfo info;
    info.kind = kindOf(device);
    RuntimeInfo runtime;
    runtime.api = Api::OpenCl;
    runtime.platform = text(platform, CL_PLATFORM_NAME);
    runtime.name = text(device, CL_DEVICE_NAME);
    runtime.version = text(device, CL_DEVICE_VERSION);
    runtime.languageVersion = text(device, CL_DEVICE_OPENCL_C_VERSION);
    runtime.driverVersion = text(device, CL_DRIVER_VERSION);
    info.extensions = words(text(device, CL_DEVICE_EXTENSIONS));
    info.name = runtime.name;
    if (const std::string board = has(info.extensions, "cl_amd_device_attribute_query") ? text(device, amdBoardName) : ""; !board.empty())
        info.name = board;
    info.runtimes.push_back(std::move(runtime));

    info.computeUnits = figure<cl_uint, std::uint32_t>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info.clockMegahertz = figure<cl_uint, std::uint32_t>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info.memoryBytes = figure<cl_ulong, std::uint64_t>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.maxAllocationBytes = figure<cl_ulong, std::uint64_t>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info.localMemoryBytes = figure<cl_ulong, std::uint64_t>(device, CL_DEVICE_LOCAL_MEM_SIZE);
    info.maxWorkGroupSize = figure<std::size_t, std::uint64_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info.maxWorkItemSizes = workItemSizes(device);
    if (info.kind != DeviceKind::Cpu) {
        info.uuid = uuidOf(device, info.extensions);
        info.pciAddress = pciAddressOf(device, info.extensions);
    }
    info.sharesHostMemory = info.kind == DeviceKind::Cpu || yes(device, CL_DEVICE_HOST_UNIFIED_MEMORY);
    info.hasDouble = value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG).value_or(0) != 0;
    info.hasHalf = has(info.extensions, "cl_khr_fp16");
    info.hasImages = yes(device, CL_DEVICE_IMAGE_SUPPORT);
    return info;
}

OpenedDevice openedDevice(cl_device_id device, const DeviceInfo& info) {
    OpenedDevice opened;
    opened.device = device;
    opened.label = info.shortName.empty() ? info.id : fmt::format("{} ({})", info.id, info.shortName);
    std::tie(opened.versionMajor, opened.versionMinor) = versionOf(text(device, CL_DEVICE_VERSION));
    opened.takesSource = value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE).value_or(CL_TRUE) == CL_TRUE;
    // OpenCL 2.x has them always, 3.0 where it says so, 1.2 never.
    opened.nonUniformGroups = opened.versionMajor == 2 || (opened.versionMajor >= 3 && yes(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT));
    opened.sharesHostMemory = info.sharesHostMemory;
    opened.kernelLimitIsAdvice = value<cl_uint>(device, CL_DEVICE_VENDOR_ID) == nvidiaVendor;
    const cl_uint alignmentBits = value<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN).value_or(0);
    // A GPU beside the CPU maps whole pages.
    opened.baseAlignment = std::max<std::size_t>(alignmentBits / 8, info.kind == DeviceKind::Cpu ? 64 : 4096);
    opened.maxWorkGroupSize = static_cast<std::size_t>(info.maxWorkGroupSize.value_or(0));
    for (std::size_t i = 0; i < 3 && i < info.maxWorkItemSizes.size(); ++i)
        opened.maxWorkItemSizes[i] = static_cast<std::size_t>(info.maxWorkItemSizes[i]);
    opened.memoryBytes = info.memoryBytes.value_or(0);
    opened.maxAllocationBytes = info.maxAllocationBytes.value_or(0);
    opened.localMemoryBytes = info.localMemoryBytes.value_or(0);
    return opened;
}

}  // namespace heteroscope::opencl
