#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heteroscope::opencl {

/// Everything that could be included by `text`, directly or through others: a key that differs whenever one of
/// those files is changed, added or removed. Conditions are not evaluated: a file behind #if counts too, and one
/// that is missing counts as missing. Nothing when the text cannot tell (`#include MACRO`), or when there is
/// too much to read: such a program must not be cached. Reads files.
std::optional<std::string> includeClosure(const std::string& text, const std::vector<std::string>& folders);

}  // namespace heteroscope::opencl
