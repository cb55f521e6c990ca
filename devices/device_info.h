#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

enum class DeviceKind { Cpu, Gpu, Accelerator };
enum class Api { OpenCl, Cuda, Null };

std::string_view toString(DeviceKind kind);  // "cpu", "gpu", "accelerator"
std::string_view toString(Api api);          // "opencl", "cuda", "null"

/// One way to reach a Device. What the driver does not report stays empty.
struct RuntimeInfo {
    Api api = Api::OpenCl;
    std::string platform;         ///< "Portable Computing Language"
    std::string name;             ///< the device's name in this runtime
    std::string version;          ///< "OpenCL 3.0 PoCL 3.1…"
    std::string languageVersion;  ///< "OpenCL C 1.2"
    std::string driverVersion;
};

/// The facts of one physical processor. Every figure that a driver may withhold is optional.
struct DeviceInfo {
    std::string id;         ///< stable across restarts: "cpu-0", "gpu-bfbb7738"
    std::string name;       ///< whole: "AMD EPYC 9354 32-Core Processor"
    std::string shortName;  ///< one or two words: "EPYC", "H200"
    std::string processor;  ///< Devices of one processor share it (PoCL's pthread and basic): key of its telemetry
    DeviceKind kind = DeviceKind::Cpu;
    std::vector<RuntimeInfo> runtimes;

    std::optional<std::uint32_t> computeUnits;
    std::optional<std::uint32_t> clockMegahertz;
    std::optional<std::uint64_t> memoryBytes;
    std::optional<std::uint64_t> maxAllocationBytes;  ///< limit of one buffer
    std::optional<std::uint64_t> localMemoryBytes;
    std::optional<std::uint64_t> maxWorkGroupSize;
    std::vector<std::uint64_t> maxWorkItemSizes;
    std::vector<std::string> extensions;
    std::optional<std::string> uuid;        ///< lower-case hex
    std::optional<std::string> pciAddress;  ///< "0000:17:00.0"
    bool sharesHostMemory = false;
    bool hasDouble = false;
    bool hasHalf = false;
    bool hasImages = false;
};

/// Something that keeps a device from being found or used, and how to mend it.
struct DeviceProblem {
    std::string what;
    std::string fix;
    bool operator==(const DeviceProblem&) const = default;
};

}  // namespace heteroscope
