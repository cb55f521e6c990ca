#pragma once

#include <string>

namespace heteroscope::opencl {

/// A name for `folder` that any OpenCL compiler takes in its option line: the folder itself where its name is
/// plain, else a link in a private folder below the runtime or temporary folder. The same folder always gets
/// the same name, so a driver's own cache still hits. Compilers split options at blanks, and some look for
/// "-g" or "-cl-opt" anywhere in the line. `folder` itself when no link can be made. Any thread.
std::string plainName(const std::string& folder);

/// True for names that need no link.
bool isPlainName(const std::string& path);

}  // namespace heteroscope::opencl
