#include "scheduler/workload/data_access.h"

#include "scheduler/workload/job_order.h"
#include "scheduler/workload/workload.h"

#include <algorithm>
#include <unordered_map>

namespace heteroscope {

void DataAccesses::splitAt(Segments& segments, std::uint64_t element) {
    auto behind = segments.upper_bound(element);
    if (behind == segments.begin()) return;
    const auto segment = std::prev(behind);
    if (segment->first == element || segment->second.end <= element) return;
    Segment rest = segment->second;
    segment->second.end = element;
    segments.emplace_hint(behind, element, std::move(rest));
}

void DataAccesses::read(Segments& segments, std::uint64_t first, std::uint64_t end, std::size_t job,
                        const std::function<void(std::size_t)>& before) {
    splitAt(segments, first);
    splitAt(segments, end);
    std::uint64_t at = first;
    for (auto segment = segments.lower_bound(first); at < end; ++segment) {
        const bool gap = segment == segments.end() || segment->first > at;
        if (gap) {
            const std::uint64_t gapEnd = segment == segments.end() ? end : std::min(end, segment->first);
            segment = segments.emplace_hint(segment, at, Segment{gapEnd, nobody, {}});
        }
        if (segment->second.writer != nobody) before(segment->second.writer);
        segment->second.readers.push_back(job);
        at = segment->second.end;
    }
}

void DataAccesses::write(Segments& segments, std::uint64_t first, std::uint64_t end, std::size_t job,
                         const std::function<void(std::size_t)>& before) {
    splitAt(segments, first);
    splitAt(segments, end);
    const auto from = segments.lower_bound(first);
    const auto to = segments.lower_bound(end);
    for (auto segment = from; segment != to; ++segment) {
        if (segment->second.writer != nobody) before(segment->second.writer);
        for (const std::size_t reader : segment->second.readers) before(reader);
    }
    segments.emplace_hint(segments.erase(from, to), first, Segment{end, job, {}});
}

void DataAccesses::add(std::size_t job, const std::map<std::string, DataBinding>& bindings,
                       const std::function<void(std::size_t)>& before) {
    const auto others = [&](std::size_t other) {
        if (other != job) before(other);
    };
    const auto rangeEnd = [](const DataBinding& b) { return b.count ? b.first + *b.count : b.data->count(); };
    // What a job reads it reads before it writes.
    for (const auto& [name, binding] : bindings)
        if (binding.access != Access::Write && binding.first < rangeEnd(binding))
            read(data_[binding.data.get()], binding.first, rangeEnd(binding), job, others);
    for (const auto& [name, binding] : bindings) {
        if (binding.newVersion) {
            if (binding.version) write(data_[binding.version.get()], 0, binding.version->count(), job, others);
        } else if (binding.access != Access::Read && binding.first < rangeEnd(binding)) {
            write(data_[binding.data.get()], binding.first, rangeEnd(binding), job, others);
        }
    }
}

void addImpliedDependencies(std::vector<JobSpec>& jobs) {
    std::unordered_map<JobId, std::size_t> positions;
    for (std::size_t i = 0; i < jobs.size(); ++i) positions[jobs[i].id] = i;
    std::vector<std::vector<std::size_t>> stated(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
        for (const JobId id : jobs[i].after)
            if (const auto found = positions.find(id); found != positions.end()) stated[i].push_back(found->second);
    DataAccesses accesses;
    for (const std::size_t i : topologicalOrder(stated)) {
        std::vector<JobId>& after = jobs[i].after;
        accesses.add(i, jobs[i].bindings, [&](std::size_t before) { after.push_back(jobs[before].id); });
        std::vector<JobId> once;
        std::unordered_map<JobId, bool> seen;
        for (const JobId id : after)
            if (!std::exchange(seen[id], true)) once.push_back(id);
        after = std::move(once);
    }
}

}  // namespace heteroscope
