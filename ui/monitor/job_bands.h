#pragma once

#include "scheduler/engine.h"
#include "ui/monitor/plot_geometry.h"

#include <QString>
#include <QStringList>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace heteroscope {

/// One job's run on a device, or several short old ones that no pixel could tell apart. Nanoseconds since the epoch.
struct JobBand {
    JobId job = 0;   ///< the first one
    int kernel = -1; ///< position in JobBands::kernels(); −1: several kernels
    std::int64_t start = 0;
    std::int64_t finish = 0;  ///< 0: runs
    std::uint32_t count = 1;
    std::uint32_t failed = 0;
};

/// When a device received data, for the copy band.
struct CopyBand {
    std::int64_t start = 0, finish = 0;
};

/// What ran on each device in the last quarter of an hour, from job snapshots. Bounded: short old runs are folded.
class JobBands {
public:
    void update(const JobSnapshot& job);
    /// Forgets what ended before, and folds when there is much.
    void trim(std::int64_t nowNs);
    /// Finished runs in order of start, then those that run now.
    std::vector<JobBand> bands(const std::string& device, std::int64_t fromNs, std::int64_t toNs) const;
    std::vector<CopyBand> copies(const std::string& device, std::int64_t fromNs, std::int64_t toNs) const;
    const QStringList& kernels() const { return kernels_; }
    std::size_t size(const std::string& device) const;

    static constexpr std::int64_t keptNs = std::int64_t{16} * 60 * 1'000'000'000;
    static constexpr std::size_t most = 20'000;  ///< per device, before folding

private:
    struct Lane {
        std::deque<JobBand> done;
        std::map<JobId, JobBand> running;
        std::deque<CopyBand> copies;
        std::size_t foldAt = most;
    };
    int kernelIndex(const std::string& kernel);
    void fold(Lane& lane, std::int64_t nowNs);

    std::map<std::string, Lane> lanes_;
    QStringList kernels_;
    std::unordered_map<std::string, int> kernelIndexes_;
    std::unordered_map<JobId, std::string> runningOn_;
};

/// A band as it is drawn: neighbours of one kernel that touch are one, breaks between them are kept for the underline.
struct BandBox {
    double left = 0, right = 0;
    JobId job = 0;
    int kernel = -1;
    std::uint32_t count = 1;
    std::uint32_t failed = 0;
    bool running = false;
    std::vector<double> breaks;
};

/// Bands to boxes, at least one pixel wide, never outside the plot area.
std::vector<BandBox> layOutBands(const std::vector<JobBand>& bands, const PlotGeometry& geometry, std::int64_t nowNs);
/// "matmul", "matmul ×2", shortened to at least three letters and "…", or nothing when not even that fits.
QString bandLabel(const QString& kernel, std::uint32_t count, double width, const std::function<double(const QString&)>& advance);

}  // namespace heteroscope
