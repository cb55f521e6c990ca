#pragma once

#include "devices/opencl/handles.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace heteroscope::opencl {

/// One opened OpenCL device: what everything of it shares and keeps alive. Immutable. Any thread.
struct OpenedDevice {
    cl_device_id device = nullptr;
    Context context;
    std::string label;  ///< "cpu-0 (EPYC)", for messages

    int versionMajor = 1;
    int versionMinor = 2;
    bool takesSource = true;
    bool nonUniformGroups = false;  ///< global sizes need not be multiples, for programs built as OpenCL C 2.0 or later
    bool sharesHostMemory = false;
    /// NVIDIA reports 256 work-items for every kernel, runs 1024 where the registers allow, and refuses at the launch
    /// where they do not (seen with driver 580): its figure is advice, the device's own limit holds.
    bool kernelLimitIsAdvice = false;
    std::size_t baseAlignment = 1;  ///< bytes a host pointer must be aligned to, to be used in place
    std::size_t maxWorkGroupSize = 0;
    std::array<std::size_t, 3> maxWorkItemSizes{};
    std::uint64_t memoryBytes = 0;
    std::uint64_t maxAllocationBytes = 0;
    std::uint64_t localMemoryBytes = 0;
};

using OpenedDevicePtr = std::shared_ptr<const OpenedDevice>;

}  // namespace heteroscope::opencl
