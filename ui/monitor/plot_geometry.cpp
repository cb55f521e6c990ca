#include "ui/monitor/plot_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heteroscope {

double PlotGeometry::clampedX(double ms) const { return std::clamp(x(ms), left, right); }

double tickInterval(double spanMs, int wanted) {
    // Steps a clock has, in seconds.
    constexpr std::array steps{1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0};
    for (const double step : steps)
        if (spanMs / (step * 1000.0) <= wanted) return step * 1000.0;
    return steps.back() * 1000.0;
}

std::vector<double> ticks(const PlotGeometry& geometry, double intervalMs, double utcOffsetMs) {
    std::vector<double> places;
    const double first = std::ceil((geometry.fromMs + utcOffsetMs) / intervalMs) * intervalMs - utcOffsetMs;
    for (double at = first; at <= geometry.toMs && places.size() < 100; at += intervalMs) places.push_back(at);
    return places;
}

}  // namespace heteroscope
