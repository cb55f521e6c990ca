// compare: one workload under several policies, for real.
#include "app/commands/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>

namespace heteroscope {
namespace {

struct CompareOptions {
    std::string file;
    std::vector<std::string> policies;
    bool live = false, simulate = false;
    int repeats = 1;
    std::uint64_t seed = 1;
};

int compare(Invocation& invocation, const CompareOptions& options) {
    if (options.simulate)
        return invocation.refuse({ErrorKind::Unsupported, "compare --simulate: this version has no simulator yet; 'compare --live' "
                                                          "runs the workload for real."});
    std::error_code error;
    if (!std::filesystem::is_regular_file(options.file, error))
        return invocation.refuse({ErrorKind::InvalidInput, fmt::format("'{}': no such file.", options.file)});
    Request request;
    request.kind = Request::Kind::Compare;
    request.target = absolutePath(options.file);
    request.policies = options.policies;
    request.repeats = options.repeats;
    request.seed = options.seed;
    return performAndPrint(invocation, request, [&](const nlohmann::json& document) {
        printComparison(*invocation.output, document);
        if (document["id"].is_number()) invocation.output->print(fmt::format("Stored as comparison {}.\n", document["id"].dump()));
    });
}

}  // namespace

void addCompareCommand(CLI::App& app, Invocation& invocation) {
    const auto options = std::make_shared<CompareOptions>();
    CLI::App* command = app.add_subcommand("compare", "The same work under several policies, side by side");
    command->add_option("FILE", options->file, "Workload")->required()->type_name("");
    command->add_option("--policies", options->policies, "Policies, with commas between")->required()->delimiter(',')->type_name("a,b,c");
    CLI::Option* live = command->add_flag("--live", options->live, "Run it for real (the default)");
    command->add_flag("--simulate", options->simulate, "Predict instead; not in this version")->excludes(live);
    command->add_option("--repeat", options->repeats, "Runs of each policy")->check(CLI::Range(1, 1000))->type_name("N");
    command->add_option("--seed", options->seed, "Seed of the data")->type_name("S");
    command->callback([&invocation, options] { invocation.action = [&invocation, options] { return compare(invocation, *options); }; });
}

}  // namespace heteroscope
