#pragma once

namespace heteroscope {

/// The whole program: reads the command line, does what it says, returns the exit status (design: command line).
int runProgram(int argc, char** argv);

}  // namespace heteroscope
