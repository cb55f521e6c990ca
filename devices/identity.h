#pragma once

#include "devices/device_info.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heteroscope {

/// One device as one platform reports it.
struct ReportedDevice {
    std::size_t platform = 0;  ///< index of the platform
    DeviceInfo info;
};

/// For each device the index of the first one that is the same physical device seen through another platform (its
/// own index for most). Matched by UUID, else by PCI address; never by name, never within one platform.
std::vector<std::size_t> physicalDevices(const std::vector<ReportedDevice>& reported);

/// Gives ids that survive a restart ("cpu-0", "gpu-bfbb7738"), names and processors. CPUs are named by `cpuName`
/// where it is not empty and are numbered in the order given; GPUs by UUID, else PCI address, else order.
void identify(std::vector<DeviceInfo*> devices, const std::string& cpuName);

/// "AMD EPYC 9354 32-Core Processor" → "EPYC", "NVIDIA GeForce RTX 4090" → "RTX 4090", "NVIDIA H200" → "H200".
std::string shortNameOf(const std::string& name, DeviceKind kind);

/// The processor's name from the text of /proc/cpuinfo; empty where it gives none (many Arm machines).
std::string cpuNameFrom(const std::string& cpuinfo);

}  // namespace heteroscope
