#include "devices/opencl/opencl_device.h"

#include "devices/opencl/device_facts.h"
#include "devices/opencl/launch_check.h"
#include "devices/opencl/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heteroscope::opencl {
namespace {

/// What a runtime may compile anew: a kernel for a work-group size.
std::pair<ProgramId, std::string> launchKey(const Launch& launch) {
    const auto& local = launch.range.local;
    return {launch.program, fmt::format("{} {}x{}x{}", launch.entry, local[0], local[1], local[2])};
}

}  // namespace

Result<std::shared_ptr<OpenClDevice>> OpenClDevice::open(cl_device_id device, DeviceInfo info, OpenClSettings settings) {
    auto opened = std::make_shared<OpenedDevice>(openedDevice(device, info));
    cl_int status = CL_SUCCESS;
    opened->context = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) return errorFrom(status, opened->label + " refuses a context", ErrorKind::DeviceLost);
    Queue queue(clCreateCommandQueue(opened->context.get(), device, CL_QUEUE_PROFILING_ENABLE, &status));
    if (status != CL_SUCCESS) return errorFrom(status, opened->label + " refuses a command queue", ErrorKind::DeviceLost);
    opened->sharesHostMemory = opened->sharesHostMemory && settings.zeroCopy;
    info.sharesHostMemory = opened->sharesHostMemory;
    return std::shared_ptr<OpenClDevice>(new OpenClDevice(std::move(opened), std::move(queue), std::move(info), settings));
}

OpenClDevice::OpenClDevice(OpenedDevicePtr opened, Queue queue, DeviceInfo info, OpenClSettings settings)
    : info_(std::move(info)),
      settings_(settings),
      opened_(std::move(opened)),
      queue_(std::move(queue)),
      compiler_(opened_, settings.buildLimit, [this] { return lost(); }),
      commandThread_([this] { commandLoop(); }),
      completionThread_([this] { completionLoop(); }) {}

OpenClDevice::~OpenClDevice() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    commandsChanged_.notify_all();
    commandThread_.join();
    {
        const std::lock_guard lock(mutex_);
        commandsEnded_ = true;
    }
    pendingChanged_.notify_all();
    completionThread_.join();
}

// Calls from outside.

void OpenClDevice::build(ProgramSource source, BuildDone done) { compiler_.build(std::move(source), std::move(done)); }

void OpenClDevice::give(Command command) {
    std::unique_lock lock(mutex_);
    if (executing_ || !commands_.empty() || !takesNoTime(command)) {
        commands_.push_back(std::move(command));
        lock.unlock();
        commandsChanged_.notify_one();
        return;
    }
    executing_ = true;
    lock.unlock();
    execute(std::move(command), false);
    lock.lock();
    executing_ = false;
    const bool wake = !commands_.empty() || stop_;
    lock.unlock();
    if (wake) commandsChanged_.notify_one();
}

/// True for calls that return at once in the runtime, too: bookkeeping, and launches of a kernel launched before with
/// that work-group size on a device that does not compute within the call. Caller holds mutex_, and nobody executes.
bool OpenClDevice::takesNoTime(const Command& command) const {
    if (command.kind == Command::Kind::Allocate) return true;
    if (command.kind != Command::Kind::Launch || !asynchronous_ || computesInCalls_) return false;
    return launched_.contains(launchKey(command.launch));
}

BufferId OpenClDevice::allocate(std::span<std::byte> storage) {
    const BufferId id = nextBuffer_++;
    give({Command::Kind::Allocate, id, storage, {}, {}});
    return id;
}

void OpenClDevice::upload(BufferId buffer, Done done) { give({Command::Kind::Upload, buffer, {}, {}, std::move(done)}); }

void OpenClDevice::launch(Launch launch, Done done) { give({Command::Kind::Launch, 0, {}, std::move(launch), std::move(done)}); }

void OpenClDevice::download(BufferId buffer, Done done) { give({Command::Kind::Download, buffer, {}, {}, std::move(done)}); }

void OpenClDevice::release(BufferId buffer) { give({Command::Kind::Release, buffer, {}, {}, {}}); }

std::chrono::nanoseconds OpenClDevice::busyTime() const {
    const std::lock_guard lock(mutex_);
    std::chrono::nanoseconds busy = busy_;
    // A kernel that has run for a while counts now, not all at once when it ends.
    const std::optional<Clock::time_point> since = headLaunch_ ? headLaunch_ : enqueuing_;
    if (since) busy += std::max(Clock::now() - *since, Clock::duration::zero());
    shownBusy_ = std::max(shownBusy_, busy);
    return shownBusy_;
}

// Command thread.

void OpenClDevice::commandLoop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        commandsChanged_.wait(lock, [this] { return !executing_ && (stop_ || !commands_.empty()); });
        if (commands_.empty()) break;
        Command command = std::move(commands_.front());
        commands_.pop_front();
        executing_ = true;
        lock.unlock();
        execute(std::move(command), true);
        lock.lock();
        executing_ = false;
    }
    lock.unlock();
    buffers_.clear();
}

void OpenClDevice::execute(Command command, bool onCommandThread) {
    if (command.kind == Command::Kind::Allocate) {
        buffers_[command.buffer].storage = command.storage;
        return;
    }
    if (command.kind == Command::Kind::Release) {
        if (const auto at = buffers_.find(command.buffer); at != buffers_.end()) {
            // The runtime keeps the memory until the commands that use it are through.
            if (at->second.memory && !at->second.inPlace) deviceBytes_ -= at->second.storage.size();
            buffers_.erase(at);
        }
        return;
    }
    Pending pending;
    pending.done = std::move(command.done);
    pending.isLaunch = command.kind == Command::Kind::Launch;
    pending.given = Clock::now();
    const bool idle = nothingUnderWay();
    pending.error = enqueueCommand(command, pending);
    if (pending.isLaunch && !pending.error) {
        if (idle) noteAsynchrony(pending);
        launched_.insert(launchKey(command.launch));
    }
    hand(std::move(pending), onCommandThread);
}

/// Whether the command is through; a failed one counts.
bool OpenClDevice::isThrough(const Pending& pending) {
    if (pending.error) return true;
    cl_int execution = CL_QUEUED;
    return clGetEventInfo(pending.event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution, &execution, nullptr) == CL_SUCCESS &&
           execution <= CL_COMPLETE;
}

bool OpenClDevice::nothingUnderWay() const {
    const std::lock_guard lock(mutex_);
    return pending_.empty() && !completing_;
}

/// Tells from a launch on an idle device alone: otherwise the completion thread may be the one that computes.
void OpenClDevice::noteAsynchrony(const Pending& pending) {
    const bool through = isThrough(pending), slow = Clock::now() - pending.given > std::chrono::microseconds(200);
    const std::lock_guard lock(mutex_);
    asynchronous_ |= !through;
    computesInCalls_ |= through && slow && asynchronous_;
}

void OpenClDevice::hand(Pending pending, bool onCommandThread) {
    if (onCommandThread && isThrough(pending)) {
        // Whoever executes is the only one to add to pending_, so the order holds.
        if (nothingUnderWay()) {
            answer(std::move(pending));
            return;
        }
    }
    {
        const std::lock_guard lock(mutex_);
        pending_.push_back(std::move(pending));
    }
    pendingChanged_.notify_one();
    // After the hand-over: some runtimes compute in this very call. Its failure comes back from the wait, too.
    clFlush(queue_.get());
}

std::optional<Error> OpenClDevice::enqueueCommand(Command& command, Pending& pending) {
    if (const std::optional<std::string> why = lost()) return Error{ErrorKind::DeviceLost, *why};
    if (command.kind == Command::Kind::Launch) return enqueueLaunch(command.launch, pending);
    const bool up = command.kind == Command::Kind::Upload;
    const Result<Buffer*> buffer = usableBuffer(command.buffer);
    if (!buffer) return buffer.error();
    pending.subject = fmt::format("{} cannot {} {} bytes", opened_->label, up ? "take" : "give back", (*buffer)->storage.size());
    return up ? enqueueUpload(**buffer, pending) : enqueueDownload(**buffer, pending);
}

Result<OpenClDevice::Buffer*> OpenClDevice::usableBuffer(BufferId id) {
    const auto at = buffers_.find(id);
    if (at == buffers_.end()) return Error{ErrorKind::InvalidInput, fmt::format("{} has no buffer {}", opened_->label, id)};
    if (!at->second.memory)
        if (std::optional<Error> error = makeMemory(at->second)) return std::move(*error);
    return &at->second;
}

std::optional<Error> OpenClDevice::makeMemory(Buffer& buffer) {
    const std::size_t bytes = buffer.storage.size();
    if (bytes == 0) return Error{ErrorKind::InvalidInput, opened_->label + ": a buffer of 0 bytes"};
    if (opened_->maxAllocationBytes > 0 && bytes > opened_->maxAllocationBytes)
        return Error{ErrorKind::OutOfMemory, fmt::format("{} takes buffers of at most {} bytes, but one of {} bytes was asked for",
                                                         opened_->label, opened_->maxAllocationBytes, bytes)};
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.storage.data());
    buffer.inPlace = opened_->sharesHostMemory && address % opened_->baseAlignment == 0;
    if (!buffer.inPlace && opened_->memoryBytes > 0 && bytes > opened_->memoryBytes - std::min(deviceBytes_, opened_->memoryBytes))
        return Error{ErrorKind::OutOfMemory, fmt::format("{} has {} bytes of memory, of which {} are taken: {} more do not fit", opened_->label,
                                                         opened_->memoryBytes, deviceBytes_, bytes)};
    cl_int status = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (buffer.inPlace ? CL_MEM_USE_HOST_PTR : 0);
    buffer.memory = Memory(clCreateBuffer(opened_->context.get(), flags, bytes, buffer.inPlace ? buffer.storage.data() : nullptr, &status));
    if (status != CL_SUCCESS) {
        buffer.memory = Memory();
        return failed(status, fmt::format("{} cannot make a buffer of {} bytes", opened_->label, bytes), ErrorKind::OutOfMemory);
    }
    if (!buffer.inPlace) deviceBytes_ += bytes;
    return std::nullopt;
}

/// Memory that is shared is only handed over: mapped, which tells the runtime that the host writes or reads it,
/// and unmapped.
std::optional<Error> OpenClDevice::enqueueMapped(Buffer& buffer, cl_map_flags flags, Pending& pending) {
    cl_int status = CL_SUCCESS;
    void* mapped = clEnqueueMapBuffer(queue_.get(), buffer.memory.get(), CL_FALSE, flags, 0, buffer.storage.size(), 0, nullptr, nullptr, &status);
    if (status != CL_SUCCESS) return failed(status, pending.subject, ErrorKind::OutOfMemory);
    cl_event event = nullptr;
    status = clEnqueueUnmapMemObject(queue_.get(), buffer.memory.get(), mapped, 0, nullptr, &event);
    pending.event = Event(event);
    if (status != CL_SUCCESS) return failed(status, pending.subject, ErrorKind::OutOfMemory);
    return std::nullopt;
}

std::optional<Error> OpenClDevice::enqueueUpload(Buffer& buffer, Pending& pending) {
    // Invalidating, so that no runtime copies old bytes over the new ones.
    if (buffer.inPlace) return enqueueMapped(buffer, CL_MAP_WRITE_INVALIDATE_REGION, pending);
    cl_event event = nullptr;
    const cl_int status = clEnqueueWriteBuffer(queue_.get(), buffer.memory.get(), CL_FALSE, 0, buffer.storage.size(), buffer.storage.data(), 0,
                                               nullptr, &event);
    pending.event = Event(event);
    if (status != CL_SUCCESS) return failed(status, pending.subject, ErrorKind::OutOfMemory);
    return std::nullopt;
}

std::optional<Error> OpenClDevice::enqueueDownload(Buffer& buffer, Pending& pending) {
    if (buffer.inPlace) return enqueueMapped(buffer, CL_MAP_READ, pending);
    cl_event event = nullptr;
    const cl_int status = clEnqueueReadBuffer(queue_.get(), buffer.memory.get(), CL_FALSE, 0, buffer.storage.size(), buffer.storage.data(), 0,
                                              nullptr, &event);
    pending.event = Event(event);
    if (status != CL_SUCCESS) return failed(status, pending.subject, ErrorKind::OutOfMemory);
    return std::nullopt;
}

std::optional<Error> OpenClDevice::setArguments(const BuiltProgram::Entry& entry, const Launch& launch) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        std::size_t bytes = 0;
        const void* value = nullptr;
        cl_mem memory = nullptr;
        if (const auto* argument = std::get_if<BufferArgument>(&launch.arguments[i])) {
            const Result<Buffer*> buffer = usableBuffer(argument->buffer);
            if (!buffer) return buffer.error();
            memory = (*buffer)->memory.get();
            bytes = sizeof memory;
            value = &memory;
        } else if (const auto* local = std::get_if<LocalArgument>(&launch.arguments[i])) {
            bytes = local->bytes;
        } else {
            const auto& scalar = std::get<ScalarArgument>(launch.arguments[i]);
            bytes = scalar.bytes.size();
            value = scalar.bytes.data();
        }
        if (const cl_int status = clSetKernelArg(entry.kernel.get(), static_cast<cl_uint>(i), bytes, value); status != CL_SUCCESS)
            return failed(status, fmt::format("argument {} of '{}' ({} bytes) is refused by {}", i, launch.entry, bytes, opened_->label),
                          ErrorKind::InvalidInput);
    }
    return std::nullopt;
}

std::optional<Error> OpenClDevice::enqueueLaunch(const Launch& launch, Pending& pending) {
    const BuiltProgramPtr program = compiler_.find(launch.program);
    if (!program) return Error{ErrorKind::InvalidInput, fmt::format("program {} was not built on {}", launch.program, opened_->label)};
    const auto entry = program->entries.find(launch.entry);
    if (entry == program->entries.end()) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : program->entries) names.push_back("'" + name + "'");
        const std::string file = program->file.empty() ? "the source" : program->file;
        return Error{ErrorKind::InvalidInput,
                     names.empty() ? fmt::format("{} has no kernel '{}': it has none at all", file, launch.entry)
                                   : fmt::format("{} has no kernel '{}'; it has {}", file, launch.entry, fmt::join(names, ", ")),
                     program->file};
    }
    const Result<NDRange> range = checkLaunch(*opened_, *program, entry->second.info, launch);
    if (!range) return range.error();
    if (std::optional<Error> error = setArguments(entry->second, launch)) return error;

    pending.subject = fmt::format("'{}' failed on {}", launch.entry, opened_->label);
    pending.program = program;
    pending.given = Clock::now();
    noteEnqueuing(pending.given);
    cl_event event = nullptr;
    const bool hasLocal = range->local[0] > 0;
    const cl_int status =
        clEnqueueNDRangeKernel(queue_.get(), entry->second.kernel.get(), range->dimensions, range->offset.data(), range->global.data(),
                               hasLocal ? range->local.data() : nullptr, 0, nullptr, &event);
    noteEnqueuing(std::nullopt);
    pending.event = Event(event);
    if (status != CL_SUCCESS) return failed(status, launchFailure(launch.entry, *range, entry->second), ErrorKind::LaunchFailed);
    return std::nullopt;
}

/// With the sizes: what a driver refuses here is mostly a work-group that is too large for the kernel's registers.
std::string OpenClDevice::launchFailure(const std::string& name, const NDRange& range, const BuiltProgram::Entry& entry) const {
    std::size_t items = 1;
    for (unsigned i = 0; i < range.dimensions; ++i) items *= range.local[i];
    if (items == 0) return fmt::format("'{}' cannot be launched on {}", name, opened_->label);
    return fmt::format("'{}' cannot be launched on {} with work-groups of {} work-items (the driver advises at most {} for this kernel)", name,
                       opened_->label, items, entry.advisedWorkGroupSize);
}

void OpenClDevice::noteEnqueuing(std::optional<Clock::time_point> since) {
    const std::lock_guard lock(mutex_);
    enqueuing_ = since;
}

// Completion thread.

void OpenClDevice::completionLoop() {
    std::deque<Pending> batch;
    std::unique_lock lock(mutex_);
    for (;;) {
        pendingChanged_.wait(lock, [this] { return commandsEnded_ || !pending_.empty(); });
        if (pending_.empty()) return;
        std::swap(batch, pending_);
        completing_ = true;
        lock.unlock();
        for (Pending& pending : batch) answer(std::move(pending));
        batch.clear();
        lock.lock();
        completing_ = false;
    }
}

void OpenClDevice::answer(Pending pending) {
    if (pending.isLaunch && !pending.error) {
        const std::lock_guard lock(mutex_);
        headLaunch_ = std::max(Clock::now(), pending.given);
    }
    const Result<CommandTimes> result = await(pending);
    // The program's last reference must not wait for a callback that takes its time.
    pending.program.reset();
    if (pending.done) pending.done(result);
}

Result<CommandTimes> OpenClDevice::await(Pending& pending) {
    if (pending.error) return std::move(*pending.error);
    cl_event event = pending.event.get();
    cl_int status = clWaitForEvents(1, &event);
    const auto seen = Clock::now();
    cl_int execution = CL_COMPLETE;
    if (clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution, &execution, nullptr) == CL_SUCCESS && execution < 0)
        status = execution;
    std::optional<CommandTimes> times;
    if (status == CL_SUCCESS) times = commandTimes(event, pending.given, seen);
    if (pending.isLaunch) {
        const std::lock_guard lock(mutex_);
        headLaunch_.reset();
        if (times) busy_ += times->finished - times->started;
    }
    if (!times) return failed(status, pending.subject, ErrorKind::LaunchFailed);
    return *times;
}

// Both.

/// Some codes mean a dead context or only a launch too large; the queue itself tells which.
Error OpenClDevice::failed(cl_int status, std::string subject, ErrorKind otherwise) {
    Error error = errorFrom(status, std::move(subject), otherwise);
    if (!mayBeLost(status)) return error;
    const bool alive = queueAnswers();
    error.kind = alive ? otherwise : ErrorKind::DeviceLost;
    if (alive) return error;
    const std::lock_guard lock(mutex_);
    if (!lost_) lost_ = opened_->label + " was lost: " + error.message;
    return error;
}

std::optional<std::string> OpenClDevice::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

bool OpenClDevice::queueAnswers() const {
    cl_event event = nullptr;
    if (clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event) != CL_SUCCESS) return false;
    const Event marker(event);
    return clWaitForEvents(1, &event) == CL_SUCCESS;
}

}  // namespace heteroscope::opencl
