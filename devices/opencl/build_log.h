#pragma once

#include <string>
#include <vector>

namespace heteroscope::opencl {

/// A folder under the name that the compiler was given, and the user's own name for it.
struct FolderAlias {
    std::string given;
    std::string folder;
};

/// The first error of a compiler's log.
struct LogPlace {
    std::string file;  ///< empty where the log names none
    int line = 0;      ///< 0: none
    std::string message;
};

/// How the text given to the compiler relates to the user's own.
struct LogNames {
    std::vector<FolderAlias> folders;
    std::string file;     ///< the user's own
    int linesBefore = 0;  ///< lines of ours in front of the user's first
};

/// What stands for the lines of ours, which hold definitions from the options.
inline constexpr const char* optionsName = "(build options)";

/// The log as a person should see it: valid UTF-8, the user's own folders, file and lines (NVIDIA's compiler does not
/// follow #line and says "<kernel>"), without blank lines around it and without remarks of the driver on itself.
std::string readableLog(std::string log, const LogNames& names);

/// Finds the first error. Knows the forms of PoCL ("error: FILE:3:5: …"), of clang and so of NVIDIA, Intel and
/// Mesa ("FILE:3:5: error: …"), of EDG ("\"FILE\", line 3: error: …", "FILE(3): error: …"). Where the compiler calls
/// the source by a name of its own ("<kernel>", "1"), `sourceFile` stands in. Without a place the message is the
/// log's first words.
LogPlace firstError(const std::string& log, const std::string& sourceFile);

}  // namespace heteroscope::opencl
