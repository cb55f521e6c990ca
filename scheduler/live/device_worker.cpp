#include "scheduler/live/device_worker.h"

#include <fmt/format.h>

#include <cstring>
#include <future>

namespace heteroscope {
namespace {

bool writes(Access access) { return access != Access::Read; }

/// Waits for an answer that comes through a callback.
template <class T, class Ask>
Result<T> await(Ask ask) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    ask([promise](Result<T> result) { promise->set_value(std::move(result)); });
    return answer.get();
}

Result<std::shared_ptr<HostBuffer>> copyOf(std::span<const std::byte> bytes) {
    auto copy = HostBuffer::make(bytes.size());
    if (copy) std::memcpy((*copy)->bytes().data(), bytes.data(), bytes.size());
    return copy;
}

}  // namespace

const KernelVariant* variantFor(const Kernel& kernel, const DeviceInfo& device) {
    for (const auto& runtime : device.runtimes) {
        const Language language = runtime.api == Api::Cuda ? Language::CudaCpp : Language::OpenClC;
        if (const auto* variant = kernel.variant(language)) return variant;
    }
    return nullptr;
}

DeviceWorker::DeviceWorker(std::shared_ptr<Device> device, WorkerEvents events)
    : device_(std::move(device)), events_(std::move(events)), thread_([this] { run(); }) {}

DeviceWorker::~DeviceWorker() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void DeviceWorker::stage(AttemptPtr attempt) {
    ++active_;
    {
        const std::lock_guard lock(mutex_);
        toStage_.push_back(std::move(attempt));
    }
    wake_.notify_one();
}

void DeviceWorker::run() {
    for (;;) {
        AttemptPtr next;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !toStage_.empty(); });
            if (toStage_.empty()) return;
            next = std::move(toStage_.front());
            toStage_.pop_front();
        }
        stageNow(next);
    }
}

void DeviceWorker::stageNow(const AttemptPtr& attempt) {
    events_.awaitRoom();
    attempt->report.stagingBegan = std::chrono::steady_clock::now();
    const auto failed = [&](const Error& error) {
        releaseBuffers(*attempt);
        end(attempt, error.kind == ErrorKind::TimedOut ? JobState::TimedOut : JobState::Failed, error);
        if (error.kind == ErrorKind::DeviceLost) events_.deviceLost(error);
    };
    // The source is built before its arguments are looked at: a person mends the compiler's error first.
    const auto program = buildNow(*attempt);
    if (!program) return failed(program.error());
    attempt->report.built = std::chrono::steady_clock::now();
    attempt->report.log = program->log;
    if (const auto assembled = assemble(*attempt, *program); !assembled) return failed(assembled.error());
    if (attempt->aborted) return end(attempt, JobState::Cancelled, {});
    if (const auto prepared = prepareBuffers(*attempt); !prepared) return failed(prepared.error());
    if (attempt->aborted) {
        releaseBuffers(*attempt);
        return end(attempt, JobState::Cancelled, {});
    }
    if (const auto uploaded = uploadNow(*attempt); !uploaded) return failed(uploaded.error());
    attempt->report.staged = std::chrono::steady_clock::now();
    // Counted as active until the engine was told: waitQuiet() must not see a gap between the two.
    events_.staged(attempt);
    --active_;
}

Result<Program> DeviceWorker::buildNow(const Attempt& attempt) {
    const auto* variant = variantFor(*attempt.plan->kernel, device_->info());
    if (!variant) {
        return Error{ErrorKind::Unsupported,
                     fmt::format("kernel '{}' has no variant for {}", attempt.plan->kernel->id, device_->info().id)};
    }
    return await<Program>([&](auto done) { device_->build(variant->source, std::move(done)); });
}

Status DeviceWorker::assemble(Attempt& attempt, const Program& program) {
    const auto* variant = variantFor(*attempt.plan->kernel, device_->info());
    const EntryInfo* entry = nullptr;
    std::string known;
    for (const auto& candidate : program.entries) {
        if (candidate.name == variant->entry) entry = &candidate;
        known += (known.empty() ? "" : ", ") + candidate.name;
    }
    if (!entry) {
        return Error{ErrorKind::InvalidInput,
                     fmt::format("{}: no kernel named '{}'; it has: {}", variant->source.file, variant->entry,
                                 known.empty() ? "none" : known),
                     variant->source.file};
    }
    auto range = settleRange(*attempt.plan, *entry);
    if (!range) return range.error();
    attempt.launch.program = program.id;
    attempt.launch.entry = variant->entry;
    attempt.launch.range = *range;
    return {};
}

Status DeviceWorker::prepareBuffers(Attempt& attempt) {
    const auto& plan = *attempt.plan;
    const auto& spec = *attempt.spec;
    std::uint64_t stream = 0;
    for (const auto& planned : plan.arguments) {
        const auto& argument = *planned.argument;
        if (argument.kind == KernelArgument::Kind::Scalar) {
            attempt.launch.arguments.push_back(ScalarArgument{planned.scalar});
            continue;
        }
        if (argument.kind == KernelArgument::Kind::Local) {
            attempt.launch.arguments.push_back(LocalArgument{static_cast<std::size_t>(planned.bytes)});
            continue;
        }
        StagedBuffer buffer;
        buffer.planned = &planned;
        buffer.access = argument.access;
        const auto bound = spec.bindings.find(argument.name);
        if (bound != spec.bindings.end()) {
            const auto& binding = bound->second;
            auto storage = binding.data->hostBuffer();
            if (!storage) return storage.error();
            const std::uint64_t elementBytes = binding.data->type().bytes();
            const std::uint64_t count = binding.count.value_or(binding.data->count() - binding.first);
            buffer.storage = *storage;
            buffer.bytes = (*storage)->bytes().subspan(binding.first * elementBytes, count * elementBytes);
            buffer.access = binding.access;
            if (binding.newVersion) {
                auto copy = binding.version ? binding.version->hostBuffer() : HostBuffer::make(buffer.bytes.size());
                if (!copy) return copy.error();
                const auto target = (*copy)->bytes().first(buffer.bytes.size());
                std::memcpy(target.data(), buffer.bytes.data(), target.size());
                buffer.storage = *copy;
                buffer.bytes = target;
            }
        } else {
            auto storage = HostBuffer::make(planned.bytes);
            if (!storage) return storage.error();
            buffer.storage = *storage;
            // mmap may round up to pages: the kernel gets exactly its own bytes.
            buffer.bytes = (*storage)->bytes().first(planned.bytes);
            if (argument.access != Access::Write || argument.fill != "zeros") {
                if (auto filled = fillBuffer(buffer.bytes, argument.type, argument.fill, spec.seed, stream,
                                             plan.parameters, plan.kernel->folder);
                    !filled) {
                    return filled.error();
                }
            }
        }
        ++stream;
        if (spec.check && buffer.access == Access::ReadWrite) {
            auto before = copyOf(buffer.bytes);
            if (!before) return before.error();
            buffer.before = *before;
        }
        attempt.launch.arguments.push_back(BufferArgument{});
        attempt.buffers.push_back(std::move(buffer));
    }
    return {};
}

Status DeviceWorker::uploadNow(Attempt& attempt) {
    // All uploads are given before the first is awaited, so that they overlap where the device can.
    std::vector<std::future<Result<CommandTimes>>> uploads;
    std::size_t next = 0;
    for (auto& argument : attempt.launch.arguments) {
        auto* slot = std::get_if<BufferArgument>(&argument);
        if (!slot) continue;
        auto& buffer = attempt.buffers[next++];
        buffer.device = device_->allocate(buffer.bytes);
        slot->buffer = buffer.device;
        auto promise = std::make_shared<std::promise<Result<CommandTimes>>>();
        uploads.push_back(promise->get_future());
        device_->upload(buffer.device, [promise](Result<CommandTimes> done) { promise->set_value(std::move(done)); });
    }
    Status status;
    for (auto& upload : uploads) {
        if (const auto done = upload.get(); !done && status) status = done.error();
    }
    return status;
}

void DeviceWorker::launch(AttemptPtr attempt) {
    ++active_;
    auto launch = attempt->launch;
    device_->launch(std::move(launch), [this, attempt](Result<CommandTimes> times) {
        onRunEnded(attempt, std::move(times));
    });
}

void DeviceWorker::onRunEnded(const AttemptPtr& attempt, Result<CommandTimes> times) {
    if (!times) {
        releaseBuffers(*attempt);
        const auto kind = times.error().kind;
        end(attempt, kind == ErrorKind::TimedOut ? JobState::TimedOut : JobState::Failed, times.error());
        if (kind == ErrorKind::DeviceLost) events_.deviceLost(times.error());
        return;
    }
    attempt->report.started = times->started;
    attempt->report.finished = times->finished;
    events_.runEnded(attempt, std::chrono::duration<double>(times->finished - times->started).count());
    if (attempt->aborted) {
        releaseBuffers(*attempt);
        return end(attempt, JobState::Cancelled, {});
    }
    const auto ran = times->finished - times->started;
    if (const auto limit = attempt->spec->timeout; limit.count() > 0 && ran > limit) {
        releaseBuffers(*attempt);
        const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
        return end(attempt, JobState::TimedOut,
                   Error{ErrorKind::TimedOut, fmt::format("ran {:.3g} s, over its timeout of {:.3g} s; the runtime cannot stop a "
                                                          "kernel, so it ran to its end and its result is dropped",
                                                          seconds(ran), seconds(limit))});
    }
    downloadOutputs(attempt);
}

void DeviceWorker::downloadOutputs(const AttemptPtr& attempt) {
    // Commands answer in order: the last download's callback sees all of them done.
    struct Progress {
        std::size_t left = 0;
        std::optional<Error> error;
    };
    auto progress = std::make_shared<Progress>();
    for (const auto& buffer : attempt->buffers) progress->left += writes(buffer.access) ? 1 : 0;
    const auto finish = [this, attempt, progress] {
        attempt->report.outputsBack = std::chrono::steady_clock::now();
        if (progress->error) {
            releaseBuffers(*attempt);
            return end(attempt, JobState::Failed, progress->error);
        }
        events_.outputsBack(attempt);
        --active_;
    };
    if (progress->left == 0) return finish();
    // The callback may run at once, on this thread, and the last one ends the attempt: take the ids first.
    std::vector<BufferId> outputs;
    for (const auto& buffer : attempt->buffers) {
        if (writes(buffer.access)) outputs.push_back(buffer.device);
    }
    for (const BufferId output : outputs) {
        device_->download(output, [progress, finish](Result<CommandTimes> done) {
            if (!done && !progress->error) progress->error = done.error();
            if (--progress->left == 0) finish();
        });
    }
}

void DeviceWorker::abort(const AttemptPtr& attempt) { attempt->aborted = true; }

void DeviceWorker::releaseBuffers(Attempt& attempt) {
    for (auto& buffer : attempt.buffers) {
        if (buffer.device != 0) device_->release(buffer.device);
        buffer.device = 0;
    }
}

void DeviceWorker::end(const AttemptPtr& attempt, JobState state, std::optional<Error> error) {
    attempt->report.state = state;
    attempt->report.error = std::move(error);
    events_.ended(attempt);
    --active_;
}

}  // namespace heteroscope
