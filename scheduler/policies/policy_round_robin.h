#pragma once

#include "scheduler/policies/placing_policy.h"

namespace heteroscope {

/// Every job goes at once to the next device in turn that can run it.
class RoundRobinPolicy final : public PlacingPolicy {
public:
    static PolicyInfo info();

protected:
    DeviceIndex choose(Decision& decision, const SystemView& view) override;

private:
    DeviceIndex turn_ = 0;  // where the next search begins
};

}  // namespace heteroscope
