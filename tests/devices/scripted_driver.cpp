// An OpenCL driver that does what SCRIPTED_DRIVER says, for states that no real driver takes on demand:
//   empty    one platform without a device, which leaves the count as it was
//   refuses  one GPU that refuses a context
//   gone     one GPU that is not available
//   old      one GPU that speaks OpenCL 1.1
//   twins    two platforms that show the same GPU (one UUID), and the second one a GPU more
//   faults   one GPU whose commands fail once a buffer was written, and whose queue is dead from then on
// It is loaded through the ICD loader like any other and computes nothing.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

extern cl_icd_dispatch table;

// Every object of an ICD begins with the table.
struct Object {
    cl_icd_dispatch* dispatch = &table;
    int number = 0;
};

Object platforms[2] = {{&table, 0}, {&table, 1}};
Object gpus[3] = {{&table, 0}, {&table, 1}, {&table, 2}};  // 0: first platform; 1, 2: second
Object context, queue, buffer, event;

template <class T>
T as(Object& object) {
    return reinterpret_cast<T>(&object);
}

std::string script() {
    const char* value = std::getenv("SCRIPTED_DRIVER");
    return value ? value : "";
}

cl_int give(const void* from, std::size_t bytes, std::size_t size, void* value, std::size_t* needed) {
    if (needed) *needed = bytes;
    if (!value) return CL_SUCCESS;
    if (size < bytes) return CL_INVALID_VALUE;
    std::memcpy(value, from, bytes);
    return CL_SUCCESS;
}

cl_int give(const char* text, std::size_t size, void* value, std::size_t* needed) { return give(text, std::strlen(text) + 1, size, value, needed); }

cl_int CL_API_CALL getPlatformIDs(cl_uint count, cl_platform_id* list, cl_uint* found) {
    const cl_uint there = script() == "twins" ? 2 : 1;
    if (found) *found = there;
    for (cl_uint i = 0; list && i < count && i < there; ++i) list[i] = as<cl_platform_id>(platforms[i]);
    return CL_SUCCESS;
}

cl_int CL_API_CALL getPlatformInfo(cl_platform_id platform, cl_platform_info what, std::size_t size, void* value, std::size_t* needed) {
    const bool second = reinterpret_cast<Object*>(platform)->number == 1;
    switch (what) {
        case CL_PLATFORM_NAME: return give(second ? "Scripted B" : "Scripted A", size, value, needed);
        case CL_PLATFORM_VENDOR: return give("Test", size, value, needed);
        case CL_PLATFORM_VERSION: return give("OpenCL 1.2 scripted", size, value, needed);
        case CL_PLATFORM_PROFILE: return give("FULL_PROFILE", size, value, needed);
        case CL_PLATFORM_EXTENSIONS: return give("cl_khr_icd", size, value, needed);
        case CL_PLATFORM_ICD_SUFFIX_KHR: return give("TEST", size, value, needed);
        default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL getDeviceIDs(cl_platform_id platform, cl_device_type, cl_uint count, cl_device_id* list, cl_uint* found) {
    if (script() == "empty") return CL_DEVICE_NOT_FOUND;
    const bool second = reinterpret_cast<Object*>(platform)->number == 1;
    if (found) *found = second ? 2 : 1;
    if (list && count > 0) list[0] = as<cl_device_id>(gpus[second ? 1 : 0]);
    if (list && count > 1 && second) list[1] = as<cl_device_id>(gpus[2]);
    return CL_SUCCESS;
}

cl_int CL_API_CALL getDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value, std::size_t* needed) {
    const auto number = [&](auto figure) { return give(&figure, sizeof figure, size, value, needed); };
    unsigned char uuid[16] = {0xBF, 0xBB, 0x77, 0x38, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (reinterpret_cast<Object*>(device)->number == 2) uuid[0] = 0xAA;
    switch (what) {
        case CL_DEVICE_TYPE: return number(cl_device_type{CL_DEVICE_TYPE_GPU});
        case CL_DEVICE_NAME: return give("Scripted GPU 9000", size, value, needed);
        case CL_DEVICE_VERSION: return give(script() == "old" ? "OpenCL 1.1 scripted" : "OpenCL 1.2 scripted", size, value, needed);
        case CL_DRIVER_VERSION: return give("1.0", size, value, needed);
        case CL_DEVICE_EXTENSIONS: return give("cl_khr_icd cl_khr_device_uuid ", size, value, needed);
        case CL_DEVICE_AVAILABLE: return number(static_cast<cl_bool>(script() == "gone" ? CL_FALSE : CL_TRUE));
        case CL_DEVICE_GLOBAL_MEM_SIZE: return number(cl_ulong{1} << 30);
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return number(cl_ulong{1} << 28);
        case CL_DEVICE_MAX_COMPUTE_UNITS: return number(cl_uint{0});  // not reported
        case 0x106A: return give(uuid, sizeof uuid, size, value, needed);
        default: return CL_INVALID_VALUE;
    }
}

cl_context CL_API_CALL createContext(const cl_context_properties*, cl_uint, const cl_device_id*, void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*), void*,
                                     cl_int* status) {
    const bool refuses = script() == "refuses";
    if (status) *status = refuses ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
    return refuses ? nullptr : as<cl_context>(context);
}

cl_command_queue CL_API_CALL createQueue(cl_context, cl_device_id, cl_command_queue_properties, cl_int* status) {
    if (status) *status = CL_SUCCESS;
    return as<cl_command_queue>(queue);
}

cl_mem CL_API_CALL createBuffer(cl_context, cl_mem_flags, std::size_t, void*, cl_int* status) {
    if (status) *status = CL_SUCCESS;
    return as<cl_mem>(buffer);
}

bool dead = false;

cl_int CL_API_CALL writeBuffer(cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t, const void*, cl_uint, const cl_event*, cl_event* made) {
    if (dead) return CL_INVALID_COMMAND_QUEUE;
    dead = true;
    if (made) *made = as<cl_event>(event);
    return CL_SUCCESS;
}

cl_int CL_API_CALL waitForEvents(cl_uint, const cl_event*) { return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST; }

cl_int CL_API_CALL eventInfo(cl_event, cl_event_info, std::size_t size, void* value, std::size_t* needed) {
    const cl_int failed = CL_OUT_OF_RESOURCES;
    return give(&failed, sizeof failed, size, value, needed);
}

cl_int CL_API_CALL marker(cl_command_queue, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_COMMAND_QUEUE; }
cl_int CL_API_CALL flush(cl_command_queue) { return CL_SUCCESS; }
cl_int CL_API_CALL releaseContext(cl_context) { return CL_SUCCESS; }
cl_int CL_API_CALL releaseQueue(cl_command_queue) { return CL_SUCCESS; }
cl_int CL_API_CALL releaseMemory(cl_mem) { return CL_SUCCESS; }
cl_int CL_API_CALL releaseEvent(cl_event) { return CL_SUCCESS; }

cl_icd_dispatch makeTable() {
    cl_icd_dispatch made{};
    made.clGetPlatformIDs = getPlatformIDs;
    made.clGetPlatformInfo = getPlatformInfo;
    made.clGetDeviceIDs = getDeviceIDs;
    made.clGetDeviceInfo = getDeviceInfo;
    made.clCreateContext = createContext;
    made.clReleaseContext = releaseContext;
    made.clCreateCommandQueue = createQueue;
    made.clReleaseCommandQueue = releaseQueue;
    made.clCreateBuffer = createBuffer;
    made.clReleaseMemObject = releaseMemory;
    made.clEnqueueWriteBuffer = writeBuffer;
    made.clEnqueueMarkerWithWaitList = marker;
    made.clWaitForEvents = waitForEvents;
    made.clGetEventInfo = eventInfo;
    made.clReleaseEvent = releaseEvent;
    made.clFlush = flush;
    return made;
}

cl_icd_dispatch table = makeTable();

}  // namespace

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* list, cl_uint* found) {
    return getPlatformIDs(count, list, found);
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, std::size_t size, void* value,
                                                                                       std::size_t* needed) {
    return getPlatformInfo(platform, what, size, value, needed);
}

extern "C" __attribute__((visibility("default"))) void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
    if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
    return nullptr;
}
