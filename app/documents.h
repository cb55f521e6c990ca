#pragma once

#include "devices/telemetry/telemetry.h"
#include "scheduler/comparison.h"
#include "scheduler/engine.h"
#include "scheduler/history/history_reader.h"
#include "scheduler/kernel/kernel.h"
#include "scheduler/policy.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heteroscope {

/// The JSON documents of the command line (design: command line). What is absent is null; times are ISO 8601 in UTC.
namespace document {

nlohmann::json isoTime(std::int64_t epochNs);  ///< "2026-11-26T14:05:12.345678Z"; null for 0
nlohmann::json error(const Error& error);      ///< { kind, message, file, line, log }
nlohmann::json job(const JobSnapshot& job);
nlohmann::json jobDetail(const HistoryDetail& detail);  ///< job() with decision, outputs, attempts
nlohmann::json historyRow(const HistoryRow& row);
nlohmann::json device(const DeviceInfo& device);
nlohmann::json problem(const DeviceProblem& problem);
nlohmann::json kernel(const Kernel& kernel);
nlohmann::json policy(const PolicyInfo& policy);
nlohmann::json telemetry(const TelemetryFrame& frame);
nlohmann::json comparison(const Comparison& comparison);

}  // namespace document

/// Error of a document or answer back as a value.
Error errorFromDocument(const nlohmann::json& document);

/// "2026-11-26", "2026-11-26T14:05" and on to "…:12.345Z" or "…+01:00"; without a zone it is UTC. A date alone means its
/// first moment, or its last one with `endOfDay`. Nothing when it is no such time.
std::optional<std::int64_t> parseIsoTime(const std::string& text, bool endOfDay);

}  // namespace heteroscope
