#include "scheduler/kernel/references/reference_entry.h"

namespace heteroscope::references {

double Inputs::number(std::string_view name) const {
    const auto found = parameters_.find(std::string(name));
    assert(found != parameters_.end() && "a reference reads only the parameters that it declared");
    return found->second;
}

std::span<const std::byte> Inputs::bytesBefore(std::string_view name) const {
    for (const CheckedBuffer& buffer : buffers_) {
        if (buffer.argument->name == name) return buffer.before;
    }
    assert(false && "a reference reads only the buffers that it declared");
    return {};
}

}  // namespace heteroscope::references
