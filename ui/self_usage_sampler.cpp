#include "ui/self_usage_sampler.h"

#include "devices/telemetry/self_usage.h"

#include <QTimer>

#include <memory>

namespace heteroscope {

namespace {
constexpr int intervalMs = 2000;
}

SelfUsageSampler::SelfUsageSampler(QObject* parent) : QObject(parent) {
    // Both live on the thread: made when it starts, gone when its event loop ends.
    connect(&thread_, &QThread::started, this, [this] {
        auto* timer = new QTimer;
        auto usage = std::make_shared<SelfUsage>();
        connect(&thread_, &QThread::finished, timer, &QObject::deleteLater);
        const auto sample = [this, usage] {
            const auto values = usage->sample();
            emit taken(values.cpuShare.value_or(-1.0), values.residentBytes ? static_cast<double>(*values.residentBytes) : -1.0);
        };
        connect(timer, &QTimer::timeout, timer, sample);
        sample();
        timer->start(intervalMs);
    }, Qt::DirectConnection);
    thread_.setObjectName(QStringLiteral("own usage"));
    thread_.start();
}

SelfUsageSampler::~SelfUsageSampler() {
    thread_.quit();
    thread_.wait();
}

}  // namespace heteroscope
