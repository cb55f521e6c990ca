#pragma once

#include <vector>

namespace heteroscope {

/// Maps a schedule's seconds to pixels and back, and zooms; no widget in sight. `left` to `right` are the pixels of
/// the plot, `from` to `to` the seconds it shows, within 0 … `total`.
struct GanttGeometry {
    double total = 1.0;
    double from = 0.0;
    double to = 1.0;
    double left = 0.0;
    double right = 100.0;

    double secondsPerPixel() const;
    double pixelAt(double seconds) const;
    double secondsAt(double pixel) const;

    void fit();                                   ///< shows everything
    void zoom(double factor, double aroundPixel);  ///< factor > 1 goes closer; the second under the pixel stays there
    void pan(double pixels);                      ///< positive: towards later times
    void show(double start, double finish);       ///< these seconds, with a little room

    /// Round values for an axis: at most `most` of them, in steps of 1, 2 or 5 times a power of ten.
    std::vector<double> ticks(int most) const;

private:
    void clamp();
};

}  // namespace heteroscope
