#pragma once

#include "devices/error.h"
#include "devices/opencl/handles.h"

namespace heteroscope::opencl {

/// "CL_INVALID_WORK_GROUP_SIZE (-54)"; "OpenCL error -9999" for a number that no header knows.
std::string statusText(cl_int status);

/// The kind that a status stands for where nothing more is known.
ErrorKind kindOf(cl_int status, ErrorKind otherwise);

/// `subject`: the thing and what failed ("cpu-0 cannot take a buffer of 4096 bytes"); the status follows in words.
Error errorFrom(cl_int status, std::string subject, ErrorKind otherwise);

/// True for the codes after which a context may be dead: the caller asks the queue before it says so.
bool mayBeLost(cl_int status);

}  // namespace heteroscope::opencl
