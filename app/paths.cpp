#include "app/paths.h"

#include <algorithm>
#include <cstdlib>
#include <pwd.h>
#include <system_error>
#include <unistd.h>

namespace fs = std::filesystem;

namespace heteroscope {
namespace {

fs::path homeFolder() {
    if (const char* home = std::getenv("HOME"); home && *home == '/') return home;
    if (const passwd* user = ::getpwuid(::getuid()); user && user->pw_dir) return user->pw_dir;
    return "/";
}

bool isFolder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

// Folders that may hold kernels/ and workloads/, the most particular first.
std::vector<fs::path> resourceRoots() {
    std::vector<fs::path> roots;
    if (const char* folder = std::getenv("HETEROSCOPE_DATA"); folder && *folder) roots.emplace_back(fs::absolute(folder));
    const fs::path beside = programFile().parent_path();
    roots.push_back((beside / "../share/heteroscope").lexically_normal());
    roots.push_back((beside / "..").lexically_normal());
    roots.emplace_back(HETEROSCOPE_SOURCE_DIR);
    return roots;
}

// A build tree may have folders of these names too; ours hold something.
bool holdsPackages(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (fs::exists(entry.path() / "kernel.json", error)) return true;
    return false;
}

bool holdsWorkloads(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().ends_with(".workload.json")) return true;
    return false;
}

fs::path firstFolder(const std::vector<fs::path>& roots, std::initializer_list<const char*> names,
                     bool (*fits)(const fs::path&)) {
    for (const auto& root : roots)
        for (const char* name : names)
            if (fits(root / name)) return root / name;
    return {};
}

fs::path chooseRuntimeFolder() {
    if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder && *folder == '/' && isFolder(folder)) {
        // A Unix socket's path holds 107 characters, our names take up to 45 of them.
        if (fs::path path = fs::path(folder) / "heteroscope"; path.native().size() < 60) return path;
    }
    return fs::path("/tmp") / ("heteroscope-" + std::to_string(::getuid()));
}

}  // namespace

fs::path xdgFolder(const char* variable, const char* fallback) {
    // The XDG base directory specification: a relative path in these variables is to be ignored.
    if (const char* value = std::getenv(variable); value && *value == '/') return value;
    return homeFolder() / fallback;
}

fs::path programFile() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

Paths Paths::find(const std::string& dataDir) {
    Paths paths;
    paths.dataFolder = dataDir.empty() ? xdgFolder("XDG_DATA_HOME", ".local/share") / "heteroscope" : fs::absolute(dataDir);
    std::error_code error;
    // One folder has one name, however it was reached: the lock and the socket hang on it.
    if (const fs::path canonical = fs::weakly_canonical(paths.dataFolder, error); !error) paths.dataFolder = canonical;
    if (paths.dataFolder.filename().empty()) paths.dataFolder = paths.dataFolder.parent_path();
    paths.runtimeFolder = chooseRuntimeFolder();

    const auto roots = resourceRoots();
    if (const fs::path kernels = firstFolder(roots, {"kernels"}, holdsPackages); !kernels.empty()) paths.kernelFolders.push_back(kernels);
    paths.kernelFolders.push_back(paths.userKernelFolder());
    paths.workloadFolder = firstFolder(roots, {"workloads", "resources/workloads"}, holdsWorkloads);
    return paths;
}

std::vector<fs::path> Paths::sampleWorkloads() const {
    std::vector<fs::path> files;
    std::error_code error;
    if (workloadFolder.empty()) return files;
    for (const auto& entry : fs::directory_iterator(workloadFolder, error))
        if (entry.path().filename().string().ends_with(".workload.json")) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace heteroscope
