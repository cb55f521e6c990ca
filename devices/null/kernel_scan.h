#pragma once

#include "devices/device.h"

#include <string>
#include <vector>

namespace heteroscope {

/// Lists the kernels of an OpenCL C text without compiling it: one declaration each, no macros. For devices that
/// run nothing; a real runtime tells what it has compiled.
std::vector<EntryInfo> scanKernels(const std::string& text, std::size_t maxWorkGroupSize);

}  // namespace heteroscope
