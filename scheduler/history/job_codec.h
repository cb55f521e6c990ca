#pragma once

#include "scheduler/comparison.h"
#include "scheduler/engine.h"

#include <string>
#include <vector>

namespace heteroscope::history {

// Small parts of a row as JSON texts. The readers never throw: what cannot be read is left at its default.

std::string outputsToJson(const std::vector<OutputSummary>& outputs);
std::vector<OutputSummary> outputsFromJson(const std::string& text);

/// Everything but the state, which has a column.
std::string checkToJson(const CheckResult& check);
void checkFromJson(const std::string& text, CheckResult& check);
const char* checkWord(CheckResult::State state);  // "passed", "failed", "none"

std::string jobIdsToJson(const std::vector<JobId>& jobs);
std::vector<JobId> jobIdsFromJson(const std::string& text);

std::string namesToJson(const std::vector<std::string>& names);
std::vector<std::string> namesFromJson(const std::string& text);

std::string metricsToJson(const RunMetrics& metrics);
RunMetrics metricsFromJson(const std::string& text);

std::string deviceFactsToJson(const DeviceInfo& device);

/// The stored document with the job's own name put in ("t<ID>" without a label).
std::string specWithName(const std::string& document, const std::string& label, JobId id);

/// What text search looks through: ASCII letters lowered.
std::string folded(std::string text);

}  // namespace heteroscope::history
