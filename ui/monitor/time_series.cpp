#include "ui/monitor/time_series.h"

#include <algorithm>
#include <cmath>

namespace heteroscope {

TimeSeries::TimeSeries(std::int64_t spanMs, int buckets) : spanMs_(spanMs), widthMs_(std::max<std::int64_t>(1, spanMs / buckets)) {}

void TimeSeries::push(std::int64_t timeMs, double value) {
    if (!std::isfinite(value)) {
        pushGap(timeMs);
        return;
    }
    while (!buckets_.empty() && buckets_.back().firstTime > timeMs) buckets_.pop_back();
    bool breaks = false;
    if (!buckets_.empty()) {
        const std::int64_t since = timeMs - buckets_.back().lastTime;
        breaks = gapSince_.has_value() || since > 3 * std::max<std::int64_t>(usualMs_, 1000);
        // A pause is not the new interval, unless it comes twice: then somebody chose it.
        if (since > 0 && !gapSince_) {
            if (!breaks || (since < previousMs_ * 5 / 4 && since > previousMs_ * 3 / 4)) usualMs_ = std::min<std::int64_t>(since, 60'000);
            previousMs_ = since;
        }
    }
    gapSince_.reset();
    const std::int64_t index = timeMs / widthMs_;
    if (buckets_.empty() || buckets_.back().index != index || breaks) {
        buckets_.push_back({index, timeMs, timeMs, timeMs, timeMs, value, value, value, breaks});
    } else {
        Bucket& bucket = buckets_.back();
        if (value < bucket.min) bucket.min = value, bucket.minTime = timeMs;
        if (value > bucket.max) bucket.max = value, bucket.maxTime = timeMs;
        bucket.lastTime = std::max(bucket.lastTime, timeMs);
        bucket.last = value;
    }
    // One bucket beyond the span stays, so that the line reaches the left edge.
    while (buckets_.size() > 2 && buckets_[1].lastTime < timeMs - spanMs_) buckets_.pop_front();
    // Breaks can add buckets inside one width; the bound holds all the same.
    const auto most = static_cast<std::size_t>(2 * (spanMs_ / widthMs_) + 4);
    while (buckets_.size() > most) buckets_.pop_front();
}

void TimeSeries::pushGap(std::int64_t timeMs) {
    if (!buckets_.empty() && !gapSince_) gapSince_ = timeMs;
}

QList<QPointF> TimeSeries::points(double fromMs, double toMs) const {
    QList<QPointF> out;
    auto begin = std::lower_bound(buckets_.begin(), buckets_.end(), fromMs,
                                  [](const Bucket& bucket, double at) { return static_cast<double>(bucket.lastTime) < at; });
    if (begin != buckets_.begin()) --begin;
    out.reserve(2 * (buckets_.end() - begin));
    for (auto it = begin; it != buckets_.end(); ++it) {
        const Bucket& bucket = *it;
        const QPointF low(static_cast<double>(bucket.minTime), bucket.min), high(static_cast<double>(bucket.maxTime), bucket.max);
        if (bucket.minTime == bucket.maxTime) {
            out.append(low);
        } else {
            out.append(bucket.minTime < bucket.maxTime ? low : high);
            out.append(bucket.minTime < bucket.maxTime ? high : low);
        }
        if (static_cast<double>(bucket.firstTime) > toMs) break;
    }
    return out;
}

QList<TimeSeries::Gap> TimeSeries::gaps(double fromMs, double toMs) const {
    QList<Gap> out;
    const auto add = [&](std::int64_t from, std::int64_t to) {
        const Gap gap{std::max(fromMs, static_cast<double>(from)), std::min(toMs, static_cast<double>(to))};
        if (gap.toMs > gap.fromMs) out.append(gap);
    };
    for (std::size_t i = 1; i < buckets_.size(); ++i)
        if (buckets_[i].breakBefore) add(buckets_[i - 1].lastTime, buckets_[i].firstTime);
    if (!buckets_.empty()) {
        const std::int64_t last = buckets_.back().lastTime;
        if (gapSince_ || toMs - static_cast<double>(last) > 3.0 * static_cast<double>(std::max<std::int64_t>(usualMs_, 1000)))
            add(last, static_cast<std::int64_t>(toMs) + 1);
    }
    return out;
}

std::optional<double> TimeSeries::valueAt(double timeMs) const {
    if (buckets_.empty() || timeMs < static_cast<double>(buckets_.front().firstTime)) return std::nullopt;
    for (const auto& gap : gaps(timeMs - 1e12, timeMs + 1))
        if (timeMs > gap.fromMs && timeMs < gap.toMs) return std::nullopt;
    auto after = std::upper_bound(buckets_.begin(), buckets_.end(), timeMs,
                                  [](double at, const Bucket& bucket) { return at < static_cast<double>(bucket.firstTime); });
    if (after == buckets_.begin()) return std::nullopt;
    return std::prev(after)->last;
}

}  // namespace heteroscope
