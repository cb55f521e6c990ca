#include "ui/self_usage_sampler.h"

namespace heteroscope {

SelfUsageSampler::SelfUsageSampler(QObject* parent) : QObject(parent) {}

SelfUsageSampler::~SelfUsageSampler() {
    thread_.quit();
    thread_.wait();
}

}  // namespace heteroscope
