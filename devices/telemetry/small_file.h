#pragma once

#include "devices/telemetry/telemetry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope::telemetry {

/// A file of /proc or /sys, read whole in one go, or why it could not be.
struct SmallFile {
    std::string text;
    ReadingState state = ReadingState::NotSupported;  ///< Known; NotSupported: it is not there; NoPermission

    static SmallFile read(const std::string& path);
    /// The number that it begins with; nothing where it has another form.
    std::optional<std::int64_t> number() const;
    /// Without blanks and line ends around it.
    std::string word() const;
};

/// Names in `folder` that begin with `prefix`, sorted; none when there is no such folder.
std::vector<std::string> entriesOf(const std::string& folder, const std::string& prefix);

using TimePoint = std::chrono::steady_clock::time_point;

Reading known(double value, const char* unit, std::string source, TimePoint taken);
Reading absent(ReadingState state, const char* unit, std::string source, TimePoint taken);

}  // namespace heteroscope::telemetry
