#pragma once

#include "scheduler/history/history_reader.h"

#include <SQLiteCpp/Database.h>

#include <functional>

namespace heteroscope::history {

/// Streams every matching job to `file` (RFC 4180 with CRLF, or one JSON document), through a temporary file in the
/// same folder that takes its name at the end. `goOn` is asked every 256 rows and gets the rows written.
/// Errors: invalid-input (ending), io, cancelled. Throws SQLite::Exception.
Status exportJobs(SQLite::Database& database, const HistoryFilter& filter, const std::filesystem::path& file,
                  const std::function<bool(std::uint64_t)>& goOn);

/// "2026-11-26T14:05:12.345678901Z"; empty for 0.
std::string isoTime(std::int64_t epochNs);
/// A field of RFC 4180: quoted where it holds a comma, a quote or a line break.
std::string csvField(const std::string& text);

}  // namespace heteroscope::history
