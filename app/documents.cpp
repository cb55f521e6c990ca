#include "app/documents.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace heteroscope {
namespace {

using nlohmann::json;

template <class T>
json orNull(const std::optional<T>& value) {
    return value ? json(*value) : json();
}

json orNull(const std::string& text) { return text.empty() ? json() : json(text); }

// JSON has no infinities; a negative duration means "not known".
json seconds(double value) { return value >= 0 && std::isfinite(value) ? json(value) : json(); }
json number(double value) { return std::isfinite(value) ? json(value) : json(); }

std::string_view checkWord(CheckResult::State state) {
    switch (state) {
        case CheckResult::State::Passed: return "passed";
        case CheckResult::State::Failed: return "failed";
        case CheckResult::State::None: break;
    }
    return "none";
}

json output(const OutputSummary& output) {
    json values = json::array();
    for (const double value : output.firstValues) values.push_back(number(value));
    return {{"name", output.name},        {"type", output.type},
            {"count", output.count},      {"first_values", std::move(values)},
            {"min", orNull(output.minimum)}, {"max", orNull(output.maximum)},
            {"mean", orNull(output.mean)},   {"nan_count", output.nanCount},
            {"file", orNull(output.file)}};
}

json candidate(const Candidate& candidate, const std::vector<std::string>& names) {
    return {{"device", candidate.device < names.size() ? json(names[candidate.device]) : json()},
            {"excluded", orNull(candidate.excluded)},
            {"free_in_s", seconds(candidate.freeIn)},
            {"data_in_s", seconds(candidate.dataIn)},
            {"run_s", seconds(candidate.run)},
            {"finish_s", seconds(candidate.finish)},
            {"queued", candidate.queued},
            {"score", candidate.excluded.empty() ? number(candidate.score) : json()}};
}

json decision(const Decision& decision, const std::vector<std::string>& names, const std::string& sentence) {
    json candidates = json::array();
    for (const auto& each : decision.candidates) candidates.push_back(candidate(each, names));
    return {{"policy", decision.policy},
            {"device", decision.chosen < names.size() ? json(names[decision.chosen]) : json()},
            {"time", document::isoTime(decision.at)},
            {"explanation", orNull(sentence)},
            {"note", orNull(decision.note)},
            {"candidates", std::move(candidates)}};
}

json argument(const KernelArgument& argument) {
    constexpr const char* kinds[] = {"scalar", "buffer", "local"};
    const bool buffer = argument.kind == KernelArgument::Kind::Buffer;
    return {{"name", argument.name},
            {"kind", kinds[static_cast<int>(argument.kind)]},
            {"type", argument.type.name()},
            {"count", orNull(argument.count)},
            {"access", buffer ? json(toString(argument.access)) : json()},
            {"fill", buffer ? json(argument.fill) : json()}};
}

}  // namespace

namespace document {

json isoTime(std::int64_t epochNs) {
    if (epochNs == 0) return {};
    const std::int64_t second = epochNs / 1'000'000'000, rest = epochNs % 1'000'000'000;
    const std::time_t time = static_cast<std::time_t>(second);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec, rest / 1000);
}

json error(const Error& error) {
    return {{"kind", toString(error.kind)},
            {"message", error.message},
            {"file", orNull(error.file)},
            {"line", error.line > 0 ? json(error.line) : json()},
            {"log", orNull(error.log)}};
}

json job(const JobSnapshot& job) {
    const bool ran = job.times.started > 0 && job.times.finished > 0;
    const bool ended = job.times.ended > 0;
    json outputs = json::array();
    for (const auto& each : job.outputs) outputs.push_back(output(each));
    return {{"id", job.id ? json(job.id) : json()},
            {"label", orNull(job.label)},
            {"kernel", job.kernel},
            {"parameters", job.parameters},
            {"device", orNull(job.device)},
            {"runtime", orNull(job.runtime)},
            {"policy", orNull(job.policy)},
            {"state", toString(job.state)},
            {"reason", orNull(job.reason)},
            {"priority", job.priority},
            {"attempts", job.attempts},
            {"after", job.after},
            {"submitted", isoTime(job.times.submitted)},
            {"ready", isoTime(job.times.ready)},
            {"assigned", isoTime(job.times.assigned)},
            {"staged", isoTime(job.times.staged)},
            {"started", isoTime(job.times.started)},
            {"finished", isoTime(job.times.finished)},
            {"ended", isoTime(job.times.ended)},
            {"wait_s", job.times.started > 0 ? seconds(job.waitSeconds) : json()},
            {"stage_in_s", job.times.staged > 0 ? seconds(job.stageInSeconds) : json()},
            {"run_s", ran ? seconds(job.runSeconds) : json()},
            {"stage_out_s", ran && ended ? seconds(job.stageOutSeconds) : json()},
            {"predicted_s", seconds(job.predictedSeconds)},
            {"flops", orNull(job.flops)},
            {"bytes", orNull(job.bytes)},
            {"check", checkWord(job.check.state)},
            {"check_message", orNull(job.check.message)},
            {"outputs", std::move(outputs)},
            {"log", orNull(job.log)},
            {"error", job.error ? error(*job.error) : json()}};
}

json jobDetail(const HistoryDetail& detail) {
    json result = job(detail.job);
    result["decision"] =
        detail.job.decision ? decision(*detail.job.decision, detail.deviceNames, detail.explanation) : json();
    result["spec"] = json::parse(detail.specJson, nullptr, false);
    if (result["spec"].is_discarded()) result["spec"] = nullptr;
    return result;
}

json historyRow(const HistoryRow& row) {
    const bool ran = row.state == JobState::Succeeded || row.runSeconds > 0;
    return {{"id", row.id},
            {"label", orNull(row.label)},
            {"kernel", row.kernel},
            {"parameters", row.parameters},
            {"device", orNull(row.device)},
            {"runtime", orNull(row.runtime)},
            {"policy", orNull(row.policy)},
            {"state", toString(row.state)},
            {"submitted", isoTime(row.submitted)},
            {"wait_s", ran ? seconds(row.waitSeconds) : json()},
            {"run_s", ran ? seconds(row.runSeconds) : json()},
            {"check", row.check},
            {"error", orNull(row.error)}};
}

json device(const DeviceInfo& device) {
    json runtimes = json::array();
    for (const auto& runtime : device.runtimes)
        runtimes.push_back({{"api", toString(runtime.api)},
                            {"name", runtime.name},
                            {"platform", orNull(runtime.platform)},
                            {"version", orNull(runtime.version)},
                            {"language_version", orNull(runtime.languageVersion)},
                            {"driver_version", orNull(runtime.driverVersion)}});
    return {{"id", device.id},
            {"name", device.name},
            {"short_name", device.shortName},
            {"kind", toString(device.kind)},
            {"runtimes", std::move(runtimes)},
            {"compute_units", orNull(device.computeUnits)},
            {"clock_MHz", orNull(device.clockMegahertz)},
            {"memory_bytes", orNull(device.memoryBytes)},
            {"max_allocation_bytes", orNull(device.maxAllocationBytes)},
            {"local_memory_bytes", orNull(device.localMemoryBytes)},
            {"max_work_group_size", orNull(device.maxWorkGroupSize)},
            {"max_work_item_sizes", device.maxWorkItemSizes},
            {"double", device.hasDouble},
            {"half", device.hasHalf},
            {"images", device.hasImages},
            {"shares_host_memory", device.sharesHostMemory},
            {"extensions", device.extensions},
            {"uuid", orNull(device.uuid)},
            {"pci_address", orNull(device.pciAddress)}};
}

json problem(const DeviceProblem& problem) { return {{"what", problem.what}, {"fix", problem.fix}}; }

json kernel(const Kernel& kernel) {
    json parameters = json::array(), arguments = json::array(), variants = json::array();
    for (const auto& each : kernel.parameters)
        parameters.push_back({{"name", each.name},
                              {"default", each.defaultValue},
                              {"min", orNull(each.minimum)},
                              {"max", orNull(each.maximum)},
                              {"integral", each.integral}});
    for (const auto& each : kernel.arguments) arguments.push_back(argument(each));
    for (const auto& each : kernel.variants)
        variants.push_back({{"language", toString(each.language)}, {"entry", each.entry}, {"file", each.source.file}});
    return {{"id", kernel.id},
            {"title", orNull(kernel.title)},
            {"description", orNull(kernel.description)},
            {"parameters", std::move(parameters)},
            {"arguments", std::move(arguments)},
            {"variants", std::move(variants)},
            {"flops", orNull(kernel.flops)},
            {"bytes", orNull(kernel.bytes)},
            {"reference", orNull(kernel.reference)},
            {"splittable", kernel.split.has_value()},
            {"folder", kernel.folder.string()}};
}

json policy(const PolicyInfo& policy) {
    json options = json::array();
    for (const auto& option : policy.options)
        options.push_back({{"name", option.name}, {"description", option.description}, {"default", option.defaultValue}});
    return {{"id", policy.id}, {"description", policy.description}, {"options", std::move(options)}};
}

json telemetry(const TelemetryFrame& frame) {
    json metrics = json::object();
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [name, reading] : frame.readings) {
        const bool measured = reading.state == ReadingState::Known || reading.state == ReadingState::Stale;
        const double age = std::chrono::duration<double>(now - reading.taken).count();
        metrics[name] = {{"state", toString(reading.state)},
                         {"value", measured ? number(reading.value) : json()},
                         {"unit", orNull(reading.unit)},
                         {"source", orNull(reading.source)},
                         {"age_s", measured ? seconds(std::max(0.0, age)) : json()}};
    }
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(frame.time.time_since_epoch()).count();
    return {{"time", isoTime(time)}, {"device", frame.device}, {"metrics", std::move(metrics)}};
}

json comparison(const Comparison& comparison) {
    json result = json::parse(comparisonToJson(comparison), nullptr, false);
    if (!result.is_object()) result = json::object();
    result["id"] = comparison.id ? json(comparison.id) : json();
    result["created"] = isoTime(comparison.createdAt);
    result["complete"] = comparison.complete;
    return result;
}

}  // namespace document

Error errorFromDocument(const json& document) {
    Error error;
    if (!document.is_object()) return error;
    const auto text = [&](const char* key) {
        const auto found = document.find(key);
        return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    error.kind = errorKindFromString(text("kind")).value_or(ErrorKind::InvalidInput);
    error.message = text("message");
    error.file = text("file");
    error.log = text("log");
    if (const auto line = document.find("line"); line != document.end() && line->is_number_integer()) error.line = *line;
    return error;
}

std::optional<std::int64_t> parseIsoTime(const std::string& text, bool endOfDay) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
    double second = 0;
    if (std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != 10) return std::nullopt;
    std::string rest = text.substr(10);
    const bool dateOnly = rest.empty();
    int zoneMinutes = 0;
    if (!dateOnly) {
        if ((rest[0] != 'T' && rest[0] != ' ') || std::sscanf(rest.c_str() + 1, "%2d:%2d%n", &hour, &minute, &used) != 2)
            return std::nullopt;
        rest.erase(0, static_cast<std::size_t>(used) + 1);
        if (!rest.empty() && rest[0] == ':') {
            char* end = nullptr;
            second = std::strtod(rest.c_str() + 1, &end);
            if (end == rest.c_str() + 1) return std::nullopt;
            rest.erase(0, static_cast<std::size_t>(end - rest.c_str()));
        }
        if (rest == "Z") rest.clear();
        if (!rest.empty()) {
            int zoneHour = 0, zoneMinute = 0;
            if ((rest[0] != '+' && rest[0] != '-') ||
                std::sscanf(rest.c_str() + 1, "%2d:%2d%n", &zoneHour, &zoneMinute, &used) != 2 ||
                rest.size() != static_cast<std::size_t>(used) + 1)
                return std::nullopt;
            zoneMinutes = (rest[0] == '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute);
        }
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0 && second < 61)) return std::nullopt;
    const auto midnight = std::chrono::sys_days(date).time_since_epoch();
    std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(midnight).count();
    if (dateOnly && endOfDay) return ns + 86'400'000'000'000 - 1;
    ns += (std::int64_t{hour} * 3600 + minute * 60 - zoneMinutes * 60) * 1'000'000'000;
    return ns + std::llround(second * 1e9);
}

}  // namespace heteroscope
