#pragma once

#include "devices/identity.h"
#include "devices/machine.h"
#include "devices/opencl/handles.h"

#include <string>
#include <vector>

namespace heteroscope::opencl {

struct FoundDevice {
    cl_device_id device = nullptr;
    ReportedDevice reported;
};

/// Every device of every platform that speaks OpenCL 1.2 or later, in the loader's order, and what was in the way.
/// Asks drivers (seconds with some), makes no context.
struct Found {
    std::vector<FoundDevice> devices;
    std::vector<DeviceProblem> problems;
};

Found findDevices(const Machine& machine);

}  // namespace heteroscope::opencl
