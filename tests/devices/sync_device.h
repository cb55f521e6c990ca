#pragma once

#include "devices/device.h"
#include "devices/machine.h"
#include "devices/opencl/opencl_device.h"
#include "devices/opencl/platforms.h"

#include <sys/mman.h>

#include <cstring>
#include <future>
#include <memory>
#include <vector>

namespace heteroscope {

/// Every OpenCL device there is, opened with these settings.
inline std::vector<std::shared_ptr<Device>> openDevices(opencl::OpenClSettings settings = {}) {
    const Machine machine = Machine::look();
    opencl::Found found = opencl::findDevices(machine);
    std::vector<DeviceInfo*> infos;
    for (auto& device : found.devices) infos.push_back(&device.reported.info);
    identify(infos, machine.cpuName);
    std::vector<std::shared_ptr<Device>> devices;
    for (auto& device : found.devices)
        if (auto opened = opencl::OpenClDevice::open(device.device, device.reported.info, settings)) devices.push_back(*opened);
    return devices;
}

/// The asynchronous calls as calls that wait.
template <class T, class Start>
Result<T> waitFor(Start start) {
    auto answer = std::make_shared<std::promise<Result<T>>>();
    auto future = answer->get_future();
    start([answer](Result<T> result) { answer->set_value(std::move(result)); });
    if (future.wait_for(std::chrono::minutes(5)) != std::future_status::ready)
        return Error{ErrorKind::TimedOut, "no answer within the test's patience"};
    return future.get();
}

inline Result<Program> buildNow(Device& device, ProgramSource source) {
    return waitFor<Program>([&](auto done) { device.build(std::move(source), done); });
}
inline Result<CommandTimes> uploadNow(Device& device, BufferId buffer) {
    return waitFor<CommandTimes>([&](auto done) { device.upload(buffer, done); });
}
inline Result<CommandTimes> downloadNow(Device& device, BufferId buffer) {
    return waitFor<CommandTimes>([&](auto done) { device.download(buffer, done); });
}
inline Result<CommandTimes> launchNow(Device& device, Launch launch) {
    return waitFor<CommandTimes>([&](auto done) { device.launch(std::move(launch), done); });
}

inline ProgramSource sourceOf(std::string text, std::string file = "mine.cl", std::vector<std::string> options = {},
                              std::vector<std::string> includeDirs = {}) {
    return {Language::OpenClC, std::move(text), std::move(file), std::move(options), std::move(includeDirs)};
}

template <class T>
ScalarArgument scalar(const T& value) {
    ScalarArgument argument;
    argument.bytes.resize(sizeof value);
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    return argument;
}

inline NDRange range1(std::size_t global, std::size_t local = 0) {
    NDRange range;
    range.global[0] = global;
    range.local[0] = local;
    return range;
}

/// Page-aligned host memory, as the program's own buffers are. `committed` off: address space only.
class Pages {
public:
    explicit Pages(std::size_t bytes, bool committed = true)
        : bytes_(bytes),
          start_(mmap(nullptr, bytes, committed ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Pages() { munmap(start_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::span<std::byte> bytes() const { return {static_cast<std::byte*>(start_), bytes_}; }
    template <class T>
    T* as() const {
        return static_cast<T*>(start_);
    }

private:
    std::size_t bytes_;
    void* start_;
};

}  // namespace heteroscope
