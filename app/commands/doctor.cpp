// doctor: looks at everything the program rests on and says what is wrong and what to do about it.
#include "app/commands/commands.h"

#include "app/data_lock.h"
#include "app/instance.h"
#include "devices/discovery.h"
#include "scheduler/kernel/kernel.h"

#include <CLI/CLI.hpp>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <unistd.h>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t littleSpace = std::uintmax_t{200} << 20;

/// One thing that was looked at: well, or a problem with its remedy.
struct Finding {
    std::string what;
    std::string found;
    std::string fix;  ///< empty: all is well
};

using Findings = std::vector<Finding>;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

void lookAtDevices(Findings& findings) {
    const Discovery found = discoverDevices();
    for (const auto& device : found.devices) {
        std::string runtimes;
        for (const auto& runtime : device->info().runtimes) runtimes += fmt::format("{}{}", runtimes.empty() ? "" : ", ", runtime.version);
        findings.push_back({"device " + device->info().id, fmt::format("{} ({})", device->info().name, runtimes), ""});
    }
    if (found.devices.empty() && found.problems.empty())
        findings.push_back({"devices", "no compute device was found",
                            "Install an OpenCL runtime; for the processor itself: apt-get install pocl-opencl-icd"});
    for (const auto& problem : found.problems) findings.push_back({"devices", problem.what, problem.fix});
}

/// Why the library that an ICD file names cannot be opened; empty when it can.
std::string whyNotLoaded(const fs::path& icd) {
    std::ifstream file(icd);
    std::string library;
    if (!std::getline(file, library)) return "the file cannot be read or is empty";
    while (!library.empty() && std::isspace(static_cast<unsigned char>(library.back()))) library.pop_back();
    void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle) {
        ::dlclose(handle);
        return {};
    }
    const char* const why = ::dlerror();
    return why ? why : "it cannot be opened";
}

void lookAtIcds(Findings& findings) {
    const std::string vendors = environment("OCL_ICD_VENDORS");
    const fs::path folder = vendors.empty() ? fs::path("/etc/OpenCL/vendors") : fs::path(vendors);
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        if (!vendors.empty() && (folder.extension() == ".icd" || vendors.find(".so") != std::string::npos)) return;  // names one driver
        findings.push_back({"OpenCL drivers", fmt::format("folder '{}' is not there", folder.string()),
                            vendors.empty() ? "Install an OpenCL runtime, such as pocl-opencl-icd." : "OCL_ICD_VENDORS names it; unset or correct that."});
        return;
    }
    std::size_t files = 0;
    fs::directory_iterator entries(folder, error);
    if (error) {
        findings.push_back({"OpenCL drivers", fmt::format("'{}' cannot be read: {}", folder.string(), error.message()),
                            fmt::format("Let everybody read it: chmod a+rx '{}'", folder.string())});
        return;
    }
    for (const auto& entry : entries) {
        if (entry.path().extension() != ".icd") continue;
        ++files;
        const std::string why = whyNotLoaded(entry.path());
        findings.push_back({"OpenCL driver " + entry.path().filename().string(), why.empty() ? "loads" : why,
                            why.empty() ? "" : fmt::format("Install the driver again, or remove '{}' when it is gone for good.", entry.path().string())});
    }
    if (files == 0)
        findings.push_back({"OpenCL drivers", fmt::format("'{}' holds no .icd file", folder.string()),
                            "Install an OpenCL runtime; for the processor itself: apt-get install pocl-opencl-icd"});
}

void lookAtDatabase(const fs::path& file, Findings& findings) {
    std::error_code error;
    if (!fs::exists(file, error)) {
        findings.push_back({"history", "none yet; the first job begins it", ""});
        return;
    }
    try {
        SQLite::Database database(file.string(), SQLite::OPEN_READONLY, 5000);
        const std::string verdict = database.execAndGet("PRAGMA integrity_check").getString();
        if (verdict == "ok")
            findings.push_back({"history", fmt::format("sound, {}", bytesCell(fs::file_size(file, error))), ""});
        else
            findings.push_back({"history", fmt::format("'{}' is damaged: {}", file.string(), verdict.substr(0, 200)),
                                "The next start keeps it aside under another name and begins a fresh one."});
    } catch (const std::exception& why) {
        findings.push_back({"history", fmt::format("'{}' cannot be read: {}", file.string(), why.what()),
                            "Check who owns it; a file that is no database is kept aside at the next start and a fresh one begun."});
    }
}

void lookAtDataFolder(const Paths& paths, Findings& findings) {
    const fs::path& folder = paths.dataFolder;
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
        findings.push_back({"data folder", fmt::format("'{}' is not a folder", folder.string()), "Name another one with --data-dir."});
        return;
    }
    fs::path standing = folder;
    while (!fs::exists(standing, error) && standing.has_relative_path()) standing = standing.parent_path();
    if (::access(standing.c_str(), W_OK | X_OK) != 0) {
        findings.push_back({"data folder", fmt::format("'{}' cannot be written", standing.string()),
                            "Give yourself the right to write there, or name another folder with --data-dir. Until then jobs run, but are not kept."});
    } else if (const auto space = fs::space(standing, error); !error && space.available < littleSpace) {
        findings.push_back({"data folder", fmt::format("'{}' has {} left", folder.string(), bytesCell(space.available)), "Free some space, or name a folder on another disk with --data-dir."});
    } else {
        findings.push_back({"data folder", fmt::format("{}, {} free", folder.string(), error ? "—" : bytesCell(space.available)), ""});
    }
    lookAtDatabase(folder / "history.db", findings);
    if (!fs::is_directory(folder, error)) return;
    const auto lock = DataLock::tryTake(folder);
    if (lock && !*lock) findings.push_back({"open program", fmt::format("process {} holds the data folder", readHolderAddress(folder).process), ""});
}

void lookAtKernels(const Paths& paths, Findings& findings) {
    const auto catalogue = KernelCatalogue::load(paths.kernelFolders);
    if (catalogue.kernels().empty())
        findings.push_back({"kernels", "no kernel package was found", "Set HETEROSCOPE_DATA to the folder that holds 'kernels', or install the program again."});
    else
        findings.push_back({"kernels", fmt::format("{} packages", catalogue.kernels().size()), ""});
    for (const auto& problem : catalogue.problems())
        findings.push_back({"kernel", describeError(problem), "Mend or remove that package; the others work without it."});
}

void lookAtDisplay(Findings& findings) {
    const std::string x11 = environment("DISPLAY"), wayland = environment("WAYLAND_DISPLAY");
    // No display is no fault: every command works without one.
    findings.push_back({"display", wayland.empty() && x11.empty() ? "none; commands and 'heteroscope demo' work without" : wayland.empty() ? x11 : wayland, ""});
}

void lookAtCaches(Findings& findings) {
    const std::string own = environment("POCL_CACHE_DIR");
    const fs::path pocl = own.empty() ? xdgFolder("XDG_CACHE_HOME", ".cache") / "pocl" : fs::path(own);
    std::error_code error;
    fs::path standing = pocl;
    while (!fs::exists(standing, error) && standing.has_relative_path()) standing = standing.parent_path();
    if (::access(standing.c_str(), W_OK | X_OK) != 0)
        findings.push_back({"compiler cache", fmt::format("'{}' cannot be written, so kernels are built anew at each start", standing.string()),
                            "Give yourself the right to write there, or set POCL_CACHE_DIR to a folder of yours."});
    else
        findings.push_back({"compiler cache", pocl.string(), ""});
}

int doctor(Invocation& invocation) {
    const Paths& paths = invocation.paths();
    Findings findings;
    lookAtDevices(findings);
    lookAtIcds(findings);
    lookAtKernels(paths, findings);
    lookAtDataFolder(paths, findings);
    lookAtCaches(findings);
    lookAtDisplay(findings);
    if (const Status runtime = prepareRuntimeFolder(paths.runtimeFolder); !runtime)
        findings.push_back({"runtime folder", runtime.error().message, "Set XDG_RUNTIME_DIR to a private folder."});

    std::size_t problems = 0;
    json document{{"checks", json::array()}, {"problems", json::array()}};
    for (const auto& [what, found, fix] : findings) {
        const bool well = fix.empty();
        document["checks"].push_back({{"what", what}, {"found", found}, {"ok", well}});
        if (!well) document["problems"].push_back({{"what", what + ": " + found}, {"fix", fix}});
        invocation.output->print(fmt::format("{} {:<16} {}\n", well ? "✓" : "✕", what, found));
        if (!well) invocation.output->print(fmt::format("    → {}\n", fix));
        problems += well ? 0 : 1;
    }
    if (invocation.json) invocation.output->document(document);
    invocation.output->print(problems == 0 ? "All is well.\n" : fmt::format("{} found.\n", problems == 1 ? "1 problem" : fmt::format("{} problems", problems)));
    return problems == 0 ? exit_status::done : exit_status::failed;
}

}  // namespace

void addDoctorCommand(CLI::App& app, Invocation& invocation) {
    app.add_subcommand("doctor", "Looks for what is wrong with this machine's set-up, and says how to mend it")
        ->callback([&invocation] { invocation.action = [&invocation] { return doctor(invocation); }; });
}

}  // namespace heteroscope
