#pragma once

#include "scheduler/policies/placing_policy.h"

namespace heteroscope {

/// Every job goes at once to the device with the fewest unfinished jobs.
class LeastLoadedPolicy final : public PlacingPolicy {
public:
    static PolicyInfo info();

protected:
    DeviceIndex choose(Decision& decision, const SystemView& view) override;
};

}  // namespace heteroscope
