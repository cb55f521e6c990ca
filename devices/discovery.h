#pragma once

#include "devices/device.h"

#include <memory>
#include <vector>

namespace heteroscope {

/// What a look at the machine gave: the devices that can be used, and what is missing and how to get it.
struct Discovery {
    std::vector<std::shared_ptr<Device>> devices;
    std::vector<DeviceProblem> problems;
};

/// Looks at every platform of every runtime and opens what works. Blocks (seconds with some drivers):
/// never on the window's thread.
Discovery discoverDevices();

}  // namespace heteroscope
