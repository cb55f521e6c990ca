#pragma once

#include "scheduler/kernel/kernel.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

/// What a person says of their own .cl or .cu (command line, workload file, Add jobs).
struct OwnSource {
    std::filesystem::path file;
    std::string entry;
    std::vector<std::uint64_t> global;
    std::vector<std::uint64_t> local;
    std::vector<std::uint64_t> offset;
    std::vector<std::string> options;
    std::vector<std::filesystem::path> includes;
    std::vector<KernelArgument> arguments;
    bool guarded = false;                   ///< see KernelRange
    std::optional<std::string> text;        ///< the source itself; the file is not read then and may be gone
    std::optional<Language> language;       ///< absent: by the file's ending, .cu being CUDA C++
};

/// Reads the file (UTF-8, CRLF, byte-order mark) and makes a Kernel of it; its folder is the first include folder.
Result<KernelPtr> makeOwnKernel(const OwnSource& source);

/// One `--arg`: `buffer:TYPE:COUNT[:FILL[:ACCESS]]`, `TYPE:VALUE`, `local:BYTES`. `position` names it arg0, arg1…
Result<KernelArgument> parseArgument(const std::string& text, std::size_t position);

}  // namespace heteroscope
