#pragma once

#include "scheduler/kernel/json_node.h"
#include "scheduler/kernel/kernel.h"

namespace heteroscope {

/// One argument of a package or of a job with its own source. `kind` may be left out: `local_bytes` makes it local,
/// `value` or `hex` a scalar, `count` a buffer. Throws JsonProblem.
KernelArgument readKernelArgument(const JsonNode& node, const std::string& defaultName);

/// `{ "global": […], "local": […], "offset": […], "guarded": … }`. Throws JsonProblem.
KernelRange readKernelRange(const JsonNode& node);

ElementType readElementType(const JsonNode& node);
Access readAccess(const JsonNode& node);
std::vector<std::string> readTexts(const JsonNode& node, std::string_view expected);

/// Adds the fields of `argument` that its kind has, as readKernelArgument() takes them.
nlohmann::json kernelArgumentToJson(const KernelArgument& argument);
nlohmann::json kernelRangeToJson(const KernelRange& range);

}  // namespace heteroscope
