#pragma once

#include "scheduler/engine.h"
#include "scheduler/kernel/kernel.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heteroscope {

struct PlatformDevice {
    std::string id;
    DeviceKind kind = DeviceKind::Cpu;
    std::optional<std::uint64_t> memoryBytes;
    std::optional<double> idleWatts, busyWatts;
};
struct PlatformLink {
    std::string from, to;
    double latencyMicroseconds = 0, bandwidthGBps = 0;
};

struct WorkloadEdge {
    std::size_t job = 0;  ///< position of the one before
    double transferSeconds = 0;
};

/// One job of a file. Abstract ones have costs only; with a kernel it runs for real too.
struct WorkloadJob {
    std::string id;
    KernelPtr kernel;
    Parameters parameters;
    std::map<std::string, DataBinding> bindings;
    std::map<std::string, double> costSeconds;  ///< device id → s
    std::vector<WorkloadEdge> after;            ///< stated ones and those implied by data
    int priority = 0;
    double arrivalSeconds = 0;
    std::string device;
    std::string group;
    bool check = false;
    bool keepOutputs = false;
    double timeoutSeconds = 0;  ///< 0: none
    std::uint64_t seed = 1;
    std::map<std::string, std::filesystem::path> save;
};

/// Jobs with arrival times and dependencies, the data they share, and optionally the platform they are meant for.
struct Workload {
    std::string name;
    std::vector<PlatformDevice> devices;
    std::vector<PlatformLink> links;
    std::map<std::string, std::shared_ptr<Data>> data;
    std::vector<WorkloadJob> jobs;
    std::vector<std::string> warnings;  ///< unknown fields by name

    bool runnable() const;  ///< every job has a kernel
    /// Templates for Engine::submit or ComparisonRequest: id = position + 1. Fresh Data for each call, so that
    /// two runs never share buffers.
    std::vector<JobSpec> jobSpecs() const;
};

/// Reads a workload document. Errors: file, JSON pointer or line, found and expected; a cycle is written out
/// ("t1 → t2 → t1"); "not a workload file: missing format" for JSON of another kind. Nothing is half read.
Result<Workload> readWorkload(const std::filesystem::path& file, const KernelCatalogue& kernels);
Result<Workload> parseWorkload(const std::string& text, const std::filesystem::path& base, const KernelCatalogue& kernels);

/// The workload document of these jobs (ids become labels t<ID> where they have none): what history keeps for each
/// job, and what "save queue" writes. Own sources are written whole, so that they run again when the file is gone.
std::string jobsToWorkloadJson(const std::vector<JobSpec>& jobs, const std::string& name);

/// Dependencies implied by access to shared data: overlapping ranges, one of them written, in order of position
/// (a job stands behind those of its `after` in that order, even if they have a higher position).
void addImpliedDependencies(std::vector<JobSpec>& jobs);

}  // namespace heteroscope
