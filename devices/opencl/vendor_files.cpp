#include "devices/opencl/vendor_files.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace heteroscope::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* standardFolder = "/etc/OpenCL/vendors";

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Why `library` is no usable runtime; empty when it is one.
std::string whyNotLoadable(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char* words = dlerror();
        return words ? words : "it cannot be opened";
    }
    const bool isRuntime = dlsym(handle, "clGetExtensionFunctionAddress") != nullptr || dlsym(handle, "clIcdGetPlatformIDsKHR") != nullptr;
    dlclose(handle);
    return isRuntime ? "" : "it is no OpenCL runtime: it has no clGetExtensionFunctionAddress";
}

VendorFiles::Entry readEntry(const fs::path& path) {
    VendorFiles::Entry entry;
    entry.file = path.string();
    errno = 0;
    std::ifstream file(path);
    std::string line;
    if (!file || !std::getline(file, line)) {
        entry.failure = errno != 0 ? std::strerror(errno) : "it is empty";
        return entry;
    }
    entry.library = trimmed(line);
    entry.failure = entry.library.empty() ? "its first line names no library" : whyNotLoadable(entry.library);
    return entry;
}

void addFolder(const fs::path& folder, std::vector<VendorFiles::Entry>& entries) {
    std::error_code failure;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, failure))
        if (file.path().extension() == ".icd") entries.push_back(readEntry(file.path()));
    if (failure && failure != std::errc::no_such_file_or_directory)
        entries.push_back({folder.string(), {}, failure.message()});
    std::ranges::sort(entries, {}, &VendorFiles::Entry::file);
}

/// The Debian package that brings a runtime's library; empty when it is not known.
std::string packageOf(const std::string& library, const Machine& machine) {
    static constexpr std::pair<std::string_view, std::string_view> packages[] = {
        {"libpocl", "pocl-opencl-icd"},         {"libigdrcl", "intel-opencl-icd"},       {"libMesaOpenCL", "mesa-opencl-icd"},
        {"libRusticlOpenCL", "mesa-opencl-icd"}, {"libamdocl", "rocm-opencl-icd"},       {"libnvidia-opencl", "nvidia-opencl-icd"},
    };
    for (const auto& [prefix, package] : packages)
        if (library.find(prefix) != std::string::npos)
            return package == "nvidia-opencl-icd" && machine.system == "ubuntu" ? "nvidia-driver (sudo ubuntu-drivers install)" : std::string(package);
    return {};
}

std::string remedyFor(const VendorFiles::Entry& entry, const Machine& machine) {
    if (entry.library.empty()) return fmt::format("make {} readable, or remove it: {}rm '{}'", entry.file, machine.asRoot(), entry.file);
    const std::string package = packageOf(entry.library, machine);
    const std::string install = package.empty() ? "install the runtime that has " + entry.library : machine.install("--reinstall " + package);
    if (entry.file.empty()) return install + ", or unset OCL_ICD_VENDORS";
    return fmt::format("{}, or remove the entry: {}rm '{}'", install, machine.asRoot(), entry.file);
}

}  // namespace

VendorFiles VendorFiles::look() {
    VendorFiles files;
    const char* variable = std::getenv("OCL_ICD_VENDORS");
    if (!variable || *variable == '\0') {
        files.place = standardFolder;
        addFolder(standardFolder, files.entries);
        return files;
    }
    files.place = variable;
    files.fromEnvironment = true;
    const std::string value = variable;
    std::error_code failure;
    if (fs::is_directory(value, failure) || value.ends_with('/')) {
        addFolder(value, files.entries);
    } else if (value.ends_with(".icd")) {
        const bool bare = value.find('/') == std::string::npos;
        files.entries.push_back(readEntry(bare ? fs::path(standardFolder) / value : fs::path(value)));
    } else {
        files.entries.push_back({{}, value, whyNotLoadable(value)});
    }
    return files;
}

bool VendorFiles::names(const std::string& library) const {
    return std::ranges::any_of(entries, [&](const Entry& entry) { return entry.library.find(library) != std::string::npos; });
}

std::vector<DeviceProblem> vendorFileProblems(const VendorFiles& files, const Machine& machine) {
    std::vector<DeviceProblem> problems;
    for (const VendorFiles::Entry& entry : files.entries) {
        if (entry.failure.empty()) continue;
        const std::string where = entry.file.empty() ? "OCL_ICD_VENDORS" : entry.file;
        const std::string what = entry.library.empty() ? fmt::format("{} cannot be used: {}", where, entry.failure)
                                                       : fmt::format("{} names the OpenCL runtime {}, which cannot be used: {}", where,
                                                                     entry.library, entry.failure);
        problems.push_back({what, remedyFor(entry, machine)});
    }
    return problems;
}

}  // namespace heteroscope::opencl
