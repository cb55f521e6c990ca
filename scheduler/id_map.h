#pragma once

#include "scheduler/job.h"

#include <vector>

namespace heteroscope {

/// Hash table from JobId to a small value: open addressing, linear probing, eight neighbouring ids share a cache
/// line, since jobs come and go in order of their numbers. Id 0 marks an empty cell and is never a key.
template <class Value>
class IdMap {
public:
    Value* find(JobId id) {
        if (cells_.empty() || id == 0) return nullptr;
        for (std::size_t at = home(id);; at = (at + 1) & mask_) {
            if (cells_[at].id == id) return &cells_[at].value;
            if (cells_[at].id == 0) return nullptr;
        }
    }
    const Value* find(JobId id) const { return const_cast<IdMap*>(this)->find(id); }

    /// Inserts or overwrites. `id` is not 0.
    void set(JobId id, Value value) {
        if ((size_ + 1) * 2 > cells_.size()) grow();
        std::size_t at = home(id);
        while (cells_[at].id != 0 && cells_[at].id != id) at = (at + 1) & mask_;
        if (cells_[at].id == 0) ++size_;
        cells_[at] = {id, value};
    }

    bool erase(JobId id) {
        if (cells_.empty() || id == 0) return false;
        std::size_t hole = home(id);
        while (cells_[hole].id != id) {
            if (cells_[hole].id == 0) return false;
            hole = (hole + 1) & mask_;
        }
        // Close the gap, so that no search stops short of an entry that had probed past it.
        for (std::size_t at = (hole + 1) & mask_; cells_[at].id != 0; at = (at + 1) & mask_) {
            const std::size_t wanted = home(cells_[at].id);
            if (((at - wanted) & mask_) < ((at - hole) & mask_)) continue;
            cells_[hole] = cells_[at];
            hole = at;
        }
        cells_[hole].id = 0;
        --size_;
        return true;
    }

    std::size_t size() const { return size_; }
    void clear() { *this = IdMap(); }

private:
    struct Cell {
        JobId id = 0;
        Value value{};
    };

    std::size_t home(JobId id) const {
        const std::uint64_t block = ((id >> 3) * 0x9E3779B97F4A7C15u) >> 20;
        return static_cast<std::size_t>((block << 3) | (id & 7)) & mask_;
    }

    void grow() {
        std::vector<Cell> old = std::move(cells_);
        cells_.assign(old.empty() ? 64 : old.size() * 2, Cell{});
        mask_ = cells_.size() - 1;
        size_ = 0;
        for (const Cell& cell : old)
            if (cell.id != 0) set(cell.id, cell.value);
    }

    std::vector<Cell> cells_;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
};

}  // namespace heteroscope
