#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heteroscope {

/// Where this run of the program keeps and finds its files. A value; made once in main().
struct Paths {
    std::filesystem::path dataFolder;              ///< history, outputs, the user's kernels; absolute
    std::vector<std::filesystem::path> kernelFolders;  ///< ours first: a package of the user's hides ours of the same id
    std::filesystem::path workloadFolder;          ///< sample workloads; empty when none was found
    std::filesystem::path runtimeFolder;           ///< sockets; private to the user

    /// `dataDir` is the value of --data-dir, empty for the default (XDG_DATA_HOME/heteroscope).
    static Paths find(const std::string& dataDir);

    std::vector<std::filesystem::path> sampleWorkloads() const;  ///< sorted by name
    std::filesystem::path outputFolder() const { return dataFolder / "outputs"; }
    std::filesystem::path userKernelFolder() const { return dataFolder / "kernels"; }
};

/// The XDG base folder of one kind: `variable` when it holds an absolute path, else `fallback` below the home folder.
std::filesystem::path xdgFolder(const char* variable, const char* fallback);

/// Path of the running program.
std::filesystem::path programFile();

}  // namespace heteroscope
