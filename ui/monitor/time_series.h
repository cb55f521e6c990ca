#pragma once

#include <QList>
#include <QPointF>

#include <cstdint>
#include <deque>
#include <optional>

namespace heteroscope {

/// One metric over one span of time, bounded: at most `buckets` pairs of minimum and maximum, so that no peak is lost
/// however many samples come. Times in milliseconds since the Unix epoch, not decreasing; after a step of the clock
/// backwards what lay ahead is dropped.
class TimeSeries {
public:
    struct Gap {
        double fromMs, toMs;
        bool operator==(const Gap&) const = default;
    };

    TimeSeries(std::int64_t spanMs, int buckets);

    void push(std::int64_t timeMs, double value);
    /// No value at this moment: the line breaks here.
    void pushGap(std::int64_t timeMs);

    /// Points for a line over [fromMs, toMs], with one more on each side so that the line reaches the edges.
    QList<QPointF> points(double fromMs, double toMs) const;
    /// Where nothing was measured between the first sample and toMs: breaks, and silence for more than three times
    /// the usual interval.
    QList<Gap> gaps(double fromMs, double toMs) const;
    /// Value of the sample nearest to a moment; none in a gap or before the first.
    std::optional<double> valueAt(double timeMs) const;

    bool empty() const { return buckets_.empty(); }
    std::size_t size() const { return buckets_.size(); }
    std::int64_t spanMs() const { return spanMs_; }

private:
    struct Bucket {
        std::int64_t index;
        std::int64_t minTime, maxTime, firstTime, lastTime;
        double min, max, last;
        bool breakBefore;
    };

    std::int64_t spanMs_, widthMs_;
    std::deque<Bucket> buckets_;
    std::int64_t previousMs_ = 0;
    std::int64_t usualMs_ = 1000;  // between the last two samples that followed one another
    std::optional<std::int64_t> gapSince_;
};

}  // namespace heteroscope
