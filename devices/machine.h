#pragma once

#include <string>
#include <vector>

namespace heteroscope {

/// What must be known of this machine to say how a problem is mended here. Read without touching a driver.
struct Machine {
    struct PciGpu {
        std::string address;  ///< "0000:17:00.0"
        std::string vendor;   ///< "NVIDIA", "AMD", "Intel"
    };

    std::string system;  ///< "debian", "ubuntu", … from os-release; empty where unknown
    bool usesApt = false;
    bool isRoot = false;
    std::string cpuName;
    std::vector<PciGpu> gpus;  ///< of the vendors that have an OpenCL runtime
    std::string nvidiaOpenCl;  ///< path of libnvidia-opencl.so.1, wherever it lies; empty when there is none

    /// `root` stands for "/" (recorded trees in tests). Reads files only.
    static Machine look(const std::string& root = "/");

    /// "sudo apt install pocl-opencl-icd", or what to look for where there is no apt.
    std::string install(const std::string& debianPackage) const;
    /// "sudo " where it is needed.
    std::string asRoot() const;
};

}  // namespace heteroscope
