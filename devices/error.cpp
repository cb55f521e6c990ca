#include "devices/error.h"

#include <array>

namespace heteroscope {
namespace {

constexpr std::array<std::pair<ErrorKind, std::string_view>, 10> words{{
    {ErrorKind::InvalidInput, "invalid-input"},
    {ErrorKind::Unsupported, "unsupported"},
    {ErrorKind::BuildFailed, "build-failed"},
    {ErrorKind::OutOfMemory, "out-of-memory"},
    {ErrorKind::LaunchFailed, "launch-failed"},
    {ErrorKind::DeviceLost, "device-lost"},
    {ErrorKind::TimedOut, "timed-out"},
    {ErrorKind::Cancelled, "cancelled"},
    {ErrorKind::CheckFailed, "check-failed"},
    {ErrorKind::Io, "io"},
}};

}  // namespace

std::string_view toString(ErrorKind kind) {
    for (const auto& [value, word] : words)
        if (value == kind) return word;
    return {};
}

std::optional<ErrorKind> errorKindFromString(std::string_view word) {
    for (const auto& [value, text] : words)
        if (text == word) return value;
    return std::nullopt;
}

}  // namespace heteroscope
