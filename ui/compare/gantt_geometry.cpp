#include "ui/compare/gantt_geometry.h"

#include <algorithm>
#include <cmath>

namespace heteroscope {
namespace {

constexpr double closest = 1e-7;  // seconds across the plot at the deepest zoom: bars of 100 ns

}  // namespace

double GanttGeometry::secondsPerPixel() const { return (to - from) / std::max(1.0, right - left); }

double GanttGeometry::pixelAt(double seconds) const { return left + (seconds - from) / secondsPerPixel(); }

double GanttGeometry::secondsAt(double pixel) const { return from + (pixel - left) * secondsPerPixel(); }

void GanttGeometry::fit() {
    from = 0.0;
    to = total;
}

void GanttGeometry::zoom(double factor, double aroundPixel) {
    const double anchor = secondsAt(aroundPixel);
    const double span = std::clamp((to - from) / factor, std::min(closest, total), total);
    const double share = (aroundPixel - left) / std::max(1.0, right - left);
    from = anchor - share * span;
    to = from + span;
    clamp();
}

void GanttGeometry::pan(double pixels) {
    const double shift = pixels * secondsPerPixel();
    from += shift;
    to += shift;
    clamp();
}

void GanttGeometry::show(double start, double finish) {
    const double room = std::max((finish - start) * 0.1, closest);
    from = start - room;
    to = finish + room;
    clamp();
}

void GanttGeometry::clamp() {
    const double span = std::min(to - from, total);
    from = std::clamp(from, 0.0, total - span);
    to = from + span;
}

std::vector<double> GanttGeometry::ticks(int most) const {
    std::vector<double> values;
    const double span = to - from;
    if (!(span > 0.0) || most < 1) return values;
    const double rough = span / most;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power;
    for (const double multiple : {1.0, 2.0, 5.0, 10.0}) {
        step = multiple * power;
        if (span / step <= most) break;
    }
    for (double i = std::ceil(from / step); i * step <= to + step * 1e-9; ++i) values.push_back(i * step);
    return values;
}

}  // namespace heteroscope
