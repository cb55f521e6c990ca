#pragma once

#include "scheduler/decision.h"

namespace heteroscope {

/// Scores every eligible candidate by its finish and returns the device with the least; ties go to the shorter
/// queue, then to the lower index; noDevice when none is eligible. Where a run time is not known the mean of the
/// known ones stands in, so that devices count as equal: that score is a stand-in, `finish` stays "not known".
DeviceIndex chooseEarliestFinish(Decision& decision);

}  // namespace heteroscope
