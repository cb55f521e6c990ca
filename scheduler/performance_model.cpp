#include "scheduler/performance_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heteroscope {
namespace {

/// What a job's length is thought to grow with: operations and bytes where the package states them, else the number
/// of work-items. Comparable between kernels only where stated.
struct Work {
    double amount = 0.0;
    bool stated = false;
};

Work workOf(const LaunchPlan& plan) {
    const double stated = std::max(plan.flops.value_or(0.0), 0.0) + std::max(plan.bytes.value_or(0.0), 0.0);
    if (stated > 0.0) return {stated, true};
    double items = 1.0;
    for (unsigned dimension = 0; dimension < plan.range.dimensions && dimension < 3; ++dimension)
        items *= static_cast<double>(plan.range.global[dimension]);
    return {items, false};
}

std::string kernelKey(const LaunchPlan& plan, const std::string& deviceId) {
    std::string key = plan.kernel ? plan.kernel->id : std::string();
    key += '|';
    key += deviceId;
    return key;
}

std::string sizeKey(std::string key, const LaunchPlan& plan) {
    char digits[32];
    for (const auto& [name, value] : plan.parameters) {
        key += '|';
        key += name;
        key += '=';
        key.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    return key;
}

}  // namespace

// Mean and variance over all samples while these are few, then over about the last 64: clocks and neighbours change.
void PerformanceModel::Measured::add(double seconds) {
    samples = std::min(samples + 1, 1'000'000u);
    const double gain = 1.0 / std::min(samples, 64u);
    const double before = mean;
    mean += gain * (seconds - mean);
    variance += gain * ((seconds - before) * (seconds - mean) - variance);
}

double PerformanceModel::Measured::relativeSpread() const {
    if (samples < 2 || mean <= 0.0) return 0.0;
    const double count = std::min(samples, 64u);
    return std::sqrt(std::max(variance, 0.0) * count / (count - 1.0)) / mean;
}

void PerformanceModel::Fit::add(double work, double seconds, double sign) {
    const double weight = sign / (seconds * seconds);
    leastWork = samples == 0 ? work : std::min(leastWork, work);
    mostWork = samples == 0 ? work : std::max(mostWork, work);
    samples += sign;
    s1 += weight;
    sw += weight * work;
    sww += weight * work * work;
    st += weight * seconds;
    swt += weight * work * seconds;
}

PerformanceModel::Line PerformanceModel::Fit::line() const {
    Line line;
    const double determinant = s1 * sww - sw * sw;
    if (hasTwoSizes() && determinant > 1e-12 * s1 * sww) {
        line.slope = (s1 * swt - sw * st) / determinant;
        line.fixed = (st - line.slope * sw) / s1;
    }
    if (line.slope < 0.0) line = {st / s1, 0.0};
    if (line.fixed < 0.0 || (line.fixed == 0.0 && line.slope == 0.0)) line = {0.0, sww > 0.0 ? swt / sww : 0.0};
    // Σ((t − fixed − slope·w)/t)², expanded.
    const double squares = samples - 2.0 * (line.fixed * st + line.slope * swt) + line.fixed * line.fixed * s1 +
                           2.0 * line.fixed * line.slope * sw + line.slope * line.slope * sww;
    line.relativeSpread = std::sqrt(std::max(squares, 0.0) / std::max(samples, 1.0));
    return line;
}

void PerformanceModel::record(const LaunchPlan& plan, const std::string& deviceId, double runSeconds) {
    if (!std::isfinite(runSeconds) || runSeconds < 0.0) return;
    const double seconds = std::max(runSeconds, 1e-9);
    const Work work = workOf(plan);
    const std::string kernel = kernelKey(plan, deviceId);
    const std::lock_guard lock(mutex_);
    if (frozen_) return;
    Measured& measured = bySize_[sizeKey(kernel, plan)];
    Fit& ofKernel = byKernel_[kernel];
    Fit& ofDevice = byDevice_[deviceId];
    // Some runtimes compile at the first launch of a size. A first run of over twice the second is dropped.
    if (measured.samples == 1 && measured.mean > 2.0 * seconds) {
        ofKernel.add(work.amount, measured.mean, -1.0);
        if (work.stated) ofDevice.add(work.amount, measured.mean, -1.0);
        measured = {};
    }
    measured.add(seconds);
    ofKernel.add(work.amount, seconds);
    if (work.stated) ofDevice.add(work.amount, seconds);
}

Prediction PerformanceModel::predict(const LaunchPlan& plan, const std::string& deviceId) const {
    // One size says little about one so much larger: what a launch costs by itself hides the rest.
    constexpr double farthest = 1000.0;
    const Work work = workOf(plan);
    const std::string kernel = kernelKey(plan, deviceId);
    const std::lock_guard lock(mutex_);
    if (const auto size = bySize_.find(sizeKey(kernel, plan)); size != bySize_.end())
        return {size->second.mean, size->second.relativeSpread(), size->second.samples};

    const auto ofDevice = byDevice_.find(deviceId);
    const bool deviceKnown = work.stated && ofDevice != byDevice_.end() && ofDevice->second.samples > 0.0;
    const auto ofKernel = byKernel_.find(kernel);
    if (ofKernel != byKernel_.end() && ofKernel->second.samples > 0.0) {
        const Fit& fit = ofKernel->second;
        const Line line = fit.line();
        if (fit.hasTwoSizes()) return {line.at(work.amount), line.relativeSpread, 0};
        if (deviceKnown && ofDevice->second.hasTwoSizes()) {
            // The launch's own cost from the device, the rest in proportion; where there is no rest, the device's rate.
            const Line device = ofDevice->second.line();
            const double measured = line.at(fit.mostWork);
            const double slope = measured > 2.0 * device.fixed ? (measured - device.fixed) / fit.mostWork : device.slope;
            return {std::min(device.fixed, measured) + slope * work.amount, 1.0, 0};
        }
        if (fit.mostWork > 0.0 && work.amount <= farthest * fit.mostWork) return {line.at(work.amount), 1.0, 0};
        return {};
    }
    if (!deviceKnown) return {};
    const Fit& fit = ofDevice->second;
    if (!fit.hasTwoSizes() && work.amount > farthest * fit.mostWork) return {};
    const Line line = fit.line();
    return {line.at(work.amount), std::max(line.relativeSpread, 1.0), 0};
}

void PerformanceModel::recordStaging(const LaunchPlan& plan, const std::string& deviceId, double seconds) {
    if (!std::isfinite(seconds) || seconds <= 0.0) return;
    const std::lock_guard lock(mutex_);
    if (!frozen_) staging_[deviceId].add(static_cast<double>(plan.bufferBytes), seconds);
}

double PerformanceModel::stagingSeconds(const LaunchPlan& plan, const std::string& deviceId) const {
    const std::lock_guard lock(mutex_);
    const auto known = staging_.find(deviceId);
    return known == staging_.end() ? -1.0 : known->second.line().at(static_cast<double>(plan.bufferBytes));
}

void PerformanceModel::setFrozen(bool frozen) {
    const std::lock_guard lock(mutex_);
    frozen_ = frozen;
}

}  // namespace heteroscope
