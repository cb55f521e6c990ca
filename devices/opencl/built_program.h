#pragma once

#include "devices/device.h"
#include "devices/opencl/context.h"

#include <map>

namespace heteroscope::opencl {

/// A program as it came out of the compiler, with one kernel object an entry. Kernel objects hold the arguments
/// of the next launch: only the command thread touches them.
struct BuiltProgram {
    struct Entry {
        EntryInfo info;
        std::size_t advisedWorkGroupSize = 0;  // CL_KERNEL_WORK_GROUP_SIZE as the driver has it
        KernelHandle kernel;
    };

    OpenedDevicePtr device;  // outlives the handles below
    std::string file;        // the user's own, for messages
    bool openCl2 = false;    // built as OpenCL C 2.0 or later
    ProgramHandle program;
    std::map<std::string, Entry> entries;
    Program description;
};

using BuiltProgramPtr = std::shared_ptr<const BuiltProgram>;

struct CompilerInput;

/// Compiles on the calling thread: seconds, or for ever if the driver's compiler hangs. Errors: build-failed,
/// unsupported, out-of-memory. `id` becomes Program::id.
Result<BuiltProgramPtr> compile(const OpenedDevicePtr& device, const CompilerInput& input, const std::string& file,
                                ProgramId id);

}  // namespace heteroscope::opencl
