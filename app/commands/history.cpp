// history: what ran, read from the database while anyone may be writing it.
#include "app/commands/commands.h"

#include "scheduler/history/history_reader.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Error wrong(std::string message) { return {ErrorKind::InvalidInput, std::move(message)}; }

std::string stateWords() {
    std::string words;
    for (int i = 0; i < jobStateCount; ++i) words += fmt::format("{}{}", i ? ", " : "", toString(static_cast<JobState>(i)));
    return words;
}

Status addCondition(const std::string& key, const std::string& value, HistoryFilter& filter) {
    if (key == "state") {
        const auto state = jobStateFromString(value);
        if (!state) return wrong(fmt::format("--where state={}: no such state; there are: {}.", value, stateWords()));
        filter.states.push_back(*state);
    } else if (key == "kernel") {
        filter.kernel = value;
    } else if (key == "device") {
        filter.device = value;
    } else if (key == "policy") {
        filter.policy = value;
    } else if (key == "text") {
        filter.text = value;
    } else if (key == "since" || key == "until") {
        const auto time = parseIsoTime(value, key == "until");
        if (!time)
            return wrong(fmt::format("--where {}={}: expected a time such as 2026-11-26 or 2026-11-26T14:05:12Z.", key, value));
        (key == "since" ? filter.since : filter.until) = *time;
    } else {
        return wrong(fmt::format("--where {}=…: no such key; there are: state, kernel, device, policy, since, until, text.", key));
    }
    return {};
}

Result<HistoryFilter> readFilter(const std::vector<std::string>& conditions) {
    HistoryFilter filter;
    for (const auto& condition : conditions) {
        const auto equals = condition.find('=');
        if (equals == std::string::npos || equals == 0) return wrong(fmt::format("--where {}: expected KEY=VALUE.", condition));
        if (auto added = addCondition(condition.substr(0, equals), condition.substr(equals + 1), filter); !added)
            return added.error();
    }
    return filter;
}

/// A folder without a database has a history of nothing: that is an answer, not an error.
bool hasDatabase(Invocation& invocation) {
    std::error_code error;
    return fs::exists(invocation.paths().dataFolder / "history.db", error);
}

int readFailed(Invocation& invocation, const Error& error, json document) {
    invocation.refuse(error, std::move(document));
    return error.kind == ErrorKind::InvalidInput ? exit_status::badInput : exit_status::failed;
}

void printRows(Output& output, const HistoryRows& page) {
    TextTable table({"job", "submitted", "kernel", "parameters", "device", "policy", "state", "wait", "run", "check"},
                    {true, false, false, false, false, false, false, true, true, false});
    for (const auto& row : page.rows) {
        const json document = document::historyRow(row);
        std::string submitted = textCell(document["submitted"]).substr(0, 19);
        std::ranges::replace(submitted, 'T', ' ');
        std::string parameters = row.parameters;
        if (displayWidth(parameters) > 32) parameters = parameters.substr(0, 31) + "…";
        table.add({fmt::format("#{}", row.id), submitted, row.kernel, parameters, textCell(document["device"]), textCell(document["policy"]),
                   std::string(toString(row.state)), secondsCell(document["wait_s"]), secondsCell(document["run_s"]), row.check});
    }
    if (table.empty()) {
        output.print("No job matches.\n");
        return;
    }
    output.print(table.text());
    if (page.rows.size() < page.total)
        output.print(fmt::format("{} of {} jobs; --limit shows more.\n", page.rows.size(), page.total));
}

int list(Invocation& invocation, const std::vector<std::string>& conditions, std::uint64_t limit) {
    const auto filter = readFilter(conditions);
    if (!filter) return invocation.refuse(filter.error(), {{"jobs", json::array()}});
    HistoryRows page;
    if (hasDatabase(invocation)) {
        HistoryReader reader(invocation.paths().dataFolder);
        auto read = readNow<HistoryRows>([&](auto done) { reader.page(*filter, 0, limit, std::move(done)); });
        if (!read) return readFailed(invocation, read.error(), {{"jobs", json::array()}});
        page = std::move(*read);
    }
    if (!invocation.json) {
        printRows(*invocation.output, page);
        return exit_status::done;
    }
    json document{{"jobs", json::array()}, {"total", page.total}};
    for (const auto& row : page.rows) document["jobs"].push_back(document::historyRow(row));
    invocation.output->document(document);
    return exit_status::done;
}

void printDetail(Output& output, const HistoryDetail& detail, const json& job) {
    const auto line = [&](const char* name, const std::string& value) { output.print(fmt::format("  {:<12}{}\n", name, value)); };
    output.print(fmt::format("#{} {}  {}\n", detail.job.id, detail.job.kernel, toString(detail.job.state)));
    line("parameters", textCell(job["parameters"]));
    line("device", textCell(job["device"]) + " · " + textCell(job["runtime"]));
    line("policy", textCell(job["policy"]));
    line("submitted", textCell(job["submitted"]));
    line("wait", secondsCell(job["wait_s"]));
    line("stage in", secondsCell(job["stage_in_s"]));
    line("run", secondsCell(job["run_s"]));
    line("stage out", secondsCell(job["stage_out_s"]));
    line("attempts", textCell(job["attempts"]));
    line("check", textCell(job["check"]));
    if (job["run_s"].is_number() && job["run_s"].get<double>() > 0) {
        if (job["flops"].is_number()) line("achieved", fmt::format("{:.3g} GFLOP/s", job["flops"].get<double>() / job["run_s"].get<double>() / 1e9));
        if (job["bytes"].is_number()) line("", fmt::format("{:.3g} GB/s", job["bytes"].get<double>() / job["run_s"].get<double>() / 1e9));
    }
    if (!detail.explanation.empty()) line("why here", detail.explanation);
    for (const auto& each : detail.job.outputs)
        line("output", fmt::format("{} {}×{}: min {}, max {}, mean {}, {} NaN{}", each.name, each.type, each.count, textCell(each.minimum ? json(*each.minimum) : json()),
                                   textCell(each.maximum ? json(*each.maximum) : json()), textCell(each.mean ? json(*each.mean) : json()), each.nanCount,
                                   each.file.empty() ? "" : ", kept as " + each.file));
    if (detail.job.error) output.print(describeError(*detail.job.error) + "\n");
    else if (!detail.job.check.message.empty()) output.print(detail.job.check.message + "\n");
}

int show(Invocation& invocation, std::uint64_t id) {
    const Error missing = wrong(fmt::format("History has no job #{}.", id));
    if (!hasDatabase(invocation)) return invocation.refuse(missing);
    HistoryReader reader(invocation.paths().dataFolder);
    const auto detail = readNow<HistoryDetail>([&](auto done) { reader.detail(id, std::move(done)); });
    if (!detail) return readFailed(invocation, detail.error().kind == ErrorKind::InvalidInput ? missing : detail.error(), json::object());
    const json job = document::jobDetail(*detail);
    if (invocation.json) invocation.output->document({{"job", job}});
    else printDetail(*invocation.output, *detail, job);
    return exit_status::done;
}

Status copyToAnswer(const fs::path& file, int descriptor) {
    std::ifstream in(file, std::ios::binary);
    std::array<char, 65536> block{};
    while (in.read(block.data(), block.size()), in.gcount() > 0) {
        const char* at = block.data();
        for (auto left = in.gcount(); left > 0;) {
            const auto written = ::write(descriptor, at, static_cast<std::size_t>(left));
            if (written <= 0) return Error{ErrorKind::Io, "The export could not be written to standard output."};
            at += written;
            left -= written;
        }
    }
    return {};
}

int exportJobs(Invocation& invocation, const std::vector<std::string>& conditions, std::string file) {
    const auto filter = readFilter(conditions);
    if (!filter) return invocation.refuse(filter.error());
    if (!hasDatabase(invocation)) return invocation.refuse(wrong("There is no history to export yet."));
    const bool toAnswer = file.empty();
    if (toAnswer) {
        std::string name = (fs::temp_directory_path() / "heteroscope-export-XXXXXX").string() + (invocation.json ? ".json" : ".csv");
        const int descriptor = ::mkstemps(name.data(), invocation.json ? 5 : 4);
        if (descriptor < 0) return readFailed(invocation, {ErrorKind::Io, "No temporary file can be made in " + fs::temp_directory_path().string() + "."}, json::object());
        ::close(descriptor);
        file = name;
    } else if (!file.ends_with(".csv") && !file.ends_with(".json")) {
        return invocation.refuse(wrong(fmt::format("'{}': the name must end with .csv or .json, which says the format.", file)));
    }
    HistoryReader reader(invocation.paths().dataFolder);
    std::promise<Status> promise;
    std::atomic<std::uint64_t> rows{0};
    reader.exportTo(*filter, file, [&](std::uint64_t done) { rows = done; return true; }, [&](Status status) { promise.set_value(std::move(status)); });
    Status status = promise.get_future().get();
    if (toAnswer) {
        if (status) status = copyToAnswer(file, invocation.output->answerDescriptor());
        std::error_code error;
        fs::remove(file, error);
    }
    if (!status) return readFailed(invocation, status.error(), json::object());
    if (!toAnswer && invocation.json) invocation.output->document({{"file", absolutePath(file)}, {"jobs", rows.load()}});
    else if (!toAnswer) invocation.output->print(fmt::format("{} jobs written to {}\n", rows.load(), file));
    return exit_status::done;
}

int listComparisons(Invocation& invocation) {
    std::vector<ComparisonRow> rows;
    if (hasDatabase(invocation)) {
        HistoryReader reader(invocation.paths().dataFolder);
        auto read = readNow<std::vector<ComparisonRow>>([&](auto done) { reader.comparisons(std::move(done)); });
        if (!read) return readFailed(invocation, read.error(), {{"comparisons", json::array()}});
        rows = std::move(*read);
    }
    json document{{"comparisons", json::array()}};
    TextTable table({"comparison", "name", "created", "jobs", "policies"}, {true, false, false, true, true});
    for (const auto& row : rows) {
        document["comparisons"].push_back({{"id", row.id}, {"name", row.name}, {"created", document::isoTime(row.createdAt)}, {"jobs", row.jobs}, {"policies", row.policies}});
        table.add({std::to_string(row.id), row.name, textCell(document::isoTime(row.createdAt)).substr(0, 19), std::to_string(row.jobs), std::to_string(row.policies)});
    }
    if (invocation.json) invocation.output->document(document);
    else invocation.output->print(table.empty() ? "No comparison is stored.\n" : table.text());
    return exit_status::done;
}

int compareStored(Invocation& invocation, std::int64_t a, std::int64_t b) {
    const auto missing = [](std::int64_t id) {
        return wrong(fmt::format("History has no comparison {}; 'heteroscope history comparisons' lists them.", id));
    };
    if (!hasDatabase(invocation)) return invocation.refuse(missing(a));
    HistoryReader reader(invocation.paths().dataFolder);
    std::vector<Comparison> both;
    for (const auto id : {a, b}) {
        auto read = readNow<Comparison>([&](auto done) { reader.comparison(id, std::move(done)); });
        if (!read) return readFailed(invocation, read.error().kind == ErrorKind::InvalidInput ? missing(id) : read.error(), json::object());
        both.push_back(std::move(*read));
    }
    json document{{"a", a}, {"b", b}, {"policies", json::array()}};
    TextTable table({"policy", fmt::format("{} · {}", a, both[0].name), fmt::format("{} · {}", b, both[1].name), "difference"}, {false, true, true, true});
    auto policies = both[0].policies();
    for (const auto& policy : both[1].policies())
        if (std::ranges::find(policies, policy) == policies.end()) policies.push_back(policy);
    for (const auto& policy : policies) {
        const double before = both[0].medianMakespan(policy), after = both[1].medianMakespan(policy);
        const bool known = before > 0 && after >= 0;
        const double more = known ? after / before - 1 : 0;
        document["policies"].push_back({{"policy", policy}, {"a_makespan_s", before >= 0 ? json(before) : json()}, {"b_makespan_s", after >= 0 ? json(after) : json()}, {"difference", known ? json(more) : json()}});
        table.add({policy, before >= 0 ? secondsCell(before) : "—", after >= 0 ? secondsCell(after) : "—", known ? fmt::format("{}{:.1f} %", more < 0 ? "−" : "+", std::abs(more) * 100) : "—"});
    }
    if (invocation.json) invocation.output->document(document);
    else invocation.output->print(table.text());
    return exit_status::done;
}

Result<std::vector<std::uint64_t>> matching(Invocation& invocation, const HistoryFilter& filter) {
    std::vector<std::uint64_t> ids;
    HistoryReader reader(invocation.paths().dataFolder);
    constexpr std::uint64_t step = 10'000;
    for (;;) {
        const auto page = readNow<HistoryRows>([&](auto done) { reader.page(filter, ids.size(), step, std::move(done)); });
        if (!page) return page.error();
        for (const auto& row : page->rows) ids.push_back(row.id);
        if (page->rows.size() < step) return ids;
    }
}

int deleteJobs(Invocation& invocation, const std::vector<std::string>& conditions, const std::vector<std::uint64_t>& ids, bool all) {
    if (conditions.empty() && ids.empty() && !all)
        return invocation.refuse(wrong("history delete: say which jobs: their numbers, --where KEY=VALUE, or --all."));
    const auto filter = readFilter(conditions);
    if (!filter) return invocation.refuse(filter.error());
    Request request;
    request.kind = Request::Kind::DeleteHistory;
    request.jobs = ids;
    if (ids.empty() && hasDatabase(invocation)) {
        auto found = matching(invocation, *filter);
        if (!found) return readFailed(invocation, found.error(), json::object());
        request.jobs = std::move(*found);
    }
    return performAndPrint(invocation, request, [&](const json& document) {
        invocation.output->print(fmt::format("{} jobs deleted.\n", document.value("deleted", std::size_t{0})));
    });
}

struct HistoryOptions {
    std::vector<std::string> conditions;
    std::uint64_t limit = 50, id = 0;
    std::vector<std::uint64_t> ids;
    std::int64_t a = 0, b = 0;
    std::string file;
    bool all = false;
};

}  // namespace

void addHistoryCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("history", "What ran: list it, look at one job, export, compare, delete");
    command->require_subcommand(0, 1);
    command->fallthrough();
    const auto options = std::make_shared<HistoryOptions>();
    command->add_option("--where", options->conditions, "state, kernel, device, policy, since, until or text; may repeat")
        ->type_name("KEY=VALUE")->allow_extra_args(false);
    command->add_option("--limit", options->limit, "Most jobs to list")->type_name("N")->capture_default_str();
    const auto act = [&invocation](auto what) { return [&invocation, what] { invocation.action = what; }; };

    const auto listing = [&invocation, options] { return list(invocation, options->conditions, options->limit); };
    command->callback([&invocation, listing] { if (!invocation.action) invocation.action = listing; });
    command->add_subcommand("list", "Jobs, the latest first")->callback(act(listing));

    CLI::App* one = command->add_subcommand("show", "Everything about one job");
    one->add_option("ID", options->id, "Job number")->required()->type_name("");
    one->callback(act([&invocation, options] { return show(invocation, options->id); }));

    CLI::App* out = command->add_subcommand("export", "Jobs as CSV or JSON, to a file or standard output");
    out->add_option("FILE", options->file, "Ends with .csv or .json (default: standard output)")->type_name("");
    out->callback(act([&invocation, options] { return exportJobs(invocation, options->conditions, options->file); }));

    command->add_subcommand("comparisons", "The comparisons that are stored")->callback(act([&invocation] { return listComparisons(invocation); }));
    CLI::App* two = command->add_subcommand("compare", "Two stored comparisons, policy by policy");
    two->add_option("A", options->a, "Comparison")->required()->type_name("");
    two->add_option("B", options->b, "Comparison")->required()->type_name("");
    two->callback(act([&invocation, options] { return compareStored(invocation, options->a, options->b); }));

    CLI::App* away = command->add_subcommand("delete", "Delete jobs from history");
    away->add_option("ID", options->ids, "Job numbers")->type_name("");
    away->add_flag("--all", options->all, "Every job");
    away->callback(act([&invocation, options] { return deleteJobs(invocation, options->conditions, options->ids, options->all); }));
    for (CLI::App* each : command->get_subcommands({})) each->fallthrough();
}

}  // namespace heteroscope
