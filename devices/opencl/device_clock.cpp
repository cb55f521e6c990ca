#include "devices/opencl/device_clock.h"

#include <algorithm>

namespace heteroscope::opencl {
namespace {

bool read(cl_event event, cl_profiling_info what, cl_ulong& nanoseconds) {
    return clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr) == CL_SUCCESS;
}

}  // namespace

CommandTimes commandTimes(cl_event event, std::chrono::steady_clock::time_point given, std::chrono::steady_clock::time_point seen) {
    using std::chrono::nanoseconds;
    cl_ulong queued = 0, start = 0, end = 0;
    const bool known = read(event, CL_PROFILING_COMMAND_QUEUED, queued) && read(event, CL_PROFILING_COMMAND_START, start) &&
                       read(event, CL_PROFILING_COMMAND_END, end) && start > 0 && end >= start;
    if (!known) return {given, seen, false};
    const nanoseconds duration(static_cast<nanoseconds::rep>(end - start));
    if (duration > seen - given) return {given, seen, false};
    const bool tied = queued > 0 && queued <= end;
    const auto finished = tied ? std::min(given + nanoseconds(static_cast<nanoseconds::rep>(end - queued)), seen) : seen;
    return {std::max(finished - duration, given), std::max(finished, given + duration), true};
}

}  // namespace heteroscope::opencl
