#pragma once

#include "scheduler/policies/placing_policy.h"

namespace heteroscope {

/// Every job goes at once to the device that would finish it first, what is queued there and staging included.
class MctPolicy final : public PlacingPolicy {
public:
    static PolicyInfo info();

protected:
    DeviceIndex choose(Decision& decision, const SystemView& view) override;
};

}  // namespace heteroscope
