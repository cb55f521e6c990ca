#pragma once

#include "scheduler/job.h"

#include <iterator>
#include <map>

namespace heteroscope {

/// A set of JobIds kept as intervals: a hundred thousand neighbours that were cancelled together take one entry.
class IdIntervals {
public:
    bool contains(JobId id) const {
        const auto after = lastByFirst_.upper_bound(id);
        return after != lastByFirst_.begin() && std::prev(after)->second >= id;
    }

    void insert(JobId id) {
        if (contains(id)) return;
        const auto after = lastByFirst_.upper_bound(id);
        const bool joinsNext = after != lastByFirst_.end() && after->first == id + 1;
        const JobId last = joinsNext ? after->second : id;
        const bool joinsPrevious = after != lastByFirst_.begin() && std::prev(after)->second + 1 == id;
        if (joinsPrevious)
            std::prev(after)->second = last;
        else
            lastByFirst_[id] = last;
        if (joinsNext) lastByFirst_.erase(id + 1);
    }

    void erase(JobId id) {
        if (!contains(id)) return;
        const auto interval = std::prev(lastByFirst_.upper_bound(id));
        const JobId first = interval->first;
        const JobId last = interval->second;
        lastByFirst_.erase(interval);
        if (first < id) lastByFirst_[first] = id - 1;
        if (id < last) lastByFirst_[id + 1] = last;
    }

    std::size_t intervals() const { return lastByFirst_.size(); }

private:
    std::map<JobId, JobId> lastByFirst_;
};

}  // namespace heteroscope
