// What several commands share: carrying a request out at the terminal, and parts of their answers for people.
#include "app/commands/commands.h"

#include "app/instance.h"
#include "app/interrupt.h"
#include "scheduler/decision.h"

#include <fmt/format.h>

#include <QCoreApplication>

#include <array>
#include <cmath>

namespace heteroscope {

using nlohmann::json;

int performAndPrint(Invocation& invocation, const Request& request, const std::function<void(const json&)>& print) {
    int argc = 1;
    std::array<char*, 2> argv{const_cast<char*>("heteroscope"), nullptr};
    const QCoreApplication application(argc, argv.data());
    Output& output = *invocation.output;
    Reporter reporter;
    reporter.progress = [&](const std::string& text, std::size_t done, std::size_t total) { output.progress(text, done, total); };
    reporter.message = [&](const std::string& text) { output.message(text); };
    reporter.stop = [] { return interrupted(); };
    const Answer answer = perform(invocation.paths(), request, reporter, [&](const Answer& given) {
        output.endProgress();
        if (output.json) output.document(given.document);
        const auto error = given.document.find("error");
        if (error != given.document.end() && error->is_object()) output.message(describeError(errorFromDocument(*error)));
        else print(given.document);  // with --json only what goes to standard error
        if (given.exitStatus == exit_status::interrupted) output.message("Interrupted.");
    });
    return answer.exitStatus;
}

std::string absolutePath(const std::string& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.lexically_normal().string();
}

std::string secondsCell(const json& value) { return value.is_number() ? formatSeconds(value.get<double>()) : "—"; }

std::string textCell(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return "—";
    return value.dump();
}

std::string bytesCell(const json& value) {
    if (!value.is_number()) return "—";
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double amount = value.get<double>();
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < units.size()) amount /= 1024, ++unit;
    if (unit == 0) return fmt::format("{:.0f} B", amount);
    const int decimals = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", amount, decimals, units[unit]);
}

namespace {

std::string parametersCell(const json& value) {
    std::string text = textCell(value);
    constexpr std::size_t most = 36;
    if (displayWidth(text) > most) text = text.substr(0, most - 1) + "…";
    return text;
}

void printFailures(Output& output, const json& jobs) {
    constexpr int most = 10;  // a failing device fails a thousand jobs alike
    int said = 0;
    for (const auto& job : jobs) {
        const auto& error = job["error"];
        std::string text;
        if (error.is_object()) text = describeError(errorFromDocument(error));
        else if (job["check"] == "failed") text = textCell(job["check_message"]);
        else continue;
        if (said++ == most) {
            output.message("…and more; 'heteroscope history list --where state=failed' has them all.");
            return;
        }
        output.message(job["id"].is_null() ? text : fmt::format("#{}: {}", job["id"].dump(), text));
    }
}

}  // namespace

void printJobs(Output& output, const json& document) {
    const auto found = document.find("jobs");
    if (found == document.end()) return;
    TextTable table({"job", "kernel", "parameters", "device", "state", "wait", "stage in", "run", "stage out", "check"},
                    {true, false, false, false, false, true, true, true, true, false});
    constexpr std::size_t most = 40;
    std::size_t shown = 0;
    for (const auto& job : *found) {
        if (job["id"].is_null()) continue;  // never became a job: its error says all
        if (++shown > most && job["state"] == "succeeded") continue;
        const std::string kernel = textCell(job["kernel"]);
        const std::string label = job["label"].is_string() ? job["label"].get<std::string>() + " " : "";
        table.add({"#" + job["id"].dump(), label + kernel, parametersCell(job["parameters"]), textCell(job["device"]),
                   textCell(job["state"]), secondsCell(job["wait_s"]), secondsCell(job["stage_in_s"]),
                   secondsCell(job["run_s"]), secondsCell(job["stage_out_s"]), textCell(job["check"])});
    }
    if (!table.empty()) output.print(table.text());
    std::map<std::string, std::size_t> states;
    for (const auto& job : *found) ++states[textCell(job["state"])];
    if (shown > 1) {
        std::vector<std::string> counts;
        for (const auto& [state, count] : states) counts.push_back(fmt::format("{} {}", count, state));
        output.print(fmt::format("{} jobs: {}\n", found->size(), fmt::join(counts, ", ")));
    }
    printFailures(output, *found);
}

void printComparison(Output& output, const json& document) {
    const auto runs = document.find("runs");
    if (runs == document.end()) return;
    std::vector<std::string> header{"policy", "makespan", "vs best", "vs bound", "mean wait", "p95 wait"};
    std::vector<bool> right{false, true, true, true, true, true};
    const json devices = document.value("devices", json::array());
    for (const auto& device : devices) {
        header.push_back("busy " + textCell(device));
        right.push_back(true);
    }
    TextTable table(header, right);
    const auto ratio = [](const json& value) {
        if (!value.is_number()) return std::string("—");
        const double more = (value.get<double>() - 1) * 100;
        return std::abs(more) < 0.05 ? std::string("best") : fmt::format("{}{:.1f} %", more < 0 ? "−" : "+", std::abs(more));
    };
    for (const auto& run : *runs) {
        const json metrics = run.value("metrics", json::object());
        const std::string bound = ratio(run.value("ratio_to_lower_bound", json()));
        std::vector<std::string> cells{textCell(run.value("policy", json())), secondsCell(run.value("makespan_s", json())),
                                       ratio(run.value("ratio_to_best", json())), bound == "best" ? "+0.0 %" : bound,
                                       secondsCell(metrics.value("mean_wait_s", json())), secondsCell(metrics.value("p95_wait_s", json()))};
        const json utilisation = metrics.value("utilisation", json::object());
        for (const auto& device : devices) {
            const json busy = utilisation.value(textCell(device), json());
            cells.push_back(busy.is_number() ? fmt::format("{:.0f} %", busy.get<double>() * 100) : "—");
        }
        table.add(std::move(cells));
    }
    output.print(table.text());
    if (const json bound = document.value("lower_bound_s", json()); bound.is_number() && bound.get<double>() > 0)
        output.print(fmt::format("Lower bound {}: no schedule of these jobs on these devices can be shorter.\n", secondsCell(bound)));
}

}  // namespace heteroscope
