#pragma once

#include <string>

namespace heteroscope {

/// What the program remembers between starts beside the window's own look: an INI file in the XDG configuration folder.
/// Main thread.
namespace settings {

/// Names the file; once, after the application object is made.
void prepare();

std::string policy();  ///< in force when the window was closed; "mct" at first or when it is no policy any more
void setPolicy(const std::string& policy);

}  // namespace settings
}  // namespace heteroscope
