#pragma once

#include "devices/device.h"
#include "scheduler/kernel/data.h"
#include "scheduler/kernel/kernel.h"
#include "scheduler/kernel/launch_plan.h"
#include "scheduler/kernel/reference.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// One kernel run on one device by hand, through the Device interface: what the engine does, without an engine.
namespace heteroscope::test {

inline constexpr std::chrono::seconds patience{60};  // a build on a busy machine; nothing here takes as long

/// Waits for the answer of one asynchronous call.
template <class T, class Call>
Result<T> answerOf(Call call) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    call([promise](Result<T> result) { promise->set_value(std::move(result)); });
    if (future.wait_for(patience) != std::future_status::ready) {
        return Error{ErrorKind::TimedOut, "the device did not answer"};
    }
    return future.get();
}

/// The bytes of one argument before and after the run; empty for scalars and local memory.
struct ArgumentBytes {
    std::vector<std::byte> before;
    std::vector<std::byte> after;

    template <class T>
    std::vector<T> afterAs() const {
        std::vector<T> values(after.size() / sizeof(T));
        std::memcpy(values.data(), after.data(), values.size() * sizeof(T));
        return values;
    }
};

struct DeviceRun {
    LaunchPlan plan;
    std::vector<ArgumentBytes> arguments;
};

inline Result<Program> buildOn(Device& device, const ProgramSource& source) {
    return answerOf<Program>([&](Device::BuildDone done) { device.build(source, std::move(done)); });
}

/// Buffers of one run; released from the device when it ends.
class RunBuffers {
public:
    explicit RunBuffers(Device& device) : device_(device) {}
    ~RunBuffers() {
        for (const auto& [id, memory] : held_) device_.release(id);
    }
    RunBuffers(const RunBuffers&) = delete;
    RunBuffers& operator=(const RunBuffers&) = delete;

    BufferId add(std::shared_ptr<HostBuffer> memory) {
        const BufferId id = device_.allocate(memory->bytes());
        held_.emplace_back(id, std::move(memory));
        return id;
    }
    const std::vector<std::pair<BufferId, std::shared_ptr<HostBuffer>>>& held() const { return held_; }

private:
    Device& device_;
    std::vector<std::pair<BufferId, std::shared_ptr<HostBuffer>>> held_;
};

/// Plans, builds, fills, uploads, launches, downloads. `text` replaces the package's OpenCL source.
inline Result<DeviceRun> runOn(Device& device, const KernelPtr& kernel, const Parameters& parameters,
                               const std::optional<std::string>& text = {}, std::uint64_t seed = 1) {
    Result<LaunchPlan> plan = planLaunch(kernel, parameters);
    if (!plan) return plan.error();
    const KernelVariant* variant = kernel->variant(Language::OpenClC);
    if (variant == nullptr) return Error{ErrorKind::Unsupported, "no OpenCL C variant"};
    ProgramSource source = variant->source;
    if (text) source.text = *text;
    const Result<Program> program = buildOn(device, source);
    if (!program) return program.error();
    const auto entry = std::ranges::find(program->entries, variant->entry, &EntryInfo::name);
    if (entry == program->entries.end()) return Error{ErrorKind::InvalidInput, "no entry " + variant->entry};
    const Result<NDRange> range = settleRange(*plan, *entry);
    if (!range) return range.error();

    DeviceRun run{*plan, std::vector<ArgumentBytes>(plan->arguments.size())};
    RunBuffers buffers(device);
    std::vector<std::size_t> positions;  // of held buffers
    Launch launch{program->id, variant->entry, {}, *range};
    for (std::size_t i = 0; i < plan->arguments.size(); ++i) {
        const PlannedArgument& planned = plan->arguments[i];
        const KernelArgument& argument = *planned.argument;
        if (argument.kind == KernelArgument::Kind::Scalar) {
            launch.arguments.emplace_back(ScalarArgument{planned.scalar});
            continue;
        }
        if (argument.kind == KernelArgument::Kind::Local) {
            launch.arguments.emplace_back(LocalArgument{planned.bytes});
            continue;
        }
        auto memory = HostBuffer::make(planned.bytes);
        if (!memory) return memory.error();
        const std::span<std::byte> bytes = (*memory)->bytes().first(planned.bytes);
        const Status filled =
            fillBuffer(bytes, argument.type, argument.fill, seed, i, plan->parameters, kernel->folder);
        if (!filled) return filled.error();
        if (argument.access != Access::Write) run.arguments[i].before.assign(bytes.begin(), bytes.end());
        const BufferId id = buffers.add(*memory);
        positions.push_back(i);
        launch.arguments.emplace_back(BufferArgument{id});
        const auto uploaded = answerOf<CommandTimes>([&](Device::Done done) { device.upload(id, std::move(done)); });
        if (!uploaded) return uploaded.error();
    }
    const auto launched =
        answerOf<CommandTimes>([&](Device::Done done) { device.launch(std::move(launch), std::move(done)); });
    if (!launched) return launched.error();
    for (std::size_t b = 0; b < positions.size(); ++b) {
        const auto& [id, memory] = buffers.held()[b];
        const auto downloaded =
            answerOf<CommandTimes>([&, held = id](Device::Done done) { device.download(held, std::move(done)); });
        if (!downloaded) return downloaded.error();
        const auto bytes = memory->bytes().first(plan->arguments[positions[b]].bytes);
        run.arguments[positions[b]].after.assign(bytes.begin(), bytes.end());
    }
    return run;
}

inline Result<CheckResult> checkRun(const DeviceRun& run) {
    std::vector<CheckedBuffer> buffers;
    for (std::size_t i = 0; i < run.arguments.size(); ++i) {
        const KernelArgument* argument = run.plan.arguments[i].argument;
        if (argument->kind != KernelArgument::Kind::Buffer) continue;
        buffers.push_back({argument, run.arguments[i].before, run.arguments[i].after});
    }
    return checkAgainstReference(*run.plan.kernel, run.plan.parameters, buffers);
}

}  // namespace heteroscope::test
