#pragma once

#include "scheduler/comparison.h"
#include "scheduler/engine.h"

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace heteroscope {

/// What to show. Empty fields do not restrict.
struct HistoryFilter {
    /// In kernel, parameters, label, error: every word must occur, letters A to Z in either case. "#1042" or "1042"
    /// also finds the job of that number.
    std::string text;
    std::vector<JobState> states;
    std::string kernel, device, policy;
    std::optional<std::int64_t> since, until;  ///< submitted, ns since the Unix epoch
    std::optional<std::int64_t> session;
    enum class Order { Id, State, Kernel, Device, Policy, Submitted, Waited, Run } order = Order::Id;
    bool descending = true;

    bool operator==(const HistoryFilter&) const = default;
};

/// One line of the table.
struct HistoryRow {
    JobId id = 0;
    std::string label, kernel, parameters, device, runtime, policy;
    JobState state = JobState::Succeeded;
    std::int64_t submitted = 0;
    double waitSeconds = 0, runSeconds = 0;
    std::string check;  ///< "passed", "failed", "none"
    std::string error;  ///< first line
};

/// An earlier try of a job that was run again.
struct AttemptRow {
    std::uint32_t attempt = 1;
    JobState state = JobState::Failed;  ///< not final: its device was lost meanwhile
    std::string device, runtime, policy, reason;
    JobTimes times;  ///< submitted and ready stay 0
    double runSeconds = 0;
    std::optional<Error> error;
};

/// Everything about one job, decision sentence and score table included.
struct HistoryDetail {
    JobSnapshot job;          ///< decision set when kept; `spec` stays null: see specJson
    std::string specJson;
    std::vector<std::string> deviceNames;  ///< names for the decision's DeviceIndex
    std::string explanation;  ///< the decision's sentence
    std::vector<AttemptRow> earlierAttempts;  ///< oldest first
    std::int64_t session = 0;
};

struct HistoryRows {
    std::vector<HistoryRow> rows;
    std::uint64_t total = 0;   ///< that match the filter
    std::uint64_t offset = 0;
};

struct SessionRow {
    std::int64_t id = 0;
    std::int64_t startedAt = 0, endedAt = 0;  ///< 0: open or died
    std::uint64_t jobs = 0;
};

struct ComparisonRow {
    std::int64_t id = 0;
    std::string name;
    std::int64_t createdAt = 0;
    std::size_t jobs = 0, policies = 0;
};

struct HistoryFacets {
    std::vector<std::string> kernels, devices, policies;  ///< that occur, for the filter's lists
    std::uint64_t jobs = 0, bytes = 0;
};

/// Reads history on a connection and thread of its own (exports on a second one). Answers come through the callback
/// on that thread; destruction drops what was not answered yet and stops an export. Works while another process
/// writes. A folder without history answers with nothing, not with an error. Any thread.
class HistoryReader {
public:
    explicit HistoryReader(std::filesystem::path folder);
    ~HistoryReader();

    /// A page asked for with another filter before this one was answered ends as Error of kind Cancelled.
    void page(HistoryFilter filter, std::uint64_t offset, std::uint64_t limit, std::function<void(Result<HistoryRows>)> done);
    void detail(JobId job, std::function<void(Result<HistoryDetail>)> done);
    void sessions(std::function<void(Result<std::vector<SessionRow>>)> done);
    void comparisons(std::function<void(Result<std::vector<ComparisonRow>>)> done);
    void comparison(std::int64_t id, std::function<void(Result<Comparison>)> done);
    void facets(std::function<void(Result<HistoryFacets>)> done);
    /// Every matching job to a file, "csv" or "json" by its ending; the file appears whole or not at all.
    /// `progress` gets rows written; false stops it. Errors: invalid-input (another ending), io (path and cause),
    /// cancelled.
    void exportTo(HistoryFilter filter, std::filesystem::path file, std::function<bool(std::uint64_t)> progress,
                  std::function<void(Status)> done);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Blocking forms for the command line.
template <class T, class Ask>
Result<T> readNow(Ask ask) {
    std::promise<Result<T>> promise;
    auto future = promise.get_future();
    ask([&promise](Result<T> answer) { promise.set_value(std::move(answer)); });
    return future.get();
}

}  // namespace heteroscope
