// queue: the jobs that wait, in the program that is open or left by one that ended.
#include "app/commands/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace heteroscope {
namespace {

using nlohmann::json;

void printQueue(Output& output, const json& document) {
    if (!document.contains("left")) return printJobs(output, document);  // resumed jobs, with their results
    const json jobs = document.value("jobs", json::array()), left = document.value("left", json::array());
    if (document.value("paused", false)) output.print("The queue is paused.\n");
    TextTable table({"job", "kernel", "state", "device", "priority", "why"}, {true, false, false, false, true, false});
    for (const auto& job : jobs)
        table.add({"#" + job["id"].dump(), textCell(job["kernel"]), textCell(job["state"]), textCell(job["device"]),
                   job["priority"].dump(), textCell(job["reason"])});
    for (const auto& job : left)
        table.add({"#" + job["id"].dump(), textCell(job["kernel"]), "left", "—", "—", "its session ended before it ran"});
    output.print(table.empty() ? "The queue is empty.\n" : table.text());
    if (!left.empty())
        output.print(fmt::format("{} left by an earlier session: 'heteroscope queue resume' runs them, 'queue drop ID…' or "
                                 "'queue drop --all' drops them.\n",
                                 left.size()));
}

int queue(Invocation& invocation, const std::string& action, const std::vector<std::uint64_t>& jobs, bool all) {
    if (action == "drop" && jobs.empty() && !all)
        return invocation.refuse({ErrorKind::InvalidInput, "queue drop: name the jobs to drop, or say --all."});
    Request request;
    request.kind = Request::Kind::Queue;
    request.action = action;
    request.jobs = jobs;
    request.dropAll = all;
    return performAndPrint(invocation, request, [&](const json& document) { printQueue(*invocation.output, document); });
}

}  // namespace

void addQueueCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("queue", "The queue, also one left by a crash");
    command->require_subcommand(0, 1);
    command->fallthrough();
    const auto jobs = std::make_shared<std::vector<std::uint64_t>>();
    const auto all = std::make_shared<bool>(false);
    const auto act = [&invocation, jobs, all](const std::string& action) {
        return [&invocation, jobs, all, action] { invocation.action = [&invocation, jobs, all, action] { return queue(invocation, action, *jobs, *all); }; };
    };
    // A parent's callback runs after its subcommand's: it only fills in what none has said.
    command->callback([&invocation, act] { if (!invocation.action) act("list")(); });
    command->add_subcommand("list", "Jobs that have not ended")->callback(act("list"));
    command->add_subcommand("pause", "Start no further job")->callback(act("pause"));
    command->add_subcommand("resume", "Go on; also runs what an earlier session left")->callback(act("resume"));
    CLI::App* drop = command->add_subcommand("drop", "Cancel jobs of the queue");
    drop->add_option("ID", *jobs, "Job numbers")->type_name("");
    drop->add_flag("--all", *all, "Every job of the queue");
    drop->callback(act("drop"));
    for (CLI::App* each : command->get_subcommands({})) each->fallthrough();
}

}  // namespace heteroscope
