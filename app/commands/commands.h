#pragma once

#include "app/documents.h"
#include "app/output.h"
#include "app/paths.h"
#include "app/request.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heteroscope {

/// One call of the program: the options that every command knows, and what to do, set by the command that was named.
struct Invocation {
    std::string dataDir;
    bool json = false;
    std::function<int()> action;  ///< returns the exit status; empty: the window
    Output* output = nullptr;     ///< set before `action` is called

    const Paths& paths();
    /// Says the error and, with --json, prints `document` with it. Returns the status for bad input.
    int refuse(const Error& error, nlohmann::json document = nlohmann::json::object());

private:
    std::optional<Paths> paths_;
};

/// An error for people: place, message, compiler's log.
std::string describeError(const Error& error);

// Each adds its commands to the command line; one .cpp a group.
void addReadingCommands(CLI::App& app, Invocation& invocation);  ///< devices, monitor, kernels, policies
void addRunCommands(CLI::App& app, Invocation& invocation);      ///< run, workload, submit
void addQueueCommand(CLI::App& app, Invocation& invocation);
void addCompareCommand(CLI::App& app, Invocation& invocation);
void addHistoryCommand(CLI::App& app, Invocation& invocation);
void addDoctorCommand(CLI::App& app, Invocation& invocation);
void addDemoCommand(CLI::App& app, Invocation& invocation);

/// No command: the window, or the one that is open already. Returns when it is closed.
int openWindow(Invocation& invocation, const std::vector<std::string>& files, int& argc, char** argv);

/// Carries `request` out with progress and messages on the terminal, prints its document with --json, else what
/// `print` makes of it. The exit status.
int performAndPrint(Invocation& invocation, const Request& request, const std::function<void(const nlohmann::json&)>& print);

/// A file that a person named, as an absolute path that has no link to the current folder.
std::string absolutePath(const std::string& path);

// Pieces of answers for people.
std::string secondsCell(const nlohmann::json& value);  ///< "41 ms", "—" for null
std::string textCell(const nlohmann::json& value);     ///< a string, number or "—"
std::string bytesCell(const nlohmann::json& value);    ///< "61.2 GiB"
void printJobs(Output& output, const nlohmann::json& document);
void printComparison(Output& output, const nlohmann::json& document);

}  // namespace heteroscope
