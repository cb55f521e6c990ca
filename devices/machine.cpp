#include "devices/machine.h"

#include "devices/identity.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string firstLine(const fs::path& path) {
    const std::string text = readFile(path);
    return text.substr(0, text.find('\n'));
}

/// VALUE of KEY=VALUE, without quotes.
std::string osReleaseField(const std::string& text, const std::string& key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key + "=")) continue;
        std::string value = line.substr(key.size() + 1);
        std::erase(value, '"');
        return value;
    }
    return {};
}

std::string vendorName(const std::string& id) {
    if (id == "0x10de") return "NVIDIA";
    if (id == "0x1002") return "AMD";
    if (id == "0x8086") return "Intel";
    return {};
}

std::vector<Machine::PciGpu> pciGpus(const fs::path& root) {
    std::vector<Machine::PciGpu> gpus;
    std::error_code failure;
    for (const fs::directory_entry& device : fs::directory_iterator(root / "sys/bus/pci/devices", failure)) {
        if (!firstLine(device.path() / "class").starts_with("0x03")) continue;
        const std::string vendor = vendorName(firstLine(device.path() / "vendor"));
        if (!vendor.empty()) gpus.push_back({device.path().filename().string(), vendor});
    }
    std::ranges::sort(gpus, {}, &Machine::PciGpu::address);
    return gpus;
}

std::string findNvidiaOpenCl(const fs::path& root) {
    std::vector<std::string> folders{"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "usr/lib/wsl/lib",
                                     "usr/local/nvidia/lib64", "usr/local/nvidia/lib"};
    if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
        std::istringstream parts(path);
        for (std::string part; std::getline(parts, part, ':');)
            if (part.starts_with('/')) folders.push_back(part.substr(1));
    }
    for (const std::string& folder : folders) {
        std::error_code failure;
        if (const fs::path path = root / folder / "libnvidia-opencl.so.1"; fs::exists(path, failure)) return path.string();
    }
    return {};
}

}  // namespace

Machine Machine::look(const std::string& root) {
    const fs::path top(root);
    Machine machine;
    const std::string release = readFile(top / "etc/os-release");
    machine.system = osReleaseField(release, "ID");
    const std::string family = " " + machine.system + " " + osReleaseField(release, "ID_LIKE") + " ";
    machine.usesApt = family.find(" debian ") != std::string::npos || family.find(" ubuntu ") != std::string::npos;
    machine.isRoot = geteuid() == 0;
    machine.cpuName = cpuNameFrom(readFile(top / "proc/cpuinfo"));
    machine.gpus = pciGpus(top);
    machine.nvidiaOpenCl = findNvidiaOpenCl(top);
    return machine;
}

std::string Machine::asRoot() const { return isRoot ? "" : "sudo "; }

std::string Machine::install(const std::string& debianPackage) const {
    if (usesApt) return asRoot() + "apt install " + debianPackage;
    return "install what your system calls " + debianPackage + " on Debian";
}

}  // namespace heteroscope
