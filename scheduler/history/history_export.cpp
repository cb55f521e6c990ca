#include "scheduler/history/history_export.h"

#include "scheduler/history/history_query.h"
#include "scheduler/history/job_codec.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>

#include <unistd.h>

namespace heteroscope::history {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint64_t rowsBetweenProgress = 256;

constexpr std::array columns{"id", "label", "kernel", "parameters", "device", "runtime", "policy", "state", "priority",
    "attempts", "submitted", "ready", "assigned", "staging", "staged", "started", "finished", "ended", "wait_s", "stage_in_s",
    "run_s", "stage_out_s", "predicted_s", "flops", "bytes", "check", "reason", "error_kind", "error_message", "error_file",
    "error_line"};

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }
std::string number(const std::optional<double>& value) { return value ? number(*value) : std::string(); }
std::string secondsOrNothing(double value) { return value < 0 ? std::string() : number(value); }

std::string csvRow(const JobSnapshot& job) {
    const JobTimes& t = job.times;
    const Error none{ErrorKind::Io, {}};
    const Error& error = job.error ? *job.error : none;
    const std::array<std::string, columns.size()> fields{
        std::to_string(job.id), job.label, job.kernel, job.parameters, job.device, job.runtime, job.policy,
        std::string(toString(job.state)), std::to_string(job.priority), std::to_string(job.attempts), isoTime(t.submitted),
        isoTime(t.ready), isoTime(t.assigned), isoTime(t.staging), isoTime(t.staged), isoTime(t.started), isoTime(t.finished),
        isoTime(t.ended), number(job.waitSeconds), number(job.stageInSeconds), number(job.runSeconds),
        number(job.stageOutSeconds), secondsOrNothing(job.predictedSeconds), number(job.flops), number(job.bytes),
        checkWord(job.check.state), job.reason, job.error ? std::string(toString(error.kind)) : std::string(), error.message,
        error.file, error.line > 0 ? std::to_string(error.line) : std::string()};
    std::string line;
    for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csvField(field);
    return line + "\r\n";
}

Json timeOrNull(std::int64_t epochNs) { return epochNs == 0 ? Json(nullptr) : Json(isoTime(epochNs)); }
Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json numberOrNull(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json candidateJson(const Candidate& candidate, const std::vector<std::string>& names) {
    const auto known = [](double seconds) { return seconds < 0 ? Json(nullptr) : numberOrNull(seconds); };
    return {{"device", candidate.device < names.size() ? Json(names[candidate.device]) : Json(nullptr)},
            {"excluded", textOrNull(candidate.excluded)}, {"free_in_s", known(candidate.freeIn)},
            {"data_in_s", known(candidate.dataIn)}, {"run_s", known(candidate.run)}, {"finish_s", known(candidate.finish)},
            {"queued", candidate.queued}, {"score", numberOrNull(candidate.score)}};
}

Json decisionJson(const HistoryDetail& detail) {
    if (!detail.job.decision) return nullptr;
    Json candidates = Json::array();
    for (const Candidate& candidate : detail.job.decision->candidates)
        candidates.push_back(candidateJson(candidate, detail.deviceNames));
    return {{"sentence", detail.explanation}, {"note", textOrNull(detail.job.decision->note)}, {"candidates", candidates}};
}

std::string jsonRow(const HistoryDetail& detail) {
    const JobSnapshot& job = detail.job;
    const JobTimes& t = job.times;
    Json row{{"id", job.id}, {"label", textOrNull(job.label)}, {"kernel", job.kernel}, {"parameters", job.parameters},
             {"device", textOrNull(job.device)}, {"runtime", textOrNull(job.runtime)}, {"policy", textOrNull(job.policy)},
             {"state", toString(job.state)}, {"priority", job.priority}, {"attempts", job.attempts}, {"after", job.after},
             {"submitted", timeOrNull(t.submitted)}, {"ready", timeOrNull(t.ready)}, {"assigned", timeOrNull(t.assigned)},
             {"staging", timeOrNull(t.staging)}, {"staged", timeOrNull(t.staged)}, {"started", timeOrNull(t.started)},
             {"finished", timeOrNull(t.finished)}, {"ended", timeOrNull(t.ended)}, {"wait_s", job.waitSeconds},
             {"stage_in_s", job.stageInSeconds}, {"run_s", job.runSeconds}, {"stage_out_s", job.stageOutSeconds},
             {"predicted_s", job.predictedSeconds < 0 ? Json(nullptr) : Json(job.predictedSeconds)},
             {"flops", numberOrNull(job.flops)}, {"bytes", numberOrNull(job.bytes)}, {"check", checkWord(job.check.state)},
             {"check_message", textOrNull(job.check.message)}, {"reason", textOrNull(job.reason)}};
    row["error"] = nullptr;
    if (job.error)
        row["error"] = {{"kind", toString(job.error->kind)}, {"message", job.error->message}, {"file", textOrNull(job.error->file)},
                        {"line", job.error->line > 0 ? Json(job.error->line) : Json(nullptr)}, {"log", textOrNull(job.error->log)}};
    row["outputs"] = Json::parse(outputsToJson(job.outputs));
    row["decision"] = decisionJson(detail);
    return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A file that becomes visible under its name at the end, or leaves nothing behind.
class AtomicFile {
public:
    explicit AtomicFile(fs::path file) : file_(std::move(file)), part_(file_.string() + fmt::format(".{}.part", ::getpid())) {
        errno = 0;
        stream_.open(part_, std::ios::binary | std::ios::trunc);
    }
    ~AtomicFile() {
        std::error_code ignored;
        if (opened() && !done_) fs::remove(part_, ignored);
    }
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    bool opened() const { return stream_.is_open(); }
    bool write(const std::string& text) { return static_cast<bool>(stream_ << text); }
    Status finish() {
        errno = 0;
        stream_.close();
        if (!stream_) return failed();
        std::error_code problem;
        fs::rename(part_, file_, problem);
        if (problem) return Error{ErrorKind::Io, fmt::format("{}: {}.", file_.string(), problem.message())};
        done_ = true;
        return {};
    }
    Error failed() const {
        const int code = errno != 0 ? errno : EIO;
        return Error{ErrorKind::Io, fmt::format("{}: cannot be written: {}.", file_.string(), std::generic_category().message(code))};
    }

private:
    fs::path file_, part_;
    std::ofstream stream_;
    bool done_ = false;
};

Status checkTarget(const fs::path& file) {
    const std::string ending = folded(file.extension().string());
    if (ending != ".csv" && ending != ".json")
        return Error{ErrorKind::InvalidInput, fmt::format("{}: the name must end in .csv or .json.", file.string())};
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) return Error{ErrorKind::Io, fmt::format("{}: is a folder.", file.string())};
    return {};
}

}  // namespace

std::string isoTime(std::int64_t epochNs) {
    if (epochNs == 0) return {};
    std::int64_t seconds = epochNs / 1'000'000'000, rest = epochNs % 1'000'000'000;
    if (rest < 0) --seconds, rest += 1'000'000'000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(static_cast<std::time_t>(seconds)), rest);
}

std::string csvField(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

Status exportJobs(SQLite::Database& database, const HistoryFilter& filter, const std::filesystem::path& file,
                  const std::function<bool(std::uint64_t)>& goOn) {
    if (const Status fine = checkTarget(file); !fine) return fine;
    const bool csv = folded(file.extension().string()) == ".csv";
    AtomicFile out(file);
    if (!out.opened()) return out.failed();
    std::string head = csv ? fmt::format("{}\r\n", fmt::join(columns, ",")) : "{\"jobs\":[";
    if (!out.write(head)) return out.failed();
    HistoryQuery query(database);
    const std::vector<std::int64_t> ids = query.matching(filter);
    std::uint64_t written = 0;
    for (const std::int64_t id : ids) {
        if (written % rowsBetweenProgress == 0 && !goOn(written)) return Error{ErrorKind::Cancelled, "The export was cancelled."};
        const auto detail = readDetail(database, static_cast<JobId>(id));
        if (!detail) continue;  // deleted meanwhile
        errno = 0;
        if (!out.write(csv ? csvRow(detail->job) : (written == 0 ? "\n" : ",\n") + jsonRow(*detail))) return out.failed();
        ++written;
    }
    if (!csv && !out.write("\n]}\n")) return out.failed();
    goOn(written);
    return out.finish();
}

}  // namespace heteroscope::history
