#include "app/program.h"

#include "app/commands/commands.h"
#include "app/interrupt.h"
#include "app/request.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <QCoreApplication>

#include <clocale>
#include <cstdlib>
#include <exception>

namespace heteroscope {
namespace {

void describe(CLI::App& app, Invocation& invocation, std::vector<std::string>& files) {
    app.description("Runs, schedules and explains compute kernels on machines with several kinds of processor.\n"
                    "Without a command it opens the window.");
    app.set_version_flag("--version", "heteroscope " HETEROSCOPE_VERSION);
    app.add_option("--data-dir", invocation.dataDir, "Folder of history and models (default: the XDG data folder)")->type_name("DIR")->take_last();
    app.add_flag("--json", invocation.json, "Print one JSON document and nothing else on standard output");
    app.add_option("FILE", files, "Workloads or kernels to open in the window")->type_name("");
    app.require_subcommand(0, 1);
    app.fallthrough();  // --json and --data-dir may stand behind the command
    addReadingCommands(app, invocation);
    addRunCommands(app, invocation);
    addQueueCommand(app, invocation);
    addCompareCommand(app, invocation);
    addHistoryCommand(app, invocation);
    addDoctorCommand(app, invocation);
    addDemoCommand(app, invocation);
}

int reportUsage(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version: standard output
    fmt::print(stderr, "heteroscope: {}\n'heteroscope --help' lists the commands and options.\n", error.what());
    return exit_status::badInput;
}

int runCommand(Invocation& invocation) {
    watchInterrupts();
    Output output;
    output.json = invocation.json;
    invocation.output = &output;
    const int status = invocation.action();
    if (output.failed() && !output.readerLeft()) {
        output.message("The answer could not be written to standard output.");
        return exit_status::failed;
    }
    return status;
}

}  // namespace

const Paths& Invocation::paths() {
    if (!paths_) paths_ = Paths::find(dataDir);
    return *paths_;
}

int Invocation::refuse(const Error& error, nlohmann::json document) {
    if (json) {
        document["error"] = document::error(error);
        output->document(document);
    }
    output->message(describeError(error));
    return exit_status::badInput;
}

std::string describeError(const Error& error) {
    std::string text = error.message;
    if (error.line > 0 && text.find(error.file) == std::string::npos) text = fmt::format("{}:{}: {}", error.file, error.line, text);
    if (!error.log.empty() && text.find(error.log) == std::string::npos) text += "\n" + error.log;
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

int runProgram(int argc, char** argv) {
    std::setlocale(LC_ALL, "");
    std::setlocale(LC_NUMERIC, "C");  // numbers in files and documents have a point everywhere
    Invocation invocation;
    std::vector<std::string> files;
    CLI::App app("", "heteroscope");
    describe(app, invocation, files);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return reportUsage(app, error);
    }
    try {
        if (!invocation.action) return openWindow(invocation, files, argc, argv);
        if (!files.empty()) {  // what a command does not take falls through to the window's files
            fmt::print(stderr, "heteroscope: '{}' was not expected here; 'heteroscope COMMAND --help' tells what is.\n", files.front());
            return exit_status::badInput;
        }
        return runCommand(invocation);
    } catch (const std::exception& error) {
        fmt::print(stderr, "heteroscope: {}\n", error.what());
        return exit_status::failed;
    }
}

}  // namespace heteroscope
