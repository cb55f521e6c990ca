#include "devices/opencl/built_program.h"

#include "devices/opencl/source_text.h"
#include "devices/opencl/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heteroscope::opencl {
namespace {

std::string nameOf(const std::string& file) { return file.empty() ? "(source)" : file; }

AddressSpace spaceOf(cl_kernel_arg_address_qualifier qualifier) {
    switch (qualifier) {
        case CL_KERNEL_ARG_ADDRESS_GLOBAL: return AddressSpace::Global;
        case CL_KERNEL_ARG_ADDRESS_CONSTANT: return AddressSpace::Constant;
        case CL_KERNEL_ARG_ADDRESS_LOCAL: return AddressSpace::Local;
        default: return AddressSpace::Private;
    }
}

ArgumentInfo argumentInfo(cl_kernel kernel, cl_uint index) {
    const auto text = [&](cl_kernel_arg_info what) {
        return queryText([&](std::size_t size, void* value, std::size_t* needed) {
            return clGetKernelArgInfo(kernel, index, what, size, value, needed);
        });
    };
    ArgumentInfo info;
    info.name = text(CL_KERNEL_ARG_NAME);
    info.type = text(CL_KERNEL_ARG_TYPE_NAME);
    cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    if (clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr) == CL_SUCCESS)
        info.space = spaceOf(space);
    cl_kernel_arg_type_qualifier qualifiers = 0;
    if (clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, nullptr) == CL_SUCCESS &&
        (qualifiers & CL_KERNEL_ARG_TYPE_PIPE) != 0)
        info.type = "pipe " + info.type;
    info.isImage = info.type.starts_with("image");
    info.isSampler = info.type.starts_with("sampler");
    return info;
}

template <class T>
void query(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, T& value) {
    clGetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, nullptr);
}

EntryInfo entryInfo(cl_kernel kernel, cl_device_id device) {
    EntryInfo info;
    info.name = queryText([&](std::size_t size, void* value, std::size_t* needed) {
        return clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, value, needed);
    });
    cl_uint count = 0;
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
    for (cl_uint i = 0; i < count; ++i) info.arguments.push_back(argumentInfo(kernel, i));
    query(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, info.requiredLocal);
    query(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, info.maxWorkGroupSize);
    query(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, info.preferredMultiple);
    cl_ulong localBytes = 0, privateBytes = 0;
    query(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, localBytes);
    query(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, privateBytes);
    info.localBytes = localBytes;
    info.privateBytes = privateBytes;
    return info;
}

std::string buildLog(cl_program program, const OpenedDevice& device, const CompilerInput& input, const std::string& file) {
    return readableLog(queryText([&](std::size_t size, void* value, std::size_t* needed) {
                           return clGetProgramBuildInfo(program, device.device, CL_PROGRAM_BUILD_LOG, size, value, needed);
                       }),
                       {input.folders, nameOf(file), input.linesBefore});
}

ProgramHandle createProgram(const OpenedDevice& device, const std::string& text, cl_int& status) {
    const char* start = text.c_str();
    const std::size_t length = text.size();
    return ProgramHandle(clCreateProgramWithSource(device.context.get(), 1, &start, &length, &status));
}

cl_int build(const ProgramHandle& program, const OpenedDevice& device, const std::string& options) {
    return clBuildProgram(program.get(), 1, &device.device, options.c_str(), nullptr, nullptr);
}

/// Those of `options` that the compiler refuses even for an empty kernel. Drivers only say that one is wrong.
std::vector<std::string> refusedOptions(const OpenedDevice& device, const std::vector<std::string>& options) {
    std::vector<std::string> refused;
    for (const std::string& option : options) {
        cl_int status = CL_SUCCESS;
        const ProgramHandle probe = createProgram(device, "__kernel void probe(__global int* x) { x[0] = 1; }\n", status);
        if (status == CL_SUCCESS && build(probe, device, option) != CL_SUCCESS) refused.push_back(option);
    }
    return refused;
}

Error optionError(const OpenedDevice& device, const CompilerInput& input, const std::string& file, cl_int status,
                  std::string log, const std::vector<std::string>& refused) {
    Error error = errorFrom(status,
                            fmt::format("{} does not build on {}: the compiler does not take {} '{}'", nameOf(file), device.label,
                                        refused.size() == 1 ? "the option" : "the options", fmt::join(refused, "', '")),
                            ErrorKind::BuildFailed);
    if (refused.empty())
        error.message = fmt::format("{} does not build on {}: the compiler refuses this line of options: '{}' ({})", nameOf(file),
                                    device.label, input.optionLine(), statusText(status));
    error.file = file;
    error.log = log.empty() ? error.message : std::move(log);
    return error;
}

Error sourceError(const OpenedDevice& device, const std::string& file, cl_int status, std::string log) {
    LogPlace place = firstError(log, file);
    if (file.empty() && place.file == nameOf(file)) place.file.clear();
    if (place.file == optionsName) place = {file, 0, place.message + ' ' + optionsName};
    Error error{kindOf(status, ErrorKind::BuildFailed), {}, place.file.empty() ? file : place.file, place.line, std::move(log)};
    const std::string where = place.line > 0 ? fmt::format("{}, line {},", nameOf(error.file), place.line) : nameOf(file);
    const std::string why = place.message.empty() ? "the compiler left no word why, " + statusText(status) : place.message;
    error.message = fmt::format("{} does not build on {}: {}", where, device.label, why);
    if (error.log.empty()) error.log = error.message;
    return error;
}

bool asksForOpenCl2(const std::vector<std::string>& options) {
    for (const std::string& option : options)
        if (option.starts_with("-cl-std=CL2") || option.starts_with("-cl-std=CL3") || option.starts_with("-cl-std=CLC++")) return true;
    return false;
}

Status readEntries(BuiltProgram& built, const std::string& file) {
    cl_uint count = 0;
    cl_int status = clCreateKernelsInProgram(built.program.get(), 0, nullptr, &count);
    std::vector<cl_kernel> kernels(count, nullptr);
    if (status == CL_SUCCESS && count > 0)
        status = clCreateKernelsInProgram(built.program.get(), count, kernels.data(), nullptr);
    if (status != CL_SUCCESS)
        return errorFrom(status, fmt::format("{}: the kernels of the built program cannot be listed on {}", nameOf(file), built.device->label),
                         ErrorKind::BuildFailed);
    for (cl_kernel kernel : kernels) {
        KernelHandle handle(kernel);
        EntryInfo info = entryInfo(kernel, built.device->device);
        const std::size_t advised = info.maxWorkGroupSize;
        if (built.device->kernelLimitIsAdvice && info.requiredLocal[0] == 0) info.maxWorkGroupSize = built.device->maxWorkGroupSize;
        built.description.entries.push_back(info);
        const std::string name = info.name;
        built.entries.emplace(name, BuiltProgram::Entry{std::move(info), advised, std::move(handle)});
    }
    return {};
}

/// What the compiler made of one try.
struct Attempt {
    ProgramHandle program;
    cl_int status = CL_SUCCESS;
    std::string log;
};

Attempt attempt(const OpenedDevice& device, const CompilerInput& input, const std::string& file, const std::string& options) {
    Attempt made;
    made.program = createProgram(device, input.text, made.status);
    if (made.status != CL_SUCCESS) return made;
    made.status = build(made.program, device, options);
    made.log = buildLog(made.program.get(), device, input, file);
    return made;
}

/// Whether a program came out empty though its text has kernels: a driver's cache that was cut short does that.
bool lostItsKernels(const Attempt& made, const CompilerInput& input) {
    cl_uint count = 0;
    return made.status == CL_SUCCESS && input.text.find("kernel") != std::string::npos &&
           clCreateKernelsInProgram(made.program.get(), 0, nullptr, &count) == CL_SUCCESS && count == 0;
}

/// With argument names, without them where the driver does not know that option, and once more when a failure
/// names no place in the source: two processes that share a driver's cache can trip over each other.
Attempt buildPatiently(const OpenedDevice& device, const CompilerInput& input, const std::string& file) {
    const std::string options = input.optionLine();
    const std::string withNames = options.empty() ? "-cl-kernel-arg-info" : options + " -cl-kernel-arg-info";
    Attempt made = attempt(device, input, file, withNames);
    if (made.status == CL_INVALID_BUILD_OPTIONS && refusedOptions(device, {"-cl-kernel-arg-info"}).size() == 1)
        made = attempt(device, input, file, options);
    if (lostItsKernels(made, input)) return attempt(device, input.pastCaches(), file, withNames);
    if (made.status != CL_BUILD_PROGRAM_FAILURE || firstError(made.log, file).line > 0) return made;
    Attempt again = attempt(device, input.pastCaches(), file, withNames);
    if (again.status == CL_SUCCESS) again.log = "Built at the second try; the first said: " + made.log + "\n" + again.log;
    return again;
}

}  // namespace

Result<BuiltProgramPtr> compile(const OpenedDevicePtr& device, const CompilerInput& input, const std::string& file, ProgramId id) {
    const auto started = std::chrono::steady_clock::now();
    auto built = std::make_shared<BuiltProgram>();
    built->device = device;
    built->file = file;
    built->openCl2 = asksForOpenCl2(input.options);

    Attempt made = buildPatiently(*device, input, file);
    if (made.status != CL_SUCCESS) {
        if (made.program && firstError(made.log, file).line == 0) {
            const std::vector<std::string> refused = refusedOptions(*device, input.options);
            if (!refused.empty() || made.status == CL_INVALID_BUILD_OPTIONS)
                return optionError(*device, input, file, made.status, std::move(made.log), refused);
        }
        return sourceError(*device, file, made.status, std::move(made.log));
    }
    built->program = std::move(made.program);
    if (const Status status = readEntries(*built, file); !status) return status.error();
    built->description.id = id;
    built->description.log = std::move(made.log);
    built->description.buildTime = std::chrono::steady_clock::now() - started;
    return BuiltProgramPtr(std::move(built));
}

}  // namespace heteroscope::opencl
