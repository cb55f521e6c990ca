#include "tests/support/fake_device.h"

#include "devices/null/kernel_scan.h"

#include <algorithm>

namespace heteroscope {

FakeDevice::FakeDevice(DeviceInfo info, const ManualClock* clock)
    : info_(std::move(info)), clock_(clock), thread_([this] { loop(); }) {}

FakeDevice::~FakeDevice() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

DeviceInfo FakeDevice::describe(std::string id, DeviceKind kind) {
    DeviceInfo info;
    info.name = "Fake " + id;
    info.shortName = id;
    info.processor = id;
    info.id = std::move(id);
    info.kind = kind;
    info.runtimes = {{Api::OpenCl, "Fake platform", info.name, "OpenCL 1.2 fake", "OpenCL C 1.2", "1"}};
    info.computeUnits = 4;
    info.clockMegahertz = 1000;
    info.memoryBytes = std::uint64_t{1} << 30;
    info.maxAllocationBytes = std::uint64_t{1} << 29;
    info.localMemoryBytes = std::uint64_t{1} << 16;
    info.maxWorkGroupSize = 1024;
    info.maxWorkItemSizes = {1024, 1024, 64};
    info.hasDouble = true;
    return info;
}

void FakeDevice::autoComplete(bool on) {
    const std::lock_guard lock(mutex_);
    auto_ = on;
    changed_.notify_all();
}

bool FakeDevice::finishNext(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const std::size_t target = answered_ + 1;
    if (!changed_.wait_for(lock, patience, [&] { return launches_.size() >= target; })) return false;
    ++permits_;
    changed_.notify_all();
    return changed_.wait_for(lock, patience, [&] { return answered_ >= target; });
}

void FakeDevice::failNextLaunch(Error error) {
    const std::lock_guard lock(mutex_);
    failures_[Command::Kind::Launch].push_back(std::move(error));
}

void FakeDevice::failNextBuild(Error error) {
    const std::lock_guard lock(mutex_);
    buildFailures_.push_back(std::move(error));
}

void FakeDevice::failNextUpload(Error error) {
    const std::lock_guard lock(mutex_);
    failures_[Command::Kind::Upload].push_back(std::move(error));
}

void FakeDevice::failNextDownload(Error error) {
    const std::lock_guard lock(mutex_);
    failures_[Command::Kind::Download].push_back(std::move(error));
}

void FakeDevice::lose(std::string why) {
    const std::lock_guard lock(mutex_);
    lost_ = std::move(why);
    changed_.notify_all();
}

void FakeDevice::holdBuilds(bool on) {
    const std::lock_guard lock(mutex_);
    holdBuilds_ = on;
    changed_.notify_all();
}

void FakeDevice::setLaunchDuration(std::chrono::nanoseconds duration) {
    const std::lock_guard lock(mutex_);
    duration_ = duration;
}

void FakeDevice::setEntries(std::vector<EntryInfo> entries) {
    const std::lock_guard lock(mutex_);
    entries_ = std::move(entries);
}

void FakeDevice::setKernel(std::function<void(const Launch&, FakeDevice&)> kernel) {
    const std::lock_guard lock(mutex_);
    kernel_ = std::move(kernel);
}

std::vector<Launch> FakeDevice::launches() const {
    const std::lock_guard lock(mutex_);
    return launches_;
}

std::vector<ProgramSource> FakeDevice::builds() const {
    const std::lock_guard lock(mutex_);
    return builds_;
}

bool FakeDevice::waitForLaunches(std::size_t count, std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return launches_.size() >= count; });
}

bool FakeDevice::waitForBuilds(std::size_t count, std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return builds_.size() >= count; });
}

std::size_t FakeDevice::held() const {
    const std::lock_guard lock(mutex_);
    return launches_.size() - answered_;
}

std::size_t FakeDevice::buffers() const {
    const std::lock_guard lock(mutex_);
    return buffers_.size();
}

std::uint64_t FakeDevice::allocatedBytes() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& [id, buffer] : buffers_) bytes += buffer.storage.size();
    return bytes;
}

std::span<std::byte> FakeDevice::memory(BufferId buffer) {
    const std::lock_guard lock(mutex_);
    const auto at = buffers_.find(buffer);
    if (at == buffers_.end()) return {};
    return info_.sharesHostMemory ? at->second.storage : std::span(at->second.own);
}

void FakeDevice::build(ProgramSource source, BuildDone done) {
    const std::lock_guard lock(mutex_);
    builds_.push_back(source);
    buildQueue_.push_back({std::move(source), std::move(done)});
    changed_.notify_all();
}

BufferId FakeDevice::allocate(std::span<std::byte> storage) {
    const std::lock_guard lock(mutex_);
    const BufferId id = nextId_++;
    buffers_[id] = {storage, std::vector<std::byte>(info_.sharesHostMemory ? 0 : storage.size())};
    return id;
}

void FakeDevice::upload(BufferId buffer, Done done) {
    const std::lock_guard lock(mutex_);
    commands_.push_back({Command::Kind::Upload, buffer, {}, std::move(done)});
    changed_.notify_all();
}

void FakeDevice::launch(Launch launch, Done done) {
    const std::lock_guard lock(mutex_);
    launches_.push_back(launch);
    commands_.push_back({Command::Kind::Launch, 0, std::move(launch), std::move(done)});
    changed_.notify_all();
}

void FakeDevice::download(BufferId buffer, Done done) {
    const std::lock_guard lock(mutex_);
    commands_.push_back({Command::Kind::Download, buffer, {}, std::move(done)});
    changed_.notify_all();
}

void FakeDevice::release(BufferId buffer) {
    const std::lock_guard lock(mutex_);
    commands_.push_back({Command::Kind::Release, buffer, {}, {}});
    changed_.notify_all();
}

std::chrono::nanoseconds FakeDevice::busyTime() const {
    const std::lock_guard lock(mutex_);
    return busy_;
}

std::chrono::steady_clock::time_point FakeDevice::now() const {
    return clock_ ? clock_->now() : std::chrono::steady_clock::now();
}

bool FakeDevice::runnableLocked() const {
    if (commands_.empty()) return false;
    return stop_ || lost_ || auto_ || permits_ > 0 || commands_.front().kind != Command::Kind::Launch;
}

void FakeDevice::loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto buildsReady = [&] { return !buildQueue_.empty() && (!holdBuilds_ || stop_); };
        changed_.wait(lock, [&] { return stop_ || buildsReady() || runnableLocked(); });
        if (buildsReady()) {
            answerBuild(lock);
        } else if (runnableLocked()) {
            answerCommand(lock);
        } else if (stop_) {
            return;
        }
    }
}

void FakeDevice::answerBuild(std::unique_lock<std::mutex>& lock) {
    Build build = std::move(buildQueue_.front());
    buildQueue_.pop_front();
    std::optional<Error> error;
    if (stop_) error = Error{ErrorKind::Cancelled, info_.id + ": closed before it was built"};
    if (lost_) error = Error{ErrorKind::DeviceLost, info_.id + ": " + *lost_};
    if (!error && !buildFailures_.empty()) {
        error = std::move(buildFailures_.front());
        buildFailures_.pop_front();
    }
    Program program;
    program.id = nextId_++;
    program.entries = entries_ ? *entries_ : scanKernels(build.source.text, static_cast<std::size_t>(info_.maxWorkGroupSize.value_or(1)));
    lock.unlock();
    if (build.done) build.done(error ? Result<Program>(std::move(*error)) : Result<Program>(std::move(program)));
    lock.lock();
}

std::optional<Error> FakeDevice::failureLocked(Command::Kind kind) {
    if (lost_) return Error{ErrorKind::DeviceLost, info_.id + ": " + *lost_};
    if (kind == Command::Kind::Launch && stop_ && !auto_ && permits_ == 0)
        return Error{ErrorKind::Cancelled, info_.id + ": closed while the launch was held"};
    auto& queue = failures_[kind];
    if (queue.empty()) return std::nullopt;
    Error error = std::move(queue.front());
    queue.pop_front();
    return error;
}

void FakeDevice::copyLocked(const Command& command) {
    const auto at = buffers_.find(command.buffer);
    if (at == buffers_.end() || info_.sharesHostMemory) return;
    if (command.kind == Command::Kind::Upload) std::ranges::copy(at->second.storage, at->second.own.begin());
    if (command.kind == Command::Kind::Download) std::ranges::copy(at->second.own, at->second.storage.begin());
}

void FakeDevice::answerCommand(std::unique_lock<std::mutex>& lock) {
    Command command = std::move(commands_.front());
    commands_.pop_front();
    const bool launched = command.kind == Command::Kind::Launch;
    if (command.kind == Command::Kind::Release) {
        buffers_.erase(command.buffer);
        return;
    }
    std::optional<Error> error = failureLocked(command.kind);
    if (launched && permits_ > 0) --permits_;
    if (!error) copyLocked(command);
    const auto kernel = kernel_;
    CommandTimes times{now() - (launched ? duration_ : std::chrono::nanoseconds{}), now(), launched};
    if (launched && !error) busy_ += duration_;
    lock.unlock();
    if (launched && !error && kernel) kernel(command.launch, *this);
    if (command.done) command.done(error ? Result<CommandTimes>(std::move(*error)) : Result<CommandTimes>(times));
    lock.lock();
    if (launched) ++answered_;
    changed_.notify_all();
}

}  // namespace heteroscope
