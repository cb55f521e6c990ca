#include "scheduler/live/job_finisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace heteroscope {
namespace {

constexpr std::size_t finisherThreads = 2;
constexpr std::size_t firstValueCount = 8;

bool writes(Access access) { return access != Access::Read; }

template <class T>
void summariseAs(std::span<const std::byte> bytes, OutputSummary& summary) {
    const std::size_t n = bytes.size() / sizeof(T);
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0.0;
    std::size_t finite = 0;
    for (std::size_t i = 0; i < n; ++i) {
        T raw;
        std::memcpy(&raw, bytes.data() + i * sizeof(T), sizeof(T));
        const double value = static_cast<double>(raw);
        if (i < firstValueCount) summary.firstValues.push_back(value);
        if (std::isnan(value)) ++summary.nanCount;
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
        ++finite;
    }
    if (finite == 0) return;
    summary.minimum = low;
    summary.maximum = high;
    summary.mean = sum / static_cast<double>(finite);
}

void summariseBytes(ElementType type, std::span<const std::byte> bytes, OutputSummary& summary) {
    switch (type.scalar) {
        case Scalar::Char: return summariseAs<std::int8_t>(bytes, summary);
        case Scalar::Bool:
        case Scalar::Bytes:
        case Scalar::UChar: return summariseAs<std::uint8_t>(bytes, summary);
        case Scalar::Short: return summariseAs<std::int16_t>(bytes, summary);
        case Scalar::UShort: return summariseAs<std::uint16_t>(bytes, summary);
        case Scalar::Int: return summariseAs<std::int32_t>(bytes, summary);
        case Scalar::UInt: return summariseAs<std::uint32_t>(bytes, summary);
        case Scalar::Long: return summariseAs<std::int64_t>(bytes, summary);
        case Scalar::ULong: return summariseAs<std::uint64_t>(bytes, summary);
        case Scalar::Float: return summariseAs<float>(bytes, summary);
        case Scalar::Double: return summariseAs<double>(bytes, summary);
        case Scalar::Half: return summariseAs<_Float16>(bytes, summary);
    }
}

}  // namespace

JobFinisher::JobFinisher(std::filesystem::path outputFolder, std::uint64_t outputQuotaBytes,
                         std::function<void(const AttemptPtr&)> finished)
    : outputFolder_(std::move(outputFolder)), outputQuotaBytes_(outputQuotaBytes), finished_(std::move(finished)) {
    for (std::size_t i = 0; i < finisherThreads; ++i) threads_.emplace_back([this] { run(); });
}

JobFinisher::~JobFinisher() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void JobFinisher::finish(AttemptPtr attempt) {
    ++active_;
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(attempt));
    }
    wake_.notify_one();
}

void JobFinisher::waitBelow(std::size_t limit) {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [&] { return queue_.size() < limit || stopping_; });
}

void JobFinisher::expectWriters(const JobSpec& spec) {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, binding] : spec.bindings) {
        if (writes(binding.access) && !binding.data->savePath.empty()) ++writers_[binding.data.get()];
    }
}

void JobFinisher::writerGone(const JobSpec& spec) {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, binding] : spec.bindings) {
        const auto it = writers_.find(binding.data.get());
        if (it != writers_.end() && writes(binding.access) && --it->second == 0) writers_.erase(it);
    }
}

void JobFinisher::run() {
    for (;;) {
        AttemptPtr next;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
            if (queue_.empty()) return;
            next = std::move(queue_.front());
            queue_.pop_front();
        }
        drained_.notify_all();
        finishNow(*next);
        finished_(next);
        --active_;
    }
}

void JobFinisher::finishNow(Attempt& attempt) {
    if (attempt.aborted) {
        attempt.report.state = JobState::Cancelled;
        return;
    }
    const auto fail = [&](const Status& done) {
        if (done) return;
        attempt.report.state = JobState::Failed;
        attempt.report.error = done.error();
    };
    summarise(attempt);
    if (attempt.spec->check) check(attempt);
    fail(save(attempt));
    fail(keep(attempt));
    if (attempt.report.state == JobState::Succeeded && !attempt.writersSettled.exchange(true)) {
        fail(saveSharedData(*attempt.spec));
    }
}

void JobFinisher::summarise(Attempt& attempt) {
    for (const auto& buffer : attempt.buffers) {
        if (!writes(buffer.access)) continue;
        OutputSummary summary;
        summary.name = buffer.planned->argument->name;
        summary.type = buffer.planned->argument->type.name();
        summary.count = buffer.planned->count;
        summariseBytes(buffer.planned->argument->type, buffer.bytes, summary);
        attempt.report.outputs.push_back(std::move(summary));
    }
}

void JobFinisher::check(Attempt& attempt) {
    const auto& kernel = *attempt.plan->kernel;
    if (kernel.reference.empty()) return;  // stays "none": shown as such, never as passed
    std::vector<CheckedBuffer> buffers;
    for (const auto& buffer : attempt.buffers) {
        CheckedBuffer checked;
        checked.argument = buffer.planned->argument;
        checked.after = buffer.bytes;
        if (buffer.before) checked.before = buffer.before->bytes().first(buffer.bytes.size());
        else if (buffer.access == Access::Read) checked.before = buffer.bytes;
        buffers.push_back(checked);
    }
    auto result = checkAgainstReference(kernel, attempt.plan->parameters, buffers);
    if (!result) {
        attempt.report.state = JobState::Failed;
        attempt.report.error = result.error();
        return;
    }
    attempt.report.check = *result;
    if (result->state == CheckResult::State::Failed) {
        attempt.report.state = JobState::Failed;
        attempt.report.error = Error{ErrorKind::CheckFailed, result->message};
    }
}

Status JobFinisher::save(Attempt& attempt) {
    if (attempt.report.state != JobState::Succeeded) return {};
    for (const auto& buffer : attempt.buffers) {
        const auto& name = buffer.planned->argument->name;
        const auto wanted = attempt.spec->save.find(name);
        if (wanted == attempt.spec->save.end()) continue;
        if (auto written = writeNpy(wanted->second, buffer.planned->argument->type, buffer.bytes); !written) {
            return written;
        }
    }
    return {};
}

Status JobFinisher::saveSharedData(const JobSpec& spec) {
    for (const auto& [name, binding] : spec.bindings) {
        if (!writes(binding.access) || binding.data->savePath.empty()) continue;
        {
            const std::lock_guard lock(mutex_);
            const auto it = writers_.find(binding.data.get());
            if (it == writers_.end() || --it->second > 0) continue;  // a later writer saves
            writers_.erase(it);
        }
        const auto storage = binding.data->hostBuffer();
        if (!storage) return storage.error();
        const auto bytes = (*storage)->bytes().first(binding.data->count() * binding.data->type().bytes());
        if (auto written = writeNpy(binding.data->savePath, binding.data->type(), bytes); !written) return written;
    }
    return {};
}

Status JobFinisher::keep(Attempt& attempt) {
    if (!attempt.spec->keepOutputs || outputFolder_.empty()) return {};
    std::error_code failure;
    std::filesystem::create_directories(outputFolder_, failure);
    for (auto& summary : attempt.report.outputs) {
        const auto buffer = std::find_if(attempt.buffers.begin(), attempt.buffers.end(), [&](const StagedBuffer& b) {
            return b.planned->argument->name == summary.name;
        });
        const auto file = outputFolder_ / fmt::format("{}-{}.npy", attempt.job, summary.name);
        if (auto written = writeNpy(file, buffer->planned->argument->type, buffer->bytes); !written) return written;
        summary.file = file.string();
    }
    enforceQuota();
    return {};
}

void JobFinisher::enforceQuota() {
    const std::lock_guard lock(quotaMutex_);
    struct Kept {
        std::filesystem::file_time_type time;
        std::filesystem::path path;
        std::uint64_t bytes;
    };
    std::vector<Kept> kept;
    std::uint64_t total = 0;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(outputFolder_, failure)) {
        if (!entry.is_regular_file(failure) || entry.path().extension() != ".npy") continue;
        kept.push_back({entry.last_write_time(failure), entry.path(), entry.file_size(failure)});
        total += kept.back().bytes;
    }
    std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.time < b.time; });
    for (const auto& file : kept) {
        if (total <= outputQuotaBytes_) return;
        if (std::filesystem::remove(file.path, failure)) total -= file.bytes;
    }
}

}  // namespace heteroscope
