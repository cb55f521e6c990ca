// What discovery gives in this process' environment, as one JSON document on standard output.
//   device_probe             devices and problems
//   device_probe upload      also two uploads to each device: the kinds of their errors
//   device_probe build N     also N kernels built and run on each device: how many gave the right value, and the first error
#include "devices/discovery.h"
#include "tests/devices/sync_device.h"

#include <nlohmann/json.hpp>

#include <iostream>
#include <string>

using namespace heteroscope;

namespace {

nlohmann::json uploads(Device& device) {
    const Pages page(4096);
    const BufferId buffer = device.allocate(page.bytes());
    nlohmann::json outcomes = nlohmann::json::array();
    for (int i = 0; i < 2; ++i) {
        const Result<CommandTimes> result = uploadNow(device, buffer);
        outcomes.push_back(result ? "done" : std::string(toString(result.error().kind)) + ": " + result.error().message);
    }
    return outcomes;
}

bool runsRight(Device& device, int value, std::string& error) {
    const std::string text = "__kernel void store(__global int* out) { out[get_global_id(0)] = " + std::to_string(value) + "; }\n";
    const Result<Program> program = buildNow(device, sourceOf(text, "store.cl"));
    if (!program) {
        error = program.error().message + "\n" + program.error().log;
        return false;
    }
    const Pages out(4096);
    const BufferId buffer = device.allocate(out.bytes());
    const Result<CommandTimes> ran = launchNow(device, {program->id, "store", {BufferArgument{buffer}}, range1(64)});
    const Result<CommandTimes> back = downloadNow(device, buffer);
    device.release(buffer);
    if (!ran) error = ran.error().message;
    return ran && back && out.as<int>()[63] == value;
}

nlohmann::json builds(Device& device, int count) {
    int right = 0;
    std::string error;
    for (int i = 0; i < count; ++i) right += runsRight(device, i, error) ? 1 : 0;
    return {{"right", right}, {"error", error}};
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    nlohmann::json report{{"devices", nlohmann::json::array()}, {"problems", nlohmann::json::array()}};
    {
        const Discovery discovery = discoverDevices();
        for (const auto& device : discovery.devices) {
            const DeviceInfo& info = device->info();
            nlohmann::json entry{{"id", info.id}, {"name", info.name}, {"shortName", info.shortName}, {"processor", info.processor}, {"runtimes", info.runtimes.size()}};
            entry["computeUnits"] = info.computeUnits ? nlohmann::json(*info.computeUnits) : nlohmann::json();
            if (command == "upload") entry["uploads"] = uploads(*device);
            if (command == "build" && argc > 2) entry["builds"] = builds(*device, std::stoi(argv[2]));
            report["devices"].push_back(std::move(entry));
        }
        for (const DeviceProblem& problem : discovery.problems) report["problems"].push_back({{"what", problem.what}, {"fix", problem.fix}});
    }
    std::cout << report.dump() << std::endl;
    return 0;
}
