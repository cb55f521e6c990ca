#include "scheduler/history/job_codec.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace heteroscope::history {
namespace {

using Json = nlohmann::json;

// Compilers and kernels print what they like: bytes that are no UTF-8 become U+FFFD instead of an exception.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json parse(const std::string& text) { return Json::parse(text, nullptr, false); }

// JSON has no word for them, but a kernel's first values may well be infinite.
Json fromNumber(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return value;
}
double toNumber(const Json& json) {
    if (json.is_number()) return json.get<double>();
    if (!json.is_string()) return std::nan("");
    const auto& word = json.get_ref<const std::string&>();
    if (word == "inf") return HUGE_VAL;
    if (word == "-inf") return -HUGE_VAL;
    return std::nan("");
}

void put(Json& json, const char* key, const std::optional<double>& value) {
    if (value) json[key] = fromNumber(*value);
}
std::optional<double> number(const Json& json, const char* key) {
    const auto at = json.find(key);
    if (at == json.end() || at->is_null()) return std::nullopt;
    return toNumber(*at);
}
template <class T>
T field(const Json& json, const char* key) {
    const auto at = json.find(key);
    if (at == json.end()) return T{};
    try {
        return at->get<T>();
    } catch (const Json::exception&) {
        return T{};
    }
}

OutputSummary outputFrom(const Json& json) {
    OutputSummary output;
    output.name = field<std::string>(json, "name");
    output.type = field<std::string>(json, "type");
    output.count = field<std::uint64_t>(json, "count");
    output.nanCount = field<std::uint64_t>(json, "nan");
    output.file = field<std::string>(json, "file");
    output.minimum = number(json, "min");
    output.maximum = number(json, "max");
    output.mean = number(json, "mean");
    if (const auto first = json.find("first"); first != json.end() && first->is_array())
        for (const Json& value : *first) output.firstValues.push_back(toNumber(value));
    return output;
}

}  // namespace

std::string outputsToJson(const std::vector<OutputSummary>& outputs) {
    Json list = Json::array();
    for (const OutputSummary& output : outputs) {
        Json one{{"name", output.name}, {"type", output.type}, {"count", output.count}, {"nan", output.nanCount}};
        Json first = Json::array();
        for (const double value : output.firstValues) first.push_back(fromNumber(value));
        one["first"] = std::move(first);
        put(one, "min", output.minimum);
        put(one, "max", output.maximum);
        put(one, "mean", output.mean);
        if (!output.file.empty()) one["file"] = output.file;
        list.push_back(std::move(one));
    }
    return dump(list);
}

std::vector<OutputSummary> outputsFromJson(const std::string& text) {
    std::vector<OutputSummary> outputs;
    const Json list = parse(text);
    if (!list.is_array()) return outputs;
    for (const Json& one : list)
        if (one.is_object()) outputs.push_back(outputFrom(one));
    return outputs;
}

std::string checkToJson(const CheckResult& check) {
    return dump({{"argument", check.argument}, {"first", check.firstDifference}, {"expected", fromNumber(check.expected)},
                 {"found", fromNumber(check.found)}, {"largest", fromNumber(check.largestError)}, {"message", check.message}});
}

void checkFromJson(const std::string& text, CheckResult& check) {
    const Json json = parse(text);
    if (!json.is_object()) return;
    check.argument = field<std::string>(json, "argument");
    check.firstDifference = field<std::uint64_t>(json, "first");
    check.expected = number(json, "expected").value_or(0.0);
    check.found = number(json, "found").value_or(0.0);
    check.largestError = number(json, "largest").value_or(0.0);
    check.message = field<std::string>(json, "message");
}

const char* checkWord(CheckResult::State state) {
    switch (state) {
        case CheckResult::State::Passed: return "passed";
        case CheckResult::State::Failed: return "failed";
        case CheckResult::State::None: break;
    }
    return "none";
}

std::string jobIdsToJson(const std::vector<JobId>& jobs) { return fmt::format("[{}]", fmt::join(jobs, ",")); }

std::vector<JobId> jobIdsFromJson(const std::string& text) {
    std::vector<JobId> jobs;
    const Json list = parse(text);
    if (list.is_array())
        for (const Json& job : list)
            if (job.is_number_unsigned()) jobs.push_back(job.get<JobId>());
    return jobs;
}

std::string namesToJson(const std::vector<std::string>& names) { return dump(names); }

std::vector<std::string> namesFromJson(const std::string& text) {
    std::vector<std::string> names;
    const Json list = parse(text);
    if (list.is_array())
        for (const Json& name : list)
            if (name.is_string()) names.push_back(name.get<std::string>());
    return names;
}

std::string metricsToJson(const RunMetrics& m) {
    Json utilisation = Json::array();
    for (const double value : m.utilisation) utilisation.push_back(fromNumber(value));
    return dump({{"makespan", fromNumber(m.makespan)}, {"mean_wait", fromNumber(m.meanWait)}, {"p95_wait", fromNumber(m.p95Wait)},
                 {"mean_queue_wait", fromNumber(m.meanQueueWait)}, {"mean_flow", fromNumber(m.meanFlow)},
                 {"bounded_slowdown", fromNumber(m.boundedSlowdown)}, {"utilisation", utilisation},
                 {"imbalance", fromNumber(m.imbalance)}, {"throughput", fromNumber(m.throughput)}});
}

RunMetrics metricsFromJson(const std::string& text) {
    RunMetrics m;
    const Json json = parse(text);
    if (!json.is_object()) return m;
    m.makespan = number(json, "makespan").value_or(0.0);
    m.meanWait = number(json, "mean_wait").value_or(0.0);
    m.p95Wait = number(json, "p95_wait").value_or(0.0);
    m.meanQueueWait = number(json, "mean_queue_wait").value_or(0.0);
    m.meanFlow = number(json, "mean_flow").value_or(0.0);
    m.boundedSlowdown = number(json, "bounded_slowdown").value_or(0.0);
    m.imbalance = number(json, "imbalance").value_or(0.0);
    m.throughput = number(json, "throughput").value_or(0.0);
    if (const auto list = json.find("utilisation"); list != json.end() && list->is_array())
        for (const Json& value : *list) m.utilisation.push_back(toNumber(value));
    return m;
}

std::string deviceFactsToJson(const DeviceInfo& device) {
    Json runtimes = Json::array();
    for (const RuntimeInfo& runtime : device.runtimes)
        runtimes.push_back({{"api", toString(runtime.api)}, {"platform", runtime.platform}, {"name", runtime.name},
                            {"version", runtime.version}, {"driver", runtime.driverVersion}});
    Json facts{{"processor", device.processor}, {"runtimes", runtimes}};
    if (device.computeUnits) facts["compute_units"] = *device.computeUnits;
    if (device.clockMegahertz) facts["clock_MHz"] = *device.clockMegahertz;
    if (device.memoryBytes) facts["memory_bytes"] = *device.memoryBytes;
    if (device.uuid) facts["uuid"] = *device.uuid;
    if (device.pciAddress) facts["pci"] = *device.pciAddress;
    return dump(facts);
}

std::string specWithName(const std::string& document, const std::string& label, JobId id) {
    Json json = parse(document);
    if (!json.is_object() || !json.contains("jobs") || !json["jobs"].is_array() || json["jobs"].empty()) return document;
    json["jobs"][0]["id"] = label.empty() ? fmt::format("t{}", id) : label;
    return dump(json);
}

std::string folded(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

}  // namespace heteroscope::history
