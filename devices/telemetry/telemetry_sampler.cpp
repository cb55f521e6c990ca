#include "devices/telemetry/telemetry.h"

#include "devices/device.h"
#include "devices/telemetry/cpu_sensors.h"
#include "devices/telemetry/cpu_usage.h"
#include "devices/telemetry/memory_usage.h"
#include "devices/telemetry/own_profile.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace heteroscope {
namespace {

using telemetry::TimePoint;

void add(TelemetryFrame& frame, const char* name, Reading reading) { frame.readings.push_back({name, std::move(reading)}); }

void add(TelemetryFrame& frame, const char* name, const std::optional<Reading>& reading) {
    if (reading) add(frame, name, *reading);
}

/// The host processor, shared by every CPU device.
class HostProcessor {
public:
    explicit HostProcessor(std::string root) : root_(std::move(root)) {}

    std::vector<NamedReading> sample(TimePoint now) {
        TelemetryFrame frame;
        const telemetry::MemoryUsage memory = telemetry::MemoryUsage::sample(root_, now);
        add(frame, metric::utilisation, usage_.sample(root_, now));
        add(frame, metric::memoryUsed, memory.used);
        add(frame, metric::memoryTotal, memory.total);
        add(frame, metric::power, power_.sample(root_, now));
        add(frame, metric::temperature, telemetry::sampleCpuTemperature(root_, now));
        add(frame, metric::clock, telemetry::sampleCpuClock(root_, now));
        return std::move(frame.readings);
    }

private:
    const std::string root_;
    telemetry::CpuUsage usage_;
    telemetry::CpuPower power_;
};

/// One device under watch. Its facts outlive it, so that its loss can be said.
struct Watched {
    std::weak_ptr<Device> device;
    DeviceInfo info;
    telemetry::OwnProfile profile;
};

std::string runtimeSource(const DeviceInfo& info) {
    return info.runtimes.empty() ? "runtime" : std::string(toString(info.runtimes.front().api)) + " device facts";
}

/// A device whose driver has no counter that we read: what our own kernels did, and nothing made up.
void addAccelerator(TelemetryFrame& frame, const DeviceInfo& info, const std::optional<Reading>& busy, bool lost, TimePoint now) {
    const ReadingState state = lost ? ReadingState::Lost : ReadingState::NotSupported;
    add(frame, metric::utilisation, busy);
    add(frame, metric::memoryUsed, telemetry::absent(state, "B", "", now));
    const std::string source = runtimeSource(info);
    add(frame, metric::memoryTotal, info.memoryBytes ? telemetry::known(static_cast<double>(*info.memoryBytes), "B", source, now)
                                                     : telemetry::absent(state, "B", source, now));
    add(frame, metric::power, telemetry::absent(state, "W", "", now));
    add(frame, metric::temperature, telemetry::absent(state, "degC", "", now));
    add(frame, metric::clock, telemetry::absent(state, "Hz", "", now));
}

}  // namespace

struct TelemetrySampler::Impl {
    explicit Impl(std::string folder) : root(std::move(folder)), host(root) {}

    std::vector<TelemetryFrame> sample();
    TelemetryFrame frameOf(Watched& watched, const std::optional<std::vector<NamedReading>>& hostReadings, TimePoint now);
    void loop();

    const std::string root;

    std::mutex sampling;  // one round at a time; guards what follows
    HostProcessor host;
    std::vector<Watched> watched;

    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::chrono::milliseconds interval{1000};
    Listener listener;
    bool stopping = false;
    std::thread thread;
};

TelemetryFrame TelemetrySampler::Impl::frameOf(Watched& one, const std::optional<std::vector<NamedReading>>& hostReadings, TimePoint now) {
    TelemetryFrame frame;
    frame.device = one.info.id;
    frame.time = std::chrono::system_clock::now();
    std::optional<Reading> busy;
    const std::shared_ptr<Device> device = one.device.lock();
    if (device) {
        busy = one.profile.sample(device->busyTime(), now);
    } else {
        busy = telemetry::absent(ReadingState::Lost, "ratio", telemetry::OwnProfile::source, now);
    }
    if (one.info.kind == DeviceKind::Cpu && hostReadings) {
        frame.readings = *hostReadings;
    } else {
        addAccelerator(frame, one.info, busy, !device, now);
    }
    add(frame, metric::computeBusy, busy);
    return frame;
}

std::vector<TelemetryFrame> TelemetrySampler::Impl::sample() {
    const std::lock_guard lock(sampling);
    const TimePoint now = std::chrono::steady_clock::now();
    std::optional<std::vector<NamedReading>> hostReadings;
    std::vector<TelemetryFrame> frames;
    for (Watched& one : watched) {
        if (one.info.kind == DeviceKind::Cpu && !hostReadings) hostReadings = host.sample(now);
        frames.push_back(frameOf(one, hostReadings, now));
    }
    return frames;
}

void TelemetrySampler::Impl::loop() {
    auto next = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    while (!stopping) {
        const Listener call = listener;
        lock.unlock();
        const std::vector<TelemetryFrame> frames = sample();
        if (call) call(frames);
        lock.lock();
        // After a stall (a sleeping machine, a slow listener) the rhythm starts anew: no burst to catch up.
        next = std::max(next + interval, std::chrono::steady_clock::now());
        changed.wait_until(lock, next, [this] { return stopping; });
    }
}

TelemetrySampler::TelemetrySampler(std::string root) : impl_(std::make_unique<Impl>(std::move(root))) {}

TelemetrySampler::~TelemetrySampler() { stop(); }

void TelemetrySampler::setDevices(std::vector<std::weak_ptr<Device>> devices) {
    std::vector<Watched> next;
    for (std::weak_ptr<Device>& reference : devices)
        if (const std::shared_ptr<Device> device = reference.lock()) next.push_back({std::move(reference), device->info(), {}});
    const std::lock_guard lock(impl_->sampling);
    // A device that stays keeps its profile: the chart has no gap because another one came.
    for (Watched& one : next)
        for (Watched& old : impl_->watched)
            if (old.info.id == one.info.id && old.device.lock() == one.device.lock()) one.profile = std::move(old.profile);
    impl_->watched = std::move(next);
}

void TelemetrySampler::start(std::chrono::milliseconds interval, Listener listener) {
    stop();
    const std::lock_guard lock(impl_->mutex);
    impl_->interval = std::max(interval, std::chrono::milliseconds(10));
    impl_->listener = std::move(listener);
    impl_->stopping = false;
    impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

void TelemetrySampler::stop() {
    std::thread thread;
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->stopping = true;
        // A listener that stops its own sampler cannot wait for itself: the thread is joined by the next call.
        if (impl_->thread.get_id() == std::this_thread::get_id()) return;
        thread = std::move(impl_->thread);
    }
    impl_->changed.notify_all();
    if (thread.joinable()) thread.join();
}

std::vector<TelemetryFrame> TelemetrySampler::sampleOnce() { return impl_->sample(); }

}  // namespace heteroscope
