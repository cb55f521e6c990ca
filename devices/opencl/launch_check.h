#pragma once

#include "devices/device.h"
#include "devices/opencl/built_program.h"

#include <cstddef>
#include <optional>
#include <string>

namespace heteroscope::opencl {

/// Bytes of an OpenCL C scalar or vector type by its name ("uint" 4, "float3" 16); nothing for structs, typedefs.
std::optional<std::size_t> widthOf(const std::string& type);

/// Everything that is wrong with a launch and can be known before it: the argument count, kinds and widths, the
/// work-group against the kernel's, the device's and the source's limits. Both numbers stand in each message.
/// Gives the range to launch: where the source requires a work-group size and none was given, with that.
Result<NDRange> checkLaunch(const OpenedDevice& device, const BuiltProgram& program, const EntryInfo& entry, const Launch& launch);

}  // namespace heteroscope::opencl
