#include "devices/device.h"

namespace heteroscope {

std::string_view toString(Language language) {
    switch (language) {
        case Language::OpenClC: return "opencl-c";
        case Language::CudaCpp: return "cuda";
    }
    return {};
}

}  // namespace heteroscope
