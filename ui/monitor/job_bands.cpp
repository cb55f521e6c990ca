#include "ui/monitor/job_bands.h"

#include <algorithm>

namespace heteroscope {

namespace {

constexpr std::int64_t second = 1'000'000'000;
// Only what no range shows apart is folded: a pixel of the shortest range but the last minute is 0.3 s.
constexpr std::int64_t foldOlderThan = 75 * second;
constexpr std::int64_t foldGap = second / 4;
constexpr std::int64_t foldLength = second;

bool failedState(JobState state) { return state == JobState::Failed || state == JobState::TimedOut || state == JobState::Interrupted; }

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

int JobBands::kernelIndex(const std::string& kernel) {
    const auto [it, isNew] = kernelIndexes_.try_emplace(kernel, static_cast<int>(kernels_.size()));
    if (isNew) kernels_.append(QString::fromStdString(kernel));
    return it->second;
}

void JobBands::update(const JobSnapshot& job) {
    if (const auto known = runningOn_.find(job.id); known != runningOn_.end() && (known->second != job.device || job.times.started == 0)) {
        lanes_[known->second].running.erase(job.id);  // it went elsewhere or back to ready
        runningOn_.erase(known);
    }
    // One that failed before it ran (its source did not build) is a mark at its end.
    const bool onlyFailed = job.times.started == 0 && failedState(job.state) && job.times.ended > 0;
    if (job.device.empty() || (job.times.started == 0 && !onlyFailed)) return;
    Lane& lane = lanes_[job.device];
    JobBand band{job.id, kernelIndex(job.kernel), job.times.started, job.times.finished, 1, failedState(job.state) ? 1u : 0u};
    if (onlyFailed) band.start = band.finish = job.times.ended;
    if (!isFinal(job.state)) {
        lane.running[job.id] = band;
        runningOn_[job.id] = job.device;
        return;
    }
    lane.running.erase(job.id);
    runningOn_.erase(job.id);
    if (band.finish == 0) band.finish = std::max(job.times.ended, band.start);
    auto place = lane.done.end();
    while (place != lane.done.begin() && std::prev(place)->start >= band.start) {
        --place;
        if (place->job == band.job && place->start == band.start) {
            *place = band;  // told again, perhaps with a check's result
            return;
        }
    }
    lane.done.insert(place, band);
    if (job.times.staging > 0 && job.times.staged > job.times.staging) lane.copies.push_back({job.times.staging, job.times.staged});
    if (lane.done.size() > lane.foldAt) fold(lane, band.finish);
    while (lane.copies.size() > most) lane.copies.pop_front();
}

void JobBands::fold(Lane& lane, std::int64_t nowNs) {
    std::deque<JobBand> kept;
    for (const auto& band : lane.done) {
        if (!kept.empty() && band.finish < nowNs - foldOlderThan && band.start - kept.back().finish < foldGap &&
            band.finish - kept.back().start < foldLength) {
            JobBand& last = kept.back();
            if (last.kernel != band.kernel) last.kernel = -1;
            last.finish = std::max(last.finish, band.finish);
            last.count += band.count;
            last.failed += band.failed;
        } else {
            kept.push_back(band);
        }
    }
    // Still too many means that they are all young: the oldest go.
    while (kept.size() > 5 * most) kept.pop_front();
    lane.done = std::move(kept);
    lane.foldAt = lane.done.size() + most;  // a fold looks at everything: one for each `most` that came since
}

void JobBands::trim(std::int64_t nowNs) {
    for (auto& [device, lane] : lanes_) {
        while (!lane.done.empty() && lane.done.front().finish < nowNs - keptNs) lane.done.pop_front();
        while (!lane.copies.empty() && lane.copies.front().finish < nowNs - keptNs) lane.copies.pop_front();
        if (lane.done.size() > lane.foldAt) fold(lane, nowNs);
    }
}

std::vector<JobBand> JobBands::bands(const std::string& device, std::int64_t fromNs, std::int64_t toNs) const {
    std::vector<JobBand> out;
    const auto lane = lanes_.find(device);
    if (lane == lanes_.end()) return out;
    for (const auto& band : lane->second.done)
        if (band.finish >= fromNs && band.start <= toNs) out.push_back(band);
    for (const auto& [job, band] : lane->second.running)
        if (band.start <= toNs && (band.finish == 0 || band.finish >= fromNs)) out.push_back(band);
    return out;
}

std::vector<CopyBand> JobBands::copies(const std::string& device, std::int64_t fromNs, std::int64_t toNs) const {
    std::vector<CopyBand> out;
    const auto lane = lanes_.find(device);
    if (lane == lanes_.end()) return out;
    for (const auto& copy : lane->second.copies)
        if (copy.finish >= fromNs && copy.start <= toNs) out.push_back(copy);
    return out;
}

std::size_t JobBands::size(const std::string& device) const {
    const auto lane = lanes_.find(device);
    return lane == lanes_.end() ? 0 : lane->second.done.size() + lane->second.running.size();
}

std::vector<BandBox> layOutBands(const std::vector<JobBand>& bands, const PlotGeometry& geometry, std::int64_t nowNs) {
    std::vector<BandBox> boxes;
    for (const auto& band : bands) {
        const std::int64_t finish = band.finish == 0 ? std::max(nowNs, band.start) : band.finish;
        if (milliseconds(finish) < geometry.fromMs || milliseconds(band.start) > geometry.toMs) continue;
        double left = geometry.clampedX(milliseconds(band.start));
        const double right = std::min(std::max(geometry.clampedX(milliseconds(finish)), left + 1.0), geometry.right);
        left = std::min(left, right - 1.0);
        if (!boxes.empty()) {
            BandBox& last = boxes.back();
            const bool sliver = right - last.left < 2.0;  // several kernels within two pixels: only their sum can be seen
            if (left - last.right <= 1.0 && (last.kernel == band.kernel || sliver) && (last.failed > 0) == (band.failed > 0)) {
                if (last.kernel != band.kernel) last.kernel = -1;
                if (left - (last.breaks.empty() ? last.left : last.breaks.back()) > 3.0) last.breaks.push_back(left);
                last.right = std::max(last.right, right);
                last.count += band.count;
                last.failed += band.failed;
                last.running |= band.finish == 0;
                continue;
            }
        }
        boxes.push_back({left, right, band.job, band.kernel, band.count, band.failed, band.finish == 0, {}});
    }
    return boxes;
}

QString bandLabel(const QString& kernel, std::uint32_t count, double width, const std::function<double(const QString&)>& advance) {
    if (kernel.isEmpty()) return {};
    const QString times = count > 1 ? QStringLiteral(" ×%1").arg(count) : QString();
    if (advance(kernel + times) <= width) return kernel + times;
    if (advance(kernel) <= width) return kernel;
    for (qsizetype letters = kernel.size() - 1; letters >= 3; --letters) {
        const QString shorter = kernel.left(letters) + QStringLiteral("…");
        if (advance(shorter) <= width) return shorter;
    }
    return {};
}

}  // namespace heteroscope
