#include "devices/opencl/compiler.h"

#include "devices/opencl/source_text.h"

#include <fmt/format.h>

namespace heteroscope::opencl {
namespace {

constexpr std::chrono::seconds patienceAtTheEnd(5);

}  // namespace

Compiler::Compiler(OpenedDevicePtr device, std::chrono::nanoseconds limit, std::function<std::optional<std::string>()> lost)
    : device_(std::move(device)), limit_(limit), lost_(std::move(lost)), thread_([this] { loop(); }) {}

Compiler::~Compiler() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
    const auto end = std::chrono::steady_clock::now() + patienceAtTheEnd;
    for (const std::shared_ptr<Desk>& desk : leftBehind_) desk->waitFor(end - std::chrono::steady_clock::now());
}

bool Compiler::Desk::waitFor(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, limit, [this] { return result.has_value(); });
}

void Compiler::build(ProgramSource source, Device::BuildDone done) {
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back({std::move(source), std::move(done)});
    }
    changed_.notify_all();
}

BuiltProgramPtr Compiler::find(ProgramId id) const {
    const std::lock_guard lock(mutex_);
    const auto at = byId_.find(id);
    return at == byId_.end() ? nullptr : at->second;
}

void Compiler::loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stop_ || !requests_.empty(); });
        if (requests_.empty()) return;
        const Request request = std::move(requests_.front());
        requests_.pop_front();
        const bool closing = stop_;
        lock.unlock();
        if (closing) {
            request.done(Error{ErrorKind::Cancelled, device_->label + " was closed before " + request.source.file + " was built"});
        } else if (const Built built = answer(request.source); built) {
            request.done((*built)->description);
        } else {
            request.done(built.error());
        }
        lock.lock();
    }
}

Compiler::Built Compiler::answer(const ProgramSource& source) {
    const std::string name = source.file.empty() ? "(source)" : source.file;
    if (source.language != Language::OpenClC)
        return Error{ErrorKind::Unsupported, fmt::format("{} is {}: the OpenCL runtime of {} takes opencl-c", name,
                                                         toString(source.language), device_->label), source.file};
    if (!device_->takesSource)
        return Error{ErrorKind::Unsupported, fmt::format("{}: {} has no compiler for source (CL_DEVICE_COMPILER_AVAILABLE is false)",
                                                         name, device_->label), source.file};
    if (const std::optional<std::string> lost = lost_()) return Error{ErrorKind::DeviceLost, *lost};
    Result<CompilerInput> input = prepareSource(source);
    if (!input) return input.error();
    const std::optional<std::string> key = input->key;
    if (key)
        if (const auto at = byKey_.find(*key); at != byKey_.end()) return at->second;
    const Built built = compileWithinLimit(std::move(*input), source.file);
    // A compiler on a dead context fails for no reason of the source.
    if (!built)
        if (const std::optional<std::string> lost = lost_()) return Error{ErrorKind::DeviceLost, *lost};
    if (key) keep(*key, built);
    if (built) {
        const std::lock_guard lock(mutex_);
        byId_[(*built)->description.id] = *built;
    }
    return built;
}

/// A refusal at a line of the source will be the same next time; any other failure may pass.
void Compiler::keep(const std::string& key, const Built& built) {
    if (built || (built.error().kind == ErrorKind::BuildFailed && built.error().line > 0)) byKey_.emplace(key, built);
}

Compiler::Built Compiler::compileWithinLimit(CompilerInput input, const std::string& file) {
    const auto desk = std::make_shared<Desk>();
    // Owns all it touches, so it may be left behind.
    std::thread worker([desk, device = device_, input = std::move(input), file, id = nextId_++] {
        Built built = compile(device, input, file, id);
        const std::lock_guard lock(desk->mutex);
        desk->result = std::move(built);
        desk->changed.notify_all();
    });
    if (desk->waitFor(limit_)) {
        worker.join();
        return std::move(*desk->result);
    }
    worker.detach();
    leftBehind_.push_back(desk);
    return Error{ErrorKind::TimedOut,
                 fmt::format("{} was not built on {} within {} s: the driver's compiler still works on it", file.empty() ? "(source)" : file,
                             device_->label, std::chrono::duration<double>(limit_).count()),
                 file};
}

}  // namespace heteroscope::opencl
