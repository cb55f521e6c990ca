#include "app/program.h"

int main(int argc, char** argv) { return heteroscope::runProgram(argc, argv); }
