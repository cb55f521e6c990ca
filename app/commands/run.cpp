// run, workload, submit: jobs on the engine of whoever holds the data folder.
#include "app/commands/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;

/// The words of the command line, before they are checked.
struct RunOptions {
    std::string target;
    std::vector<std::string> parameters, options, includes, arguments, saves;
    std::string device, runtime, policy, entry, global, local;
    std::uint32_t count = 1;
    int priority = 0;
    bool check = false;
};

Error wrong(std::string message) { return {ErrorKind::InvalidInput, std::move(message)}; }

/// "NAME=VALUE" in two; an Error that names the option when there is no '='.
Result<std::pair<std::string, std::string>> splitPair(const char* option, const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        return wrong(fmt::format("{} {}: expected NAME=VALUE.", option, text));
    return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Status readParameters(const std::vector<std::string>& words, std::map<std::string, double>& parameters) {
    for (const auto& word : words) {
        const auto pair = splitPair("-p", word);
        if (!pair) return pair.error();
        const auto& [name, text] = *pair;
        double value = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
            return wrong(fmt::format("-p {}: '{}' is not a number.", word, text));
        parameters[name] = value;
    }
    return {};
}

/// "1024", "64,32" or "64x32": one to three sizes.
Result<std::vector<std::uint64_t>> readSizes(const char* option, const std::string& text) {
    std::vector<std::uint64_t> sizes;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        std::uint64_t size = 0;
        const auto [next, code] = std::from_chars(at, end, size);
        const bool ends = next == end || ((*next == ',' || *next == 'x') && next + 1 != end);
        if (code != std::errc() || !ends || sizes.size() == 3)
            return wrong(fmt::format("{} {}: expected one to three whole numbers, such as 64,32.", option, text));
        sizes.push_back(size);
        at = next == end ? end : next + 1;
    }
    for (const auto size : sizes)
        if (size == 0) return wrong(fmt::format("{} {}: a size of 0 runs nothing; expected 1 or more.", option, text));
    return sizes;
}

/// file(NAME) in a fill is meant from the folder the person stands in.
std::string withAbsoluteFile(std::string argument) {
    const auto open = argument.find("file(");
    const auto close = argument.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return argument;
    const std::string name = argument.substr(open + 5, close - open - 5);
    std::error_code error;
    if (fs::exists(name, error)) argument.replace(open + 5, close - open - 5, absolutePath(name));
    return argument;
}

bool isFileTarget(const std::string& target) {
    for (const char* ending : {".cl", ".cu", ".opencl", ".json", ".stg", ".swf", ".dot", ".gv"})
        if (target.ends_with(ending)) return true;
    return target.find('/') != std::string::npos;
}

Result<Request> makeRequest(Request::Kind kind, const RunOptions& options) {
    Request request;
    request.kind = kind;
    request.target = options.target;
    if (kind == Request::Kind::Workload || isFileTarget(options.target)) {
        std::error_code error;
        if (!fs::is_regular_file(options.target, error))
            return wrong(fmt::format("'{}': {}.", options.target, fs::exists(options.target, error) ? "not a file" : "no such file"));
        request.target = absolutePath(options.target);
    }
    if (auto read = readParameters(options.parameters, request.parameters); !read) return read.error();
    request.device = options.device;
    request.runtime = options.runtime;
    request.policy = options.policy;
    request.count = options.count;
    request.priority = options.priority;
    request.check = options.check;
    request.entry = options.entry;
    request.options = options.options;
    for (const auto& argument : options.arguments) request.arguments.push_back(withAbsoluteFile(argument));
    for (const auto& folder : options.includes) request.includes.push_back(absolutePath(folder));
    for (const auto& save : options.saves) {
        const auto pair = splitPair("--save", save);
        if (!pair) return pair.error();
        request.save[pair->first] = absolutePath(pair->second);
    }
    if (auto sizes = readSizes("--global", options.global)) request.global = std::move(*sizes);
    else return sizes.error();
    if (auto sizes = readSizes("--local", options.local)) request.local = std::move(*sizes);
    else return sizes.error();
    return request;
}

int run(Invocation& invocation, Request::Kind kind, const RunOptions& options) {
    const auto request = makeRequest(kind, options);
    if (!request) return invocation.refuse(request.error(), {{"jobs", nlohmann::json::array()}});
    return performAndPrint(invocation, *request, [&](const nlohmann::json& document) {
        if (kind != Request::Kind::Submit) return printJobs(*invocation.output, document);
        const auto jobs = document.value("jobs", nlohmann::json::array());
        if (jobs.empty()) return;
        invocation.output->print(jobs.size() == 1 ? fmt::format("Queued as #{}.\n", jobs.front()["id"].dump())
                                                  : fmt::format("Queued {} jobs as #{} to #{}.\n", jobs.size(),
                                                                jobs.front()["id"].dump(), jobs.back()["id"].dump()));
    });
}

void addList(CLI::App& command, const char* names, std::vector<std::string>& words, const char* help, const char* type) {
    command.add_option(names, words, help)->type_name(type)->allow_extra_args(false);
}

void addSourceOptions(CLI::App& command, RunOptions& options) {
    addList(command, "-p,--parameter", options.parameters, "Parameter of a kernel package; may repeat", "NAME=VALUE");
    command.add_option("--count", options.count, "How many times to run it")->type_name("K");
    command.add_option("--entry", options.entry, "Kernel function of a source file")->type_name("NAME");
    command.add_option("--global", options.global, "Global size of a source file")->type_name("N[,M[,K]]");
    command.add_option("--local", options.local, "Work-group size (default: left to the runtime)")->type_name("N[,M[,K]]");
    addList(command, "--option", options.options, "Option for the compiler; may repeat", "OPTION");
    addList(command, "--include", options.includes, "Include folder; may repeat", "DIR");
    addList(command, "--arg", options.arguments, "Arguments in order: buffer:TYPE:COUNT[:FILL[:ACCESS]], TYPE:VALUE or local:BYTES",
            "ARG");
    addList(command, "--save", options.saves, "Write a buffer (name or position from 0) as .npy; may repeat", "ARG=FILE");
}

void addPlacing(CLI::App& command, RunOptions& options) {
    command.add_option("--device", options.device, "Run there only")->type_name("ID");
    command.add_option("--policy", options.policy, "Scheduling policy while these jobs run")->type_name("P");
    command.add_flag("--check", options.check, "Compare results with the CPU reference");
}

}  // namespace

void addRunCommands(CLI::App& app, Invocation& invocation) {
    const auto add = [&](const char* name, const char* help, const char* target, Request::Kind kind) {
        const auto options = std::make_shared<RunOptions>();
        CLI::App* command = app.add_subcommand(name, help);
        command->add_option(target, options->target)->required()->type_name("");
        command->callback([&invocation, kind, options] { invocation.action = [&invocation, kind, options] { return run(invocation, kind, *options); }; });
        return std::pair{command, options};
    };
    {
        const auto [command, options] = add("run", "Run a kernel package, or a .cl file of your own", "KERNEL|FILE", Request::Kind::Run);
        addPlacing(*command, *options);
        addSourceOptions(*command, *options);
        command->add_option("--runtime", options->runtime, "Through this runtime only")->check(CLI::IsMember({"opencl", "cuda"}))->type_name("cuda|opencl");
        command->add_option("--priority", options->priority, "Higher goes first")->type_name("N");
    }
    {
        const auto [command, options] = add("workload", "Run a workload file for real", "FILE", Request::Kind::Workload);
        addPlacing(*command, *options);
    }
    {
        const auto [command, options] =
            add("submit", "Put jobs into the queue of the program that is open, and return", "FILE|KERNEL", Request::Kind::Submit);
        addPlacing(*command, *options);
        addSourceOptions(*command, *options);
        command->add_option("--priority", options->priority, "Higher goes first")->type_name("N");
    }
}

}  // namespace heteroscope
