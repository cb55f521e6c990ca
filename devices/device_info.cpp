#include "devices/device_info.h"

namespace heteroscope {

std::string_view toString(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::Cpu: return "cpu";
        case DeviceKind::Gpu: return "gpu";
        case DeviceKind::Accelerator: return "accelerator";
    }
    return {};
}

std::string_view toString(Api api) {
    switch (api) {
        case Api::OpenCl: return "opencl";
        case Api::Cuda: return "cuda";
        case Api::Null: return "null";
    }
    return {};
}

}  // namespace heteroscope
