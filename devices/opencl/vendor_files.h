#pragma once

#include "devices/device_info.h"
#include "devices/machine.h"

#include <string>
#include <vector>

namespace heteroscope::opencl {

/// Where the ICD loader looks for runtimes and what it finds: one entry a file that names a library.
struct VendorFiles {
    struct Entry {
        std::string file;     ///< "/etc/OpenCL/vendors/pocl.icd"; empty where a variable names the library itself
        std::string library;  ///< its first line
        std::string failure;  ///< why it cannot be used, in the loader's words; empty when it can
    };
    std::string place;        ///< the folder or the value of the variable
    bool fromEnvironment = false;
    std::vector<Entry> entries;

    /// Follows OCL_ICD_VENDORS as the loader does: a folder, a .icd file, or a library; else /etc/OpenCL/vendors.
    /// Opens each library as the loader does: call it after clGetPlatformIDs, which has opened the good ones.
    static VendorFiles look();

    bool names(const std::string& library) const;
};

/// A problem for each entry that cannot be used.
std::vector<DeviceProblem> vendorFileProblems(const VendorFiles& files, const Machine& machine);

}  // namespace heteroscope::opencl
