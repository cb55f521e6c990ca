// devices, monitor, kernels, policies: they only look, and work whoever holds the data folder.
#include "app/commands/commands.h"

#include "app/interrupt.h"
#include "devices/discovery.h"
#include "scheduler/policy.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace heteroscope {
namespace {

using nlohmann::json;

void printProblems(Output& output, const json& problems) {
    for (const auto& problem : problems)
        output.print(fmt::format("\nProblem: {}\n  Way out: {}\n", textCell(problem["what"]), textCell(problem["fix"])));
}

std::string yesNo(const json& value) { return value.is_boolean() ? (value.get<bool>() ? "yes" : "no") : "—"; }

void printDevice(Output& output, const json& device) {
    output.print(fmt::format("{}  {}\n", textCell(device["id"]), textCell(device["name"])));
    const auto line = [&](const char* name, const std::string& value) { output.print(fmt::format("  {:<16}{}\n", name, value)); };
    line("kind", textCell(device["kind"]));
    for (const auto& runtime : device["runtimes"])
        line("runtime", fmt::format("{} · {} · {}", textCell(runtime["api"]), textCell(runtime["platform"]), textCell(runtime["version"])));
    line("compute units", textCell(device["compute_units"]));
    line("clock", device["clock_MHz"].is_null() ? "—" : textCell(device["clock_MHz"]) + " MHz");
    line("memory", fmt::format("{}, largest buffer {}, local {}{}", bytesCell(device["memory_bytes"]), bytesCell(device["max_allocation_bytes"]),
                               bytesCell(device["local_memory_bytes"]), device["shares_host_memory"] == true ? ", shared with the host" : ""));
    line("work-group", fmt::format("up to {} work-items", textCell(device["max_work_group_size"])));
    line("double · half", yesNo(device["double"]) + " · " + yesNo(device["half"]));
    if (!device["pci_address"].is_null()) line("PCI address", textCell(device["pci_address"]));
    if (!device["extensions"].empty()) {
        std::string names;
        for (const auto& extension : device["extensions"]) names += (names.empty() ? "" : " ") + extension.get<std::string>();
        line("extensions", names);
    }
}

int listDevices(Invocation& invocation) {
    const Discovery found = discoverDevices();
    json document{{"devices", json::array()}, {"problems", json::array()}};
    for (const auto& device : found.devices) document["devices"].push_back(document::device(device->info()));
    for (const auto& problem : found.problems) document["problems"].push_back(document::problem(problem));
    Output& output = *invocation.output;
    if (output.json) {
        output.document(document);
        return exit_status::done;
    }
    if (document["devices"].empty()) output.print("No compute device was found.\n");
    bool first = true;
    for (const auto& device : document["devices"]) {
        if (!std::exchange(first, false)) output.print("\n");
        printDevice(output, device);
    }
    printProblems(output, document["problems"]);
    return exit_status::done;
}

std::string readingText(const TelemetryFrame& frame, const char* name) {
    const Reading* reading = frame.find(name);
    if (!reading) return "—";
    if (reading->state != ReadingState::Known) return std::string(toString(reading->state));
    if (reading->unit == "ratio") return fmt::format("{:.0f} %", reading->value * 100);
    if (reading->unit == "B") return bytesCell(reading->value);
    if (reading->unit == "Hz") return fmt::format("{:.0f} MHz", reading->value / 1e6);
    return fmt::format("{:.1f} {}", reading->value, reading->unit == "degC" ? "°C" : reading->unit);
}

void printFrame(Output& output, const TelemetryFrame& frame) {
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(frame.time.time_since_epoch()).count();
    std::string line = document::isoTime(time).get<std::string>() + "  " + frame.device;
    for (const auto& [name, reading] : frame.readings) line += fmt::format("  {} {}", name, readingText(frame, name.c_str()));
    output.print(line + "\n");
}

// Sleeps in steps that a Ctrl+C ends.
void pauseUntil(std::chrono::steady_clock::time_point moment) {
    while (!interrupted() && std::chrono::steady_clock::now() < moment)
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(std::chrono::milliseconds(50),
                                                                                  moment - std::chrono::steady_clock::now()));
}

int monitor(Invocation& invocation, double interval, std::uint64_t count) {
    Output& output = *invocation.output;
    const Discovery found = discoverDevices();
    if (found.devices.empty()) {
        for (const auto& problem : found.problems) output.message(problem.what + ". " + problem.fix);
        output.message("No compute device was found, so there is nothing to watch.");
        return exit_status::failed;
    }
    TelemetrySampler sampler;
    std::vector<std::weak_ptr<Device>> devices(found.devices.begin(), found.devices.end());
    sampler.setDevices(std::move(devices));
    sampler.sampleOnce();  // utilisation is a difference: the first round has none
    auto next = std::chrono::steady_clock::now();
    const auto step = std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(interval));
    for (std::uint64_t round = 0; (count == 0 || round < count) && !output.failed(); ++round) {
        pauseUntil(next += step);
        if (interrupted()) return exit_status::interrupted;
        for (const auto& frame : sampler.sampleOnce()) {
            if (output.json) output.document(document::telemetry(frame));
            else printFrame(output, frame);
        }
    }
    return exit_status::done;
}

int listKernels(Invocation& invocation) {
    const auto catalogue = KernelCatalogue::load(invocation.paths().kernelFolders);
    Output& output = *invocation.output;
    json document{{"kernels", json::array()}, {"problems", json::array()}};
    for (const auto& kernel : catalogue.kernels()) document["kernels"].push_back(document::kernel(*kernel));
    for (const auto& problem : catalogue.problems()) document["problems"].push_back(document::error(problem));
    if (output.json) {
        output.document(document);
    } else {
        TextTable table({"kernel", "title", "parameters", "languages"});
        for (const auto& kernel : catalogue.kernels()) {
            std::string parameters, languages;
            for (const auto& each : kernel->parameters) parameters += fmt::format("{}{}={}", parameters.empty() ? "" : " ", each.name, each.defaultValue);
            for (const auto& each : kernel->variants) languages += fmt::format("{}{}", languages.empty() ? "" : ", ", toString(each.language));
            table.add({kernel->id, kernel->title, parameters, languages});
        }
        output.print(catalogue.kernels().empty() ? "No kernel package was found. Set HETEROSCOPE_DATA to the folder that holds 'kernels'.\n" : table.text());
    }
    for (const auto& problem : catalogue.problems()) output.message("Left out: " + describeError(problem));
    return exit_status::done;
}

int listPolicies(Invocation& invocation) {
    json document{{"policies", json::array()}};
    for (const auto& policy : policies()) document["policies"].push_back(document::policy(policy));
    if (invocation.json) {
        invocation.output->document(document);
        return exit_status::done;
    }
    for (const auto& policy : policies()) {
        invocation.output->print(fmt::format("{}\n  {}\n", policy.id, policy.description));
        for (const auto& option : policy.options)
            invocation.output->print(fmt::format("  {}:{}={}  {}\n", policy.id, option.name, option.defaultValue, option.description));
    }
    return exit_status::done;
}

}  // namespace

void addReadingCommands(CLI::App& app, Invocation& invocation) {
    app.add_subcommand("devices", "Each physical device, its runtimes and limits; what is missing and how to get it")
        ->callback([&invocation] { invocation.action = [&invocation] { return listDevices(invocation); }; });

    const auto interval = std::make_shared<double>(1.0);
    const auto count = std::make_shared<std::uint64_t>(0);
    CLI::App* command = app.add_subcommand("monitor", "Telemetry of every device as lines, or JSON lines with --json");
    command->add_option("--interval", *interval, "Seconds between samples")->check(CLI::Range(0.05, 3600.0))->type_name("S");
    command->add_option("--count", *count, "Stop after this many samples (default: on Ctrl+C)")->type_name("N");
    command->callback([&invocation, interval, count] {
        invocation.action = [&invocation, interval, count] { return monitor(invocation, *interval, *count); };
    });

    app.add_subcommand("kernels", "The kernel packages there are")
        ->callback([&invocation] { invocation.action = [&invocation] { return listKernels(invocation); }; });
    app.add_subcommand("policies", "The scheduling policies there are")
        ->callback([&invocation] { invocation.action = [&invocation] { return listPolicies(invocation); }; });
}

}  // namespace heteroscope
