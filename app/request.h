#pragma once

#include "devices/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heteroscope {

/// Process exit statuses (design: command line).
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int failed = 1;       ///< a build, a run or a check failed, or `doctor` found a problem
inline constexpr int badInput = 2;     ///< wrong usage, bad input, refused at submit
inline constexpr int interrupted = 130;
}  // namespace exit_status

/// What a command asks of the process that holds the data folder; the same whether that is its own process or
/// another. Paths in it are absolute.
struct Request {
    enum class Kind { Run, Workload, Submit, Compare, Queue, DeleteHistory, Raise };
    Kind kind = Kind::Run;

    std::string target;  ///< kernel id, source file or workload file
    std::map<std::string, double> parameters;
    std::string device, runtime, policy;
    std::uint32_t count = 1;
    int priority = 0;
    bool check = false;

    // a person's own source
    std::string entry;
    std::vector<std::uint64_t> global, local;
    std::vector<std::string> options, includes, arguments;
    std::map<std::string, std::string> save;  ///< argument's name or position → file

    std::vector<std::string> policies;  ///< compare
    int repeats = 1;
    std::uint64_t seed = 1;
    std::string action;                 ///< queue: list, pause, resume, drop
    std::vector<std::uint64_t> jobs;    ///< queue drop, delete
    bool dropAll = false;               ///< queue drop: every job of it
    std::vector<std::string> files;     ///< raise

    nlohmann::json toJson() const;
    /// Errors (invalid-input): a field of the wrong type, a request that this version does not know.
    static Result<Request> fromJson(const nlohmann::json& document);
};

/// How a request ended.
struct Answer {
    int exitStatus = exit_status::done;
    nlohmann::json document = nlohmann::json::object();  ///< with "error" when the whole was refused
};

/// An Answer that refuses the whole: `document` with the error in it.
Answer refused(int exitStatus, const Error& error, nlohmann::json document = nlohmann::json::object());

/// Where a request's progress goes, and how it learns that nobody wants it any more. Called on any thread.
struct Reporter {
    std::function<void(const std::string& text, std::size_t done, std::size_t total)> progress;
    std::function<void(const std::string& text)> message;
    std::function<bool()> stop;
};

}  // namespace heteroscope
