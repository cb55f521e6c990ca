#pragma once

#include <cstdint>
#include <vector>

namespace heteroscope {

/// Time to pixel and back for everything on the Monitor that shares an axis: chart, bands, cross-hair. Plain values;
/// times in milliseconds since the Unix epoch, pixels relative to the widget's left edge.
struct PlotGeometry {
    double left = 0, right = 1;  ///< of the plot area
    double fromMs = 0, toMs = 1;

    double x(double ms) const { return left + (ms - fromMs) / (toMs - fromMs) * (right - left); }
    double time(double pixel) const { return fromMs + (pixel - left) / (right - left) * (toMs - fromMs); }
    double clampedX(double ms) const;
    bool contains(double ms) const { return ms >= fromMs && ms <= toMs; }
};

/// Distance between time labels, in milliseconds, so that about `wanted` of them fit a span.
double tickInterval(double spanMs, int wanted);
/// Label positions within the geometry: whole multiples of the interval on the local clock.
std::vector<double> ticks(const PlotGeometry& geometry, double intervalMs, double utcOffsetMs);

}  // namespace heteroscope
