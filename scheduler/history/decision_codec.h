#pragma once

#include "scheduler/decision.h"

#include <memory>
#include <string>

namespace heteroscope::history {

/// A Decision as history keeps it: one version byte, then fields in the machine's own (little endian) order. A JSON
/// text would be five times as large and cost more than the rest of the row.
std::string encodeDecision(const Decision& decision);
/// Null when the bytes are cut short or of a version we do not know.
std::shared_ptr<const Decision> decodeDecision(const void* bytes, std::size_t size);

}  // namespace heteroscope::history
