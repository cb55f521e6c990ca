#pragma once

#include "scheduler/live/staged_job.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace heteroscope {

/// What happens to results once they are back on the host: summary, check against the reference, saved files.
/// Two threads of its own, so that neither a device nor the scheduler waits for a slow reference.
class JobFinisher {
public:
    /// `finished` gets each attempt with its report complete; called on a thread of the finisher.
    JobFinisher(std::filesystem::path outputFolder, std::uint64_t outputQuotaBytes,
                std::function<void(const AttemptPtr&)> finished);
    ~JobFinisher();  ///< finishes what it has

    void finish(AttemptPtr attempt);
    /// Waits while more than `limit` attempts hold their buffers here: keeps memory bounded when references are slow.
    void waitBelow(std::size_t limit);
    std::size_t active() const { return active_.load(); }

    /// Data with a place to be saved: written when the last of its writers succeeded.
    void expectWriters(const JobSpec& spec);
    /// A writer ended without success.
    void writerGone(const JobSpec& spec);

private:
    void run();
    void finishNow(Attempt& attempt);
    void check(Attempt& attempt);
    void summarise(Attempt& attempt);
    Status save(Attempt& attempt);
    Status saveSharedData(const JobSpec& spec);
    Status keep(Attempt& attempt);
    void enforceQuota();

    std::filesystem::path outputFolder_;
    std::uint64_t outputQuotaBytes_;
    std::function<void(const AttemptPtr&)> finished_;
    std::atomic<std::size_t> active_{0};

    std::mutex mutex_;
    std::condition_variable wake_, drained_;
    std::deque<AttemptPtr> queue_;                        // guarded by mutex_
    std::unordered_map<const Data*, std::size_t> writers_;  // guarded by mutex_
    bool stopping_ = false;                               // guarded by mutex_
    std::mutex quotaMutex_;
    std::vector<std::thread> threads_;
};

}  // namespace heteroscope
