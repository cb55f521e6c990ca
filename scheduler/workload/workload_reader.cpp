// Reads a document in passes, so that a job may name another one further down: platform and data; every job's id;
// every job for itself; then what stands between jobs (after, inputs); last the order that shared data implies.

#include "scheduler/kernel/json_node.h"
#include "scheduler/kernel/kernel_json.h"
#include "scheduler/kernel/launch_plan.h"
#include "scheduler/kernel/own_source.h"
#include "scheduler/kernel/text_file.h"
#include "scheduler/kernel/wording.h"
#include "scheduler/workload/data_access.h"
#include "scheduler/workload/job_order.h"
#include "scheduler/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace heteroscope {

namespace {

constexpr std::uint64_t largestWorkloadFile = std::uint64_t{256} << 20;
constexpr std::size_t worthLookingFirst = std::size_t{1} << 20;
constexpr double longestSeconds = 1e9;

double seconds(const JsonNode& node) {
    const double value = node.number("seconds from 0");
    if (value < 0 || value > longestSeconds) node.fail("seconds from 0 to 1e9");
    return value;
}

template <class Map>
std::vector<std::string> keysOf(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : map) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    return keys;
}

/// An `inputs` entry: argument ← what another job makes, or data.
struct Input {
    std::string argument;
    std::string from;
    JsonNode place;
};

/// What a job needs while others are still being read.
struct PendingJob {
    JsonNode node;
    std::shared_ptr<LaunchPlan> plan;  ///< with a kernel
    std::vector<Input> inputs;
};

class WorkloadReader {
public:
    WorkloadReader(std::filesystem::path base, const KernelCatalogue& kernels) : base_(std::move(base)), kernels_(kernels) {}

    void read(const JsonNode& root);
    Workload workload;

private:
    void wantFormat(const JsonNode& root) const;
    void readPlatform(const JsonNode& node);
    PlatformDevice readDevice(const JsonNode& node) const;
    void readLink(const JsonNode& node);
    void readData(const JsonNode& node);
    void readIds(const JsonNode& jobs);
    void readJob(std::size_t position);
    void readKernelJob(PendingJob& pending, WorkloadJob& job);
    void readSourceJob(PendingJob& pending, WorkloadJob& job);
    KernelArgument readOwnArgument(const JsonNode& node, std::size_t position, WorkloadJob& job);
    void readCosts(const JsonNode& node, WorkloadJob& job) const;
    void readSettings(const JsonNode& node, WorkloadJob& job) const;
    void readParameters(const JsonNode& node, WorkloadJob& job) const;
    void planJob(PendingJob& pending, WorkloadJob& job);
    DataBinding readBinding(const JsonNode& node, Access access) const;
    void readBindings(const PendingJob& pending, const JsonNode& node, WorkloadJob& job) const;
    void checkBinding(const PendingJob& pending, const std::string& argument, const DataBinding& binding, const JsonNode& place) const;
    const PlannedArgument& bufferOf(const PendingJob& pending, const std::string& name, const JsonNode& place) const;
    void readAfter(std::size_t position);
    std::optional<std::pair<std::size_t, std::string>> producerOf(const Input& input) const;
    void addEdge(std::size_t position, std::size_t before, double transferSeconds);
    void refuseCycles() const;
    void bindInputs();
    void bindInput(std::size_t position, const Input& input);
    DataBinding outputOf(std::size_t producer, const std::string& argument, const JsonNode& place);
    void addImpliedEdges();
    std::size_t jobNamed(const std::string& id, const JsonNode& place) const;
    std::shared_ptr<Data> dataNamed(const std::string& name, const JsonNode& place) const;
    std::filesystem::path pathOf(const JsonNode& node) const;
    std::vector<std::vector<std::size_t>> positionsAfter() const;

    std::filesystem::path base_;
    const KernelCatalogue& kernels_;
    std::vector<PendingJob> pending_;
    std::unordered_map<std::string, std::size_t> positions_;  // by job id
};

void WorkloadReader::wantFormat(const JsonNode& root) const {
    constexpr const char* expected = "\"format\": \"heteroscope-workload\"";
    if (!root.isObject()) root.failWith(fmt::format("not a workload file: found {}; an object with {} is expected", root.shown(), expected));
    const auto format = root.find("format");
    if (!format) root.failWith(fmt::format("not a workload file: missing {}", expected));
    if (!format->isString() || format->text() != "heteroscope-workload")
        root.failWith(fmt::format("not a workload file: \"format\" is {}; {} is expected", format->shown(), expected));
    const JsonNode version = root.at("version", "the format's version, 1,");
    if (version.whole("version 1") != 1) version.fail("version 1");
}

void WorkloadReader::read(const JsonNode& root) {
    wantFormat(root);
    root.warnUnknown({"format", "version", "name", "description", "platform", "data", "jobs"});
    if (const auto name = root.find("name")) workload.name = name->text();
    if (const auto platform = root.find("platform")) readPlatform(*platform);
    if (const auto data = root.find("data")) readData(*data);
    readIds(root.at("jobs", "a list of jobs"));
    for (std::size_t i = 0; i < pending_.size(); ++i) readJob(i);
    for (std::size_t i = 0; i < pending_.size(); ++i) readAfter(i);
    refuseCycles();
    bindInputs();
    addImpliedEdges();
}

std::filesystem::path WorkloadReader::pathOf(const JsonNode& node) const {
    const std::string text = node.text("the path of a file");
    if (text.empty()) node.fail("the path of a file");
    return absolutePath(text, base_);
}

// --- platform and data -------------------------------------------------------------------------------------------

PlatformDevice WorkloadReader::readDevice(const JsonNode& node) const {
    node.warnUnknown({"id", "kind", "memory_bytes", "idle_W", "busy_W"});
    PlatformDevice device;
    const JsonNode id = node.at("id", "the device's name");
    device.id = id.text("the device's name");
    if (device.id.empty() || device.id == "*") id.fail("the device's name");
    if (const auto kind = node.find("kind")) {
        const std::string word = kind->text("cpu, gpu or accelerator");
        if (word != "cpu" && word != "gpu" && word != "accelerator") kind->fail("cpu, gpu or accelerator");
        device.kind = word == "gpu" ? DeviceKind::Gpu : word == "accelerator" ? DeviceKind::Accelerator : DeviceKind::Cpu;
    }
    if (const auto memory = node.find("memory_bytes")) device.memoryBytes = memory->whole("bytes");
    for (const auto& [key, watts] : {std::pair{"idle_W", &device.idleWatts}, std::pair{"busy_W", &device.busyWatts}}) {
        const auto found = node.find(key);
        if (!found) continue;
        *watts = found->number("watts from 0");
        if (**watts < 0) found->fail("watts from 0");
    }
    return device;
}

void WorkloadReader::readLink(const JsonNode& node) {
    node.warnUnknown({"from", "to", "latency_us", "bandwidth_GBps"});
    PlatformLink link;
    std::vector<std::string> ends{"*", "host"};
    for (const PlatformDevice& device : workload.devices) ends.push_back(device.id);
    for (const auto& [key, end] : {std::pair{"from", &link.from}, std::pair{"to", &link.to}}) {
        const JsonNode found = node.at(key, "a device of the platform, host or *");
        *end = found.text("a device of the platform, host or *");
        if (std::find(ends.begin(), ends.end(), *end) == ends.end())
            found.failWith(fmt::format("unknown device \"{}\"{}", shortened(*end), hintFor(*end, ends)));
    }
    if (const auto latency = node.find("latency_us")) link.latencyMicroseconds = latency->number("microseconds from 0");
    const JsonNode bandwidth = node.at("bandwidth_GBps", "the bandwidth in GB/s");
    link.bandwidthGBps = bandwidth.number("a bandwidth above 0");
    if (link.latencyMicroseconds < 0) node.at("latency_us", "").fail("microseconds from 0");
    if (link.bandwidthGBps <= 0) bandwidth.fail("a bandwidth above 0");
    workload.links.push_back(std::move(link));
}

void WorkloadReader::readPlatform(const JsonNode& node) {
    node.warnUnknown({"devices", "links"});
    const JsonNode devices = node.at("devices", "a list of devices");
    std::set<std::string> ids;
    for (const JsonNode& device : devices.elements("a list of devices")) {
        workload.devices.push_back(readDevice(device));
        if (!ids.insert(workload.devices.back().id).second)
            device.failWith(fmt::format("a second device \"{}\"", workload.devices.back().id));
    }
    if (workload.devices.empty()) devices.fail("at least one device");
    if (const auto links = node.find("links"))
        for (const JsonNode& link : links->elements("a list of links")) readLink(link);
}

void WorkloadReader::readData(const JsonNode& node) {
    for (const auto& [name, entry] : node.members("an object of data")) {
        entry.warnUnknown({"type", "count", "fill", "seed", "save"});
        if (name.empty()) entry.failWith("data without a name");
        const ElementType type = readElementType(entry.at("type", "the elements' type"));
        const JsonNode countNode = entry.at("count", "the number of elements");
        const std::uint64_t count = countNode.whole("a number of elements from 1");
        if (count == 0) countNode.fail("a number of elements from 1");
        if (count > (std::uint64_t{1} << 48)) countNode.failWith(fmt::format("{} elements of {} are beyond any memory", count, type.name()));
        std::string fill = "zeros";
        if (const auto found = entry.find("fill")) {
            fill = fillWithAbsolutePath(found->text("a fill such as zeros, iota or uniform(0,1)"), base_);
            if (const Status fine = checkFill(fill, type, count, {}); !fine) found->failWith(fine.error().message);
        }
        std::uint64_t seed = 1;
        if (const auto found = entry.find("seed")) seed = found->whole();
        auto data = std::make_shared<Data>(name, type, count, fill, seed, base_);
        if (const auto save = entry.find("save")) data->savePath = pathOf(*save);
        workload.data[name] = std::move(data);
    }
}

std::shared_ptr<Data> WorkloadReader::dataNamed(const std::string& name, const JsonNode& place) const {
    if (const auto found = workload.data.find(name); found != workload.data.end()) return found->second;
    place.failWith(fmt::format("unknown data \"{}\"{}", shortened(name), hintFor(name, keysOf(workload.data))));
}

// --- one job -----------------------------------------------------------------------------------------------------

void WorkloadReader::readIds(const JsonNode& jobs) {
    for (const JsonNode& node : jobs.elements("a list of jobs")) {
        if (!node.isObject()) node.fail("a job, an object");
        WorkloadJob job;
        job.id = fmt::format("t{}", workload.jobs.size() + 1);
        if (const auto id = node.find("id")) job.id = id->text("the job's name");
        if (job.id.empty()) node.failWith("a job's \"id\" is empty");
        if (const auto [first, isNew] = positions_.try_emplace(job.id, workload.jobs.size()); !isNew)
            node.failWith(fmt::format("a second job \"{}\"; the first is /jobs/{}", shortened(job.id), first->second));
        workload.jobs.push_back(std::move(job));
        pending_.push_back({node, nullptr, {}});
    }
    if (workload.jobs.empty()) jobs.fail("at least one job");
}

std::size_t WorkloadReader::jobNamed(const std::string& id, const JsonNode& place) const {
    if (const auto found = positions_.find(id); found != positions_.end()) return found->second;
    place.failWith(fmt::format("unknown job \"{}\"{}", shortened(id), hintFor(id, keysOf(positions_))));
}

void WorkloadReader::readCosts(const JsonNode& node, WorkloadJob& job) const {
    for (const auto& [device, cost] : node.members("an object of seconds by device")) {
        std::vector<std::string> ids;
        for (const PlatformDevice& known : workload.devices) ids.push_back(known.id);
        if (!ids.empty() && std::find(ids.begin(), ids.end(), device) == ids.end())
            cost.failWith(fmt::format("unknown device \"{}\"{}", shortened(device), hintFor(device, ids)));
        job.costSeconds[device] = seconds(cost);
    }
    if (job.costSeconds.empty()) node.fail("seconds for at least one device");
}

void WorkloadReader::readSettings(const JsonNode& node, WorkloadJob& job) const {
    if (const auto cost = node.find("cost_s")) readCosts(*cost, job);
    if (const auto priority = node.find("priority")) {
        const std::int64_t value = priority->integer();
        if (std::abs(value) > 1'000'000) priority->fail("a whole number from -1000000 to 1000000");
        job.priority = static_cast<int>(value);
    }
    if (const auto arrival = node.find("arrival_s")) job.arrivalSeconds = seconds(*arrival);
    if (const auto timeout = node.find("timeout_s")) job.timeoutSeconds = seconds(*timeout);
    if (const auto device = node.find("device")) job.device = device->text("a device's id");
    if (const auto group = node.find("group")) job.group = group->text();
    if (const auto check = node.find("check")) job.check = check->boolean();
    if (const auto keep = node.find("keep_outputs")) job.keepOutputs = keep->boolean();
    if (const auto seed = node.find("seed")) job.seed = seed->whole();
}

void WorkloadReader::readParameters(const JsonNode& node, WorkloadJob& job) const {
    for (const auto& [name, value] : node.members("an object of parameters")) job.parameters[name] = value.number();
}

void WorkloadReader::planJob(PendingJob& pending, WorkloadJob& job) {
    auto plan = planLaunch(job.kernel, job.parameters);
    if (!plan) pending.node.failWith(plan.error().message);
    pending.plan = std::make_shared<LaunchPlan>(std::move(*plan));
}

void WorkloadReader::readKernelJob(PendingJob& pending, WorkloadJob& job) {
    const JsonNode name = pending.node.at("kernel", "the id of a kernel");
    job.kernel = kernels_.find(name.text("the id of a kernel"));
    if (!job.kernel) {
        std::vector<std::string> ids;
        for (const KernelPtr& kernel : kernels_.kernels()) ids.push_back(kernel->id);
        name.failWith(fmt::format("unknown kernel \"{}\"{}", shortened(name.text()), hintFor(name.text(), ids)));
    }
    if (const auto parameters = pending.node.find("parameters")) readParameters(*parameters, job);
    planJob(pending, job);
}

/// An argument of a job with its own source: bound to data, or as in a package.
KernelArgument WorkloadReader::readOwnArgument(const JsonNode& node, std::size_t position, WorkloadJob& job) {
    const std::string defaultName = fmt::format("arg{}", position);
    if (!node.find("data")) {
        KernelArgument argument = readKernelArgument(node, defaultName);
        argument.fill = fillWithAbsolutePath(argument.fill, base_);
        return argument;
    }
    node.warnUnknown({"name", "data", "access", "first", "count", "new_version"});
    KernelArgument argument;
    argument.name = defaultName;
    if (const auto name = node.find("name")) argument.name = name->text("the argument's name");
    DataBinding binding = readBinding(node, Access::ReadWrite);
    argument.kind = KernelArgument::Kind::Buffer;
    argument.type = binding.data->type();
    argument.count = std::to_string(binding.count.value_or(binding.data->count() - binding.first));
    argument.access = binding.access;
    job.bindings[argument.name] = std::move(binding);
    return argument;
}

std::vector<std::uint64_t> sizesOf(const std::vector<std::string>& expressions, const JsonNode& place) {
    std::vector<std::uint64_t> sizes;
    for (const std::string& expression : expressions) {
        const auto size = evaluateCount(expression, {});
        if (!size) place.failWith(size.error().message);
        sizes.push_back(*size);
    }
    return sizes;
}

void WorkloadReader::readSourceJob(PendingJob& pending, WorkloadJob& job) {
    const JsonNode node = pending.node.at("source", "an object with \"file\" and \"entry\"");
    node.warnUnknown({"file", "text", "language", "entry", "options", "include"});
    OwnSource source;
    if (const auto text = node.find("text")) source.text = text->text("the source itself");
    if (const auto language = node.find("language")) {
        const std::string word = language->text("opencl-c or cuda");
        if (word != "opencl-c" && word != "cuda") language->fail("opencl-c or cuda");
        source.language = word == "cuda" ? Language::CudaCpp : Language::OpenClC;
    }
    const auto file = node.find("file");
    if (!file && !source.text) node.failWith("missing \"file\": the path of a .cl or .cu file is expected");
    source.file = file ? pathOf(*file) : base_ / (source.language == Language::CudaCpp ? "source.cu" : "source.cl");
    source.entry = node.at("entry", "the name of the kernel in the file").text();
    if (const auto options = node.find("options")) source.options = readTexts(*options, "a list of options");
    if (const auto include = node.find("include"))
        for (const std::string& folder : readTexts(*include, "a list of folders")) source.includes.push_back(absolutePath(folder, base_));

    const JsonNode rangeNode = pending.node.at("range", "an object with \"global\"");
    const KernelRange range = readKernelRange(rangeNode);
    source.global = sizesOf(range.global, rangeNode);
    source.local = sizesOf(range.local, rangeNode);
    source.offset = sizesOf(range.offset, rangeNode);
    source.guarded = range.guarded;
    if (const auto arguments = pending.node.find("arguments"))
        for (const JsonNode& argument : arguments->elements("a list of arguments"))
            source.arguments.push_back(readOwnArgument(argument, source.arguments.size(), job));
    if (const auto parameters = pending.node.find("parameters"); parameters && !parameters->value().empty())
        parameters->failWith("a job with its own source has no parameters");
    auto kernel = makeOwnKernel(source);
    if (!kernel) node.failWith(kernel.error().message);
    job.kernel = *kernel;
    planJob(pending, job);
}

void WorkloadReader::readJob(std::size_t position) {
    PendingJob& pending = pending_[position];
    WorkloadJob& job = workload.jobs[position];
    const JsonNode& node = pending.node;
    node.warnUnknown({"id", "kernel", "parameters", "source", "arguments", "range", "data", "inputs", "after", "cost_s", "arrival_s",
                      "priority", "device", "group", "check", "keep_outputs", "seed", "save", "timeout_s"});
    readSettings(node, job);
    const bool hasKernel = node.find("kernel").has_value();
    const bool hasSource = node.find("source").has_value();
    if (hasKernel && hasSource) node.failWith("has both \"kernel\" and \"source\"; one of them is expected");
    if (hasKernel) readKernelJob(pending, job);
    if (hasSource) readSourceJob(pending, job);
    if (!job.kernel) {
        if (job.costSeconds.empty()) node.failWith("nothing to do: \"kernel\", \"source\" or \"cost_s\" is expected");
        for (const char* key : {"parameters", "arguments", "range", "data", "inputs", "save"})
            if (const auto found = node.find(key)) found->failWith("has no meaning without \"kernel\" or \"source\"");
        return;
    }
    if (const auto data = node.find("data")) readBindings(pending, *data, job);
    for (const auto& [name, binding] : job.bindings) checkBinding(pending, name, binding, node);
    if (const auto inputs = node.find("inputs"))
        for (const auto& [argument, from] : inputs->members("an object of inputs by argument")) {
            bufferOf(pending, argument, from);
            if (job.bindings.contains(argument)) from.failWith(fmt::format("argument \"{}\" is bound to data already", argument));
            pending.inputs.push_back({argument, from.text("a job's output such as \"t1.c\", or the name of data"), from});
        }
    if (const auto save = node.find("save"))
        for (const auto& [argument, file] : save->members("an object of files by argument")) {
            bufferOf(pending, argument, file);
            job.save[argument] = pathOf(file);
        }
}

const PlannedArgument& WorkloadReader::bufferOf(const PendingJob& pending, const std::string& name, const JsonNode& place) const {
    std::vector<std::string> names;
    for (const PlannedArgument& planned : pending.plan->arguments) {
        if (planned.argument->kind != KernelArgument::Kind::Buffer) continue;
        if (planned.argument->name == name) return planned;
        names.push_back(planned.argument->name);
    }
    place.failWith(fmt::format("{} has no buffer \"{}\"{}", pending.plan->kernel->id, shortened(name), hintFor(name, names)));
}

DataBinding WorkloadReader::readBinding(const JsonNode& node, Access access) const {
    DataBinding binding;
    binding.access = access;
    if (node.isString()) {
        binding.data = dataNamed(node.text(), node);
        return binding;
    }
    const JsonNode name = node.at("data", "the name of data");
    binding.data = dataNamed(name.text("the name of data"), name);
    if (const auto found = node.find("access")) binding.access = readAccess(*found);
    if (const auto first = node.find("first")) binding.first = first->whole();
    if (const auto count = node.find("count")) binding.count = count->whole("a number of elements from 1");
    if (const auto version = node.find("new_version")) binding.newVersion = version->boolean();
    if (const auto version = node.find("version")) {
        binding.version = dataNamed(version->text("the name of data"), *version);
        binding.newVersion = true;
    }
    const std::uint64_t total = binding.data->count();
    if (binding.first >= total)
        node.failWith(fmt::format("first {}: data \"{}\" has {} elements", binding.first, binding.data->name(), total));
    if (binding.count && (*binding.count == 0 || *binding.count > total - binding.first))
        node.failWith(fmt::format("count {} from {}: data \"{}\" has {} elements", *binding.count, binding.first, binding.data->name(), total));
    return binding;
}

void WorkloadReader::readBindings(const PendingJob& pending, const JsonNode& node, WorkloadJob& job) const {
    for (const auto& [argument, entry] : node.members("an object of data by argument")) {
        const Access access = bufferOf(pending, argument, entry).argument->access;
        if (entry.isObject()) entry.warnUnknown({"data", "first", "count", "access", "new_version", "version"});
        if (job.bindings.contains(argument)) entry.failWith(fmt::format("argument \"{}\" is bound to data already", argument));
        job.bindings[argument] = readBinding(entry, access);
    }
}

void WorkloadReader::checkBinding(const PendingJob& pending, const std::string& argument, const DataBinding& binding,
                                  const JsonNode& place) const {
    const PlannedArgument& planned = bufferOf(pending, argument, place);
    const ElementType wanted = planned.argument->type;
    if (!(binding.data->type() == wanted))
        place.failWith(fmt::format("argument \"{}\" takes {}, data \"{}\" is {}", argument, wanted.name(), binding.data->name(),
                                   binding.data->type().name()));
    // Otherwise what the kernel reads would not be there, or what it writes be lost.
    const bool lacksRead = planned.argument->access != Access::Write && binding.access == Access::Write;
    const bool lacksWrite = planned.argument->access != Access::Read && binding.access == Access::Read;
    if (lacksRead || lacksWrite)
        place.failWith(fmt::format("argument \"{}\" is {}, bound with access {}", argument, toString(planned.argument->access), toString(binding.access)));
    const std::uint64_t count = binding.count.value_or(binding.data->count() - binding.first);
    if (count != planned.count)
        place.failWith(fmt::format("argument \"{}\" takes {} elements, data \"{}\" gives {}", argument, planned.count, binding.data->name(), count));
    if (binding.version && (!(binding.version->type() == wanted) || binding.version->count() != count))
        place.failWith(fmt::format("argument \"{}\" takes {} elements of {}, its version \"{}\" has {} of {}", argument, count, wanted.name(),
                                   binding.version->name(), binding.version->count(), binding.version->type().name()));
}

// --- between jobs ------------------------------------------------------------------------------------------------

void WorkloadReader::addEdge(std::size_t position, std::size_t before, double transferSeconds) {
    std::vector<WorkloadEdge>& after = workload.jobs[position].after;
    const auto known = std::find_if(after.begin(), after.end(), [&](const WorkloadEdge& edge) { return edge.job == before; });
    if (known == after.end())
        after.push_back({before, transferSeconds});
    else
        known->transferSeconds = std::max(known->transferSeconds, transferSeconds);
}

/// Whose output an input names ("t1.c"); nothing when it names data.
std::optional<std::pair<std::size_t, std::string>> WorkloadReader::producerOf(const Input& input) const {
    if (workload.data.contains(input.from)) return {};
    const std::size_t dot = input.from.rfind('.');
    if (dot == std::string::npos) {
        dataNamed(input.from, input.place);  // says that there is none
        return {};
    }
    return std::pair{jobNamed(input.from.substr(0, dot), input.place), input.from.substr(dot + 1)};
}

void WorkloadReader::readAfter(std::size_t position) {
    const PendingJob& pending = pending_[position];
    if (const auto after = pending.node.find("after")) {
        for (const JsonNode& entry : after->elements("a list of jobs")) {
            if (entry.isString()) {
                addEdge(position, jobNamed(entry.text(), entry), 0);
                continue;
            }
            if (!entry.isObject()) entry.fail("a job's id, or an object with \"job\" and \"transfer_s\"");
            entry.warnUnknown({"job", "transfer_s"});
            const JsonNode job = entry.at("job", "a job's id");
            const auto transfer = entry.find("transfer_s");
            addEdge(position, jobNamed(job.text("a job's id"), job), transfer ? seconds(*transfer) : 0);
        }
    }
    for (const Input& input : pending.inputs)
        if (const auto producer = producerOf(input)) addEdge(position, producer->first, 0);
}

std::vector<std::vector<std::size_t>> WorkloadReader::positionsAfter() const {
    std::vector<std::vector<std::size_t>> after(workload.jobs.size());
    for (std::size_t i = 0; i < after.size(); ++i)
        for (const WorkloadEdge& edge : workload.jobs[i].after) after[i].push_back(edge.job);
    return after;
}

void WorkloadReader::refuseCycles() const {
    const auto cycle = findCycle(positionsAfter());
    if (!cycle) return;
    constexpr std::size_t mostShown = 20;
    std::vector<std::string> names;
    for (const std::size_t position : *cycle) names.push_back(workload.jobs[position].id);
    if (names.size() > mostShown + 1) {
        const std::size_t left = names.size() - 1 - mostShown;
        names.erase(names.begin() + mostShown, names.end() - 1);
        names.insert(names.end() - 1, fmt::format("… {} more", left));
    }
    pending_[cycle->front()].node.failWith(fmt::format("the jobs wait for each other: {}", fmt::join(names, " → ")));
}

/// The datum that a job leaves in an argument; bound to one here when it had none.
DataBinding WorkloadReader::outputOf(std::size_t producer, const std::string& argument, const JsonNode& place) {
    const PendingJob& pending = pending_[producer];
    WorkloadJob& job = workload.jobs[producer];
    if (!job.kernel) place.failWith(fmt::format("job \"{}\" has no kernel, so it makes no data", job.id));
    const PlannedArgument& planned = bufferOf(pending, argument, place);
    if (planned.argument->access == Access::Read)
        place.failWith(fmt::format("job \"{}\" only reads \"{}\": it is no output", job.id, argument));
    const std::string name = fmt::format("{}.{}", job.id, argument);
    const auto make = [&](const std::string& fill) {
        auto data = std::make_shared<Data>(name, planned.argument->type, planned.count, fill, job.seed, job.kernel->folder);
        workload.data[name] = data;
        return data;
    };
    if (const auto bound = job.bindings.find(argument); bound != job.bindings.end()) {
        DataBinding& binding = bound->second;
        if (!binding.newVersion) return binding;
        if (!binding.version) binding.version = make("zeros");
        return {binding.version, Access::Read, 0, {}, false, nullptr};
    }
    const auto fill = fillWithNumbers(planned.argument->fill, pending.plan->parameters);
    if (!fill) place.failWith(fill.error().message);
    DataBinding binding{make(fillWithAbsolutePath(*fill, job.kernel->folder)), planned.argument->access, 0, {}, false, nullptr};
    job.bindings[argument] = binding;
    return binding;
}

void WorkloadReader::bindInput(std::size_t position, const Input& input) {
    const PlannedArgument& planned = bufferOf(pending_[position], input.argument, input.place);
    if (planned.argument->access == Access::Write)
        input.place.failWith(fmt::format("argument \"{}\" is only written: it takes no input", input.argument));
    DataBinding binding;
    if (const auto producer = producerOf(input))
        binding = outputOf(producer->first, producer->second, input.place);
    else
        binding.data = dataNamed(input.from, input.place);
    binding.access = planned.argument->access;
    binding.newVersion = planned.argument->access == Access::ReadWrite;
    binding.version = nullptr;
    checkBinding(pending_[position], input.argument, binding, input.place);
    workload.jobs[position].bindings[input.argument] = std::move(binding);
}

void WorkloadReader::bindInputs() {
    // Producers before consumers: what t3 takes from t2 may be t2's version of what it takes from t1.
    for (const std::size_t position : topologicalOrder(positionsAfter()))
        for (const Input& input : pending_[position].inputs) bindInput(position, input);
}

void WorkloadReader::addImpliedEdges() {
    DataAccesses accesses;
    for (const std::size_t position : topologicalOrder(positionsAfter())) {
        std::set<std::size_t> before;
        for (const WorkloadEdge& edge : workload.jobs[position].after) before.insert(edge.job);
        accesses.add(position, workload.jobs[position].bindings, [&](std::size_t other) {
            if (before.insert(other).second) workload.jobs[position].after.push_back({other, 0});
        });
    }
}

Result<Workload> parse(const std::string& text, const std::filesystem::path& base, const KernelCatalogue& kernels,
                       const std::string& document, std::string defaultName) {
    // A large file of another kind is told by a search, not by taking it apart.
    if (text.size() > worthLookingFirst && text.find("heteroscope-workload") == std::string::npos)
        return Error{ErrorKind::InvalidInput, fmt::format("{}: not a workload file: missing \"format\": \"heteroscope-workload\"", document), document};
    const auto json = parseJson(text, document);
    if (!json) return json.error();
    std::vector<std::string> warnings;
    try {
        WorkloadReader reader(absolutePath(base), kernels);
        reader.workload.name = std::move(defaultName);
        reader.read(JsonNode(*json, "", document, warnings));
        reader.workload.warnings = std::move(warnings);
        return std::move(reader.workload);
    } catch (const JsonProblem& problem) {
        return problem.error;
    }
}

}  // namespace

Result<Workload> readWorkload(const std::filesystem::path& file, const KernelCatalogue& kernels) {
    const auto text = readTextFile(file, largestWorkloadFile);
    if (!text) return text.error();
    std::string name = file.stem().string();
    if (name.ends_with(".workload")) name.resize(name.size() - 9);
    return parse(text->text, file.parent_path().empty() ? "." : file.parent_path(), kernels, file.string(), std::move(name));
}

Result<Workload> parseWorkload(const std::string& text, const std::filesystem::path& base, const KernelCatalogue& kernels) {
    auto normal = normalisedText(text, "workload");
    if (!normal) return normal.error();
    return parse(normal->text, base, kernels, "workload", {});
}

}  // namespace heteroscope
