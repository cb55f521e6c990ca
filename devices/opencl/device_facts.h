#pragma once

#include "devices/device_info.h"
#include "devices/opencl/context.h"

namespace heteroscope::opencl {

/// Everything that a device reports of itself, but its id and names for people: those need the others (discovery).
/// What a driver does not report stays empty.
DeviceInfo readFacts(cl_platform_id platform, cl_device_id device);

/// The facts that launching needs, with a label for messages. No context yet.
OpenedDevice openedDevice(cl_device_id device, const DeviceInfo& info);

/// "OpenCL 3.0 PoCL …" → {3, 0}; {0, 0} when it has another form.
std::pair<int, int> versionOf(const std::string& text);

}  // namespace heteroscope::opencl
