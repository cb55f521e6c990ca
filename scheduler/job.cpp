#include "scheduler/job.h"

#include <array>

namespace heteroscope {
namespace {

constexpr std::array<std::string_view, jobStateCount> words = {
    "waiting",   "ready",     "assigned",  "staging",     "running", "succeeded",
    "failed",    "cancelled", "timed-out", "interrupted", "skipped"};

}  // namespace

std::string_view toString(JobState state) {
    return words[static_cast<std::size_t>(state)];
}

std::optional<JobState> jobStateFromString(std::string_view word) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == word) return static_cast<JobState>(i);
    return std::nullopt;
}

}  // namespace heteroscope
