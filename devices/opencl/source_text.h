#pragma once

#include "devices/device.h"
#include "devices/opencl/build_log.h"

#include <optional>
#include <string>
#include <vector>

namespace heteroscope::opencl {

/// A ProgramSource in the form that every OpenCL compiler takes.
struct CompilerInput {
    std::string text;
    int linesBefore = 0;               ///< of ours, in front of the user's first line
    std::vector<std::string> options;  ///< one element an option with its value; none with a blank in a name
    std::vector<FolderAlias> folders;  ///< include folders under names that a compiler can take
    std::optional<std::string> key;    ///< same key, same program; nothing: must not be cached

    std::string optionLine() const;
    /// The same program in a text that no driver's cache can know.
    CompilerInput pastCaches() const;
};

/// Takes off the byte-order mark, makes line ends plain, puts definitions that an option line cannot carry (blanks,
/// quotes, "-g", non-ASCII) and a #line with the user's own file in front, gives include folders with such
/// names a plain one. Reads the included files. Errors: invalid-input (not text, an option without its value).
Result<CompilerInput> prepareSource(const ProgramSource& source);

}  // namespace heteroscope::opencl
