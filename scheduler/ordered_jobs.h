#pragma once

#include "scheduler/job.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace heteroscope {

/// Jobs in order of a key: lowest first, then by `then`, then by ticket. Entries leave lazily: the owner drops first()
/// when it is stale. What comes in order, as most does, goes to a queue and costs O(1); the rest to a heap, O(log n).
class OrderedJobs {
public:
    struct Entry {
        double key = 0.0;
        std::int64_t then = 0;
        std::uint64_t ticket = 0;
        JobId job = 0;

        bool before(const Entry& other) const {
            if (key != other.key) return key < other.key;
            if (then != other.then) return then < other.then;
            return ticket < other.ticket;
        }
    };

    bool empty() const { return run_.empty() && heap_.empty(); }
    std::size_t size() const { return run_.size() + heap_.size(); }

    void push(const Entry& entry) {
        if (run_.empty() || !entry.before(run_.back())) {
            run_.push_back(entry);
        } else {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
    }

    const Entry& first() const { return heapLeads() ? heap_.front() : run_.front(); }

    void popFirst() {
        if (!heapLeads()) return run_.pop_front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
    }

    /// Drops what is stale: O(n), for when most of it is.
    template <class Keep>
    void keepOnly(Keep keep) {
        std::erase_if(run_, [&](const Entry& entry) { return !keep(entry); });
        std::erase_if(heap_, [&](const Entry& entry) { return !keep(entry); });
        std::make_heap(heap_.begin(), heap_.end(), later);
    }

private:
    static bool later(const Entry& a, const Entry& b) { return b.before(a); }
    bool heapLeads() const { return run_.empty() || (!heap_.empty() && heap_.front().before(run_.front())); }

    std::deque<Entry> run_;  // sorted
    std::vector<Entry> heap_;
};

}  // namespace heteroscope
