#include "devices/opencl/status.h"

#include <fmt/format.h>

#include <string_view>

namespace heteroscope::opencl {
namespace {

struct StatusWords {
    cl_int status;
    std::string_view name;
    std::string_view meaning;  // for a person; empty where the name says it all
};

constexpr StatusWords known[] = {
    {-1, "CL_DEVICE_NOT_FOUND", ""},
    {-2, "CL_DEVICE_NOT_AVAILABLE", "the device is in use elsewhere or went away"},
    {-3, "CL_COMPILER_NOT_AVAILABLE", "the device takes no source"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "the device has no memory left for the buffer"},
    {-5, "CL_OUT_OF_RESOURCES", "the device ran out of memory or registers, or a kernel faulted"},
    {-6, "CL_OUT_OF_HOST_MEMORY", "the host ran out of memory"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE", ""},
    {-8, "CL_MEM_COPY_OVERLAP", ""},
    {-9, "CL_IMAGE_FORMAT_MISMATCH", ""},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED", ""},
    {-11, "CL_BUILD_PROGRAM_FAILURE", ""},
    {-12, "CL_MAP_FAILURE", ""},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET", ""},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "a command failed while it ran"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE", ""},
    {-16, "CL_LINKER_NOT_AVAILABLE", ""},
    {-17, "CL_LINK_PROGRAM_FAILURE", ""},
    {-18, "CL_DEVICE_PARTITION_FAILED", ""},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", ""},
    {-30, "CL_INVALID_VALUE", ""},
    {-31, "CL_INVALID_DEVICE_TYPE", ""},
    {-32, "CL_INVALID_PLATFORM", ""},
    {-33, "CL_INVALID_DEVICE", ""},
    {-34, "CL_INVALID_CONTEXT", "the device's context is no longer usable"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES", ""},
    {-36, "CL_INVALID_COMMAND_QUEUE", "the device's queue is no longer usable"},
    {-37, "CL_INVALID_HOST_PTR", ""},
    {-38, "CL_INVALID_MEM_OBJECT", ""},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", ""},
    {-40, "CL_INVALID_IMAGE_SIZE", ""},
    {-41, "CL_INVALID_SAMPLER", ""},
    {-42, "CL_INVALID_BINARY", ""},
    {-43, "CL_INVALID_BUILD_OPTIONS", ""},
    {-44, "CL_INVALID_PROGRAM", ""},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE", ""},
    {-46, "CL_INVALID_KERNEL_NAME", ""},
    {-47, "CL_INVALID_KERNEL_DEFINITION", ""},
    {-48, "CL_INVALID_KERNEL", ""},
    {-49, "CL_INVALID_ARG_INDEX", ""},
    {-50, "CL_INVALID_ARG_VALUE", ""},
    {-51, "CL_INVALID_ARG_SIZE", "the argument has another size in the kernel"},
    {-52, "CL_INVALID_KERNEL_ARGS", ""},
    {-53, "CL_INVALID_WORK_DIMENSION", ""},
    {-54, "CL_INVALID_WORK_GROUP_SIZE", ""},
    {-55, "CL_INVALID_WORK_ITEM_SIZE", ""},
    {-56, "CL_INVALID_GLOBAL_OFFSET", ""},
    {-57, "CL_INVALID_EVENT_WAIT_LIST", ""},
    {-58, "CL_INVALID_EVENT", ""},
    {-59, "CL_INVALID_OPERATION", ""},
    {-60, "CL_INVALID_GL_OBJECT", ""},
    {-61, "CL_INVALID_BUFFER_SIZE", ""},
    {-62, "CL_INVALID_MIP_LEVEL", ""},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE", ""},
    {-64, "CL_INVALID_PROPERTY", ""},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR", ""},
    {-66, "CL_INVALID_COMPILER_OPTIONS", ""},
    {-67, "CL_INVALID_LINKER_OPTIONS", ""},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT", ""},
    {-69, "CL_INVALID_PIPE_SIZE", ""},
    {-70, "CL_INVALID_DEVICE_QUEUE", ""},
    {-71, "CL_INVALID_SPEC_ID", ""},
    {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED", ""},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "the loader found no usable runtime"},
    // NVIDIA's own, for a kernel that reads or writes where it must not.
    {-9999, "NVIDIA: illegal read or write to a buffer", ""},
};

const StatusWords* find(cl_int status) {
    for (const StatusWords& words : known)
        if (words.status == status) return &words;
    return nullptr;
}

}  // namespace

std::string statusText(cl_int status) {
    const StatusWords* words = find(status);
    if (!words) return fmt::format("OpenCL error {}", status);
    if (words->meaning.empty()) return fmt::format("{} ({})", words->name, status);
    return fmt::format("{}: {} ({})", words->meaning, words->name, status);
}

ErrorKind kindOf(cl_int status, ErrorKind otherwise) {
    switch (status) {
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        case CL_OUT_OF_HOST_MEMORY:
        case CL_INVALID_BUFFER_SIZE: return ErrorKind::OutOfMemory;
        case CL_DEVICE_NOT_AVAILABLE:
        case CL_INVALID_CONTEXT:
        case CL_INVALID_COMMAND_QUEUE: return ErrorKind::DeviceLost;
        case CL_COMPILER_NOT_AVAILABLE: return ErrorKind::Unsupported;
        case CL_BUILD_PROGRAM_FAILURE:
        case CL_INVALID_BUILD_OPTIONS: return ErrorKind::BuildFailed;
        default: return otherwise;
    }
}

Error errorFrom(cl_int status, std::string subject, ErrorKind otherwise) {
    return Error{kindOf(status, otherwise), fmt::format("{}: {}", subject, statusText(status))};
}

bool mayBeLost(cl_int status) {
    return status == CL_OUT_OF_RESOURCES || status == CL_DEVICE_NOT_AVAILABLE || status == CL_INVALID_CONTEXT ||
           status == CL_INVALID_COMMAND_QUEUE || status < -1001;
}

}  // namespace heteroscope::opencl
