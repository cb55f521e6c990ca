#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heteroscope {

/// `after[i]`: positions that come before i. A cycle as positions, the first one repeated at the end; nothing
/// when there is none. Linear in jobs and edges, and not recursive.
std::optional<std::vector<std::size_t>> findCycle(const std::vector<std::vector<std::size_t>>& after);

/// An order in which every position stands behind those it comes after; otherwise ascending. Positions on a
/// cycle are left out.
std::vector<std::size_t> topologicalOrder(const std::vector<std::vector<std::size_t>>& after);

}  // namespace heteroscope
