#include "scheduler/kernel/kernel_json.h"
#include "scheduler/workload/workload.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <unordered_map>

namespace heteroscope {

namespace {

using Json = nlohmann::ordered_json;

/// Hands out each name once: "m", then "m~2".
class Names {
public:
    std::string unique(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}~{}", wanted, i);
        return name;
    }

private:
    std::set<std::string> taken_;
};

Json numberToJson(double value) {
    if (value == std::floor(value) && std::abs(value) <= 0x1p53) return static_cast<std::int64_t>(value);
    return value;
}

double secondsOf(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

Json sourceToJson(const KernelVariant& variant) {
    const ProgramSource& source = variant.source;
    Json json{{"file", source.file}, {"entry", variant.entry}, {"language", toString(variant.language)}};
    if (!source.options.empty()) json["options"] = source.options;
    // The first include folder is the file's own and is added again on reading.
    if (source.includeDirs.size() > 1) json["include"] = std::vector<std::string>(source.includeDirs.begin() + 1, source.includeDirs.end());
    json["text"] = source.text;
    return json;
}

/// Writes jobs and, as they come up, the data that they share.
class WorkloadWriter {
public:
    explicit WorkloadWriter(const std::vector<JobSpec>& jobs) : jobs_(jobs) {
        for (const JobSpec& job : jobs) ids_[job.id] = names_.unique(job.label.empty() ? fmt::format("t{}", job.id) : job.label);
    }

    Json write(const std::string& name) {
        Json jobs = Json::array();
        for (const JobSpec& job : jobs_) jobs.push_back(jobToJson(job));
        Json document{{"format", "heteroscope-workload"}, {"version", 1}, {"name", name}};
        if (!data_.empty()) document["data"] = std::move(data_);
        document["jobs"] = std::move(jobs);
        return document;
    }

private:
    std::string nameOf(const std::shared_ptr<Data>& data) {
        const auto [known, isNew] = dataNames_.try_emplace(data.get());
        if (!isNew) return known->second;
        known->second = dataNameMaker_.unique(data->name());
        Json json{{"type", data->type().name()}, {"count", data->count()}};
        json["fill"] = fillWithAbsolutePath(data->fill(), data->base());
        json["seed"] = data->seed();
        if (!data->savePath.empty()) json["save"] = data->savePath.string();
        // Names are unique here: appending spares the search that operator[] does.
        data_.get_ref<Json::object_t&>().push_back({known->second, std::move(json)});
        return known->second;
    }

    Json bindingToJson(const DataBinding& binding) {
        Json json{{"data", nameOf(binding.data)}, {"access", toString(binding.access)}};
        if (binding.first != 0) json["first"] = binding.first;
        if (binding.count) json["count"] = *binding.count;
        if (binding.newVersion && !binding.version) json["new_version"] = true;
        if (binding.version) json["version"] = nameOf(binding.version);
        return json;
    }

    void addKernel(const JobSpec& job, Json& json) const {
        const Kernel& kernel = *job.kernel;
        if (!kernel.ownSource) {
            json["kernel"] = kernel.id;
            if (!job.parameters.empty()) {
                Json parameters = Json::object();
                for (const auto& [name, value] : job.parameters) parameters[name] = numberToJson(value);
                json["parameters"] = std::move(parameters);
            }
            return;
        }
        json["source"] = sourceToJson(kernel.variants.front());
        Json arguments = Json::array();
        for (const KernelArgument& argument : kernel.arguments) arguments.push_back(Json(kernelArgumentToJson(argument)));
        json["arguments"] = std::move(arguments);
        json["range"] = Json(kernelRangeToJson(kernel.range));
    }

    Json jobToJson(const JobSpec& job) {
        Json json{{"id", ids_.at(job.id)}};
        if (job.kernel) addKernel(job, json);
        for (const auto& [argument, binding] : job.bindings) json["data"][argument] = bindingToJson(binding);
        for (const JobId before : job.after)
            if (const auto known = ids_.find(before); known != ids_.end()) json["after"].push_back(known->second);
        if (job.priority != 0) json["priority"] = job.priority;
        if (!job.device.empty()) json["device"] = job.device;
        if (!job.group.empty()) json["group"] = job.group;
        if (job.seed != 1) json["seed"] = job.seed;
        if (job.check) json["check"] = true;
        if (job.keepOutputs) json["keep_outputs"] = true;
        for (const auto& [argument, file] : job.save) json["save"][argument] = file.string();
        if (job.arrival.count() != 0) json["arrival_s"] = secondsOf(job.arrival);
        if (job.timeout.count() != 0) json["timeout_s"] = secondsOf(job.timeout);
        return json;
    }

    const std::vector<JobSpec>& jobs_;
    Names names_;
    Names dataNameMaker_;
    std::unordered_map<JobId, std::string> ids_;
    std::unordered_map<const Data*, std::string> dataNames_;
    Json data_ = Json::object();
};

}  // namespace

std::string jobsToWorkloadJson(const std::vector<JobSpec>& jobs, const std::string& name) {
    // Text that is no UTF-8 (a path) is written with replacement characters rather than not at all.
    return WorkloadWriter(jobs).write(name).dump(jobs.size() == 1 ? -1 : 1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heteroscope
