#pragma once

#include "devices/error.h"

#include <cstdint>
#include <map>
#include <string>

namespace heteroscope {

using Parameters = std::map<std::string, double>;

/// Evaluates an expression of a kernel package ("2*n", "ceil(n/256)") over parameters (muParser, with ceil,
/// floor, min, max added where it lacks them). Errors name the expression and what is unknown in it.
Result<double> evaluate(const std::string& expression, const Parameters& parameters);

/// As evaluate(), for counts and sizes: refuses fractions, negative numbers and what does not fit 2^53.
Result<std::uint64_t> evaluateCount(const std::string& expression, const Parameters& parameters);

}  // namespace heteroscope
