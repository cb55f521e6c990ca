#pragma once

#include "devices/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace heteroscope {

struct TextFile {
    std::string text;        ///< UTF-8 without byte-order mark, lines end with \n
    bool latin1 = false;     ///< was not UTF-8 and was taken as Latin-1
};

/// Reads a text file people wrote. Errors (io, invalid-input) name the path: missing, a folder or device, above
/// `limitBytes`, UTF-16, binary.
Result<TextFile> readTextFile(const std::filesystem::path& file, std::uint64_t limitBytes);

/// As readTextFile() does to a file's bytes. `name` stands in errors.
Result<TextFile> normalisedText(std::string bytes, const std::string& name);

bool isUtf8(std::string_view text);

/// `path` against `base` (a relative one against the working folder), tidied where that cannot lead elsewhere: a ".."
/// behind a link stays. Never throws; `path` joined to `base` when the working folder is gone.
std::filesystem::path absolutePath(const std::filesystem::path& path, const std::filesystem::path& base = {});

}  // namespace heteroscope
