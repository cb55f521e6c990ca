#include "devices/null/null_device.h"

#include "devices/null/kernel_scan.h"

namespace heteroscope {

NullDevice::NullDevice(DeviceInfo info) : info_(std::move(info)), thread_([this] { loop(); }) {}

NullDevice::~NullDevice() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

DeviceInfo NullDevice::describe(std::string id) {
    DeviceInfo info;
    info.name = "Null device";
    info.shortName = "Null";
    info.processor = id;
    info.id = std::move(id);
    info.kind = DeviceKind::Accelerator;
    info.runtimes = {{Api::Null, "Heteroscope", info.name, "1", "", ""}};
    info.sharesHostMemory = true;
    info.hasDouble = true;
    info.hasHalf = true;
    return info;
}

void NullDevice::give(Command command) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
        wake = std::exchange(asleep_, false);
    }
    if (wake) changed_.notify_one();
}

void NullDevice::build(ProgramSource source, BuildDone done) { give({{}, std::move(done), std::move(source)}); }
BufferId NullDevice::allocate(std::span<std::byte>) { return nextBuffer_++; }
void NullDevice::upload(BufferId, Done done) { give({std::move(done), {}, {}}); }
void NullDevice::launch(Launch, Done done) { give({std::move(done), {}, {}}); }
void NullDevice::download(BufferId, Done done) { give({std::move(done), {}, {}}); }
void NullDevice::release(BufferId) {}

Program NullDevice::programOf(const ProgramSource& source) {
    const auto known = programs_.find(source.text);
    if (known != programs_.end()) return known->second;
    Program program;
    program.id = programs_.size() + 1;
    program.entries = scanKernels(source.text, static_cast<std::size_t>(info_.maxWorkGroupSize.value_or(1u << 20)));
    return programs_[source.text] = program;
}

/// Takes all that has come at once: one lock for many commands.
void NullDevice::loop() {
    std::vector<Command> batch;
    std::unique_lock lock(mutex_);
    for (;;) {
        asleep_ = commands_.empty();
        changed_.wait(lock, [this] { return stop_ || !commands_.empty(); });
        asleep_ = false;
        if (commands_.empty()) return;
        std::swap(batch, commands_);
        lock.unlock();
        for (Command& command : batch) {
            const auto now = std::chrono::steady_clock::now();
            if (command.buildDone) command.buildDone(programOf(command.source));
            if (command.done) command.done(CommandTimes{now, now, true});
        }
        batch.clear();
        lock.lock();
    }
}

}  // namespace heteroscope
