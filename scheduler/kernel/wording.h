#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heteroscope {

/// Bytes as people read them, three significant digits with a thin space: "12.4 GiB", "512 B".
std::string formatBytes(std::uint64_t bytes);

/// A number without needless digits: "3", "0.25", "1e+30". The same in every locale.
std::string formatNumber(double value);

/// The known name that `name` was most likely meant to be (edit distance, case ignored); empty when none is near.
std::string nearestName(std::string_view name, const std::vector<std::string>& known);

/// `; did you mean "n"?` or, where no name is near and there are few, `; known: a, n`. Empty without known names.
std::string hintFor(std::string_view name, const std::vector<std::string>& known);

std::string_view trimmed(std::string_view text);

/// `text` cut to a length that fits a message.
std::string shortened(std::string_view text, std::size_t limit = 80);

/// A letter or underscore, then letters, digits, underscores.
bool isIdentifier(std::string_view text);

/// Splits at commas that stand outside parentheses; the parts are trimmed.
std::vector<std::string> splitAtCommas(std::string_view text);

}  // namespace heteroscope
