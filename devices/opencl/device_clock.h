#pragma once

#include "devices/device.h"
#include "devices/opencl/handles.h"

#include <chrono>

namespace heteroscope::opencl {

/// Puts an event's profile on the host's time line. The moment a command was given is known on both clocks (CL_PROFILING_COMMAND_QUEUED
/// and `given`), which ties them for this one command; the durations are the device's. Where the profile is missing
/// or makes no sense the times are the host's, from `given` to `seen`, and say so.
CommandTimes commandTimes(cl_event event, std::chrono::steady_clock::time_point given, std::chrono::steady_clock::time_point seen);

}  // namespace heteroscope::opencl
