// Every filter costs one scan of jobs_filter (which covers all of its columns) into a list of job numbers, sorted here:
// sorting a million pairs takes less than SQLite's sorter does, and a scrollbar then costs nothing. The scan speaks
// with SQLite itself: SQLiteCpp's Column costs more than the step that yields it. Texts are searched beforehand (jobs
// alike share one), so that a row costs one look into a bit set.

#include "scheduler/history/history_query.h"

#include "scheduler/history/job_codec.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <sstream>
#include <variant>

namespace heteroscope::history {
namespace {

using Order = HistoryFilter::Order;

// A session of this many jobs at most is read from the table itself, by its range of numbers.
constexpr std::int64_t shortRange = 20'000;

std::vector<std::string> wordsOf(const std::string& text) {
    std::istringstream stream(folded(text));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::optional<std::int64_t> jobNumber(const std::vector<std::string>& words) {
    if (words.size() != 1) return std::nullopt;
    const std::string digits = words[0].starts_with('#') ? words[0].substr(1) : words[0];
    if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return std::stoll(digits);
}

/// A WHERE clause that grows, with its values.
class Clause {
public:
    using Value = std::variant<std::int64_t, std::string>;
    void add(const std::string& condition) { text_ += (text_.empty() ? " WHERE " : " AND ") + condition; }
    void add(const std::string& condition, Value value) {
        add(condition);
        values_.push_back(std::move(value));
    }
    const std::string& text() const { return text_; }
    const std::vector<Value>& values() const { return values_; }

private:
    std::string text_;
    std::vector<Value> values_;
};

/// A statement for the one hot loop.
class Scan {
public:
    Scan(SQLite::Database& database, const std::string& sql, const std::vector<Clause::Value>& values) : database_(database) {
        check(sqlite3_prepare_v2(database.getHandle(), sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr), SQLITE_OK);
        int at = 1;
        for (const auto& value : values) {
            if (const auto* whole = std::get_if<std::int64_t>(&value)) sqlite3_bind_int64(statement_, at++, *whole);
            else bindText(at++, std::get<std::string>(value));
        }
    }
    ~Scan() { sqlite3_finalize(statement_); }
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;

    bool step() {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_ROW) return true;
        check(code, SQLITE_DONE);
        return false;
    }
    std::int64_t whole(int column) { return sqlite3_column_int64(statement_, column); }
    double real(int column) { return sqlite3_column_double(statement_, column); }

private:
    void bindText(int at, const std::string& text) {
        sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    void check(int code, int wanted) {
        if (code != wanted) throw SQLite::Exception(database_.getHandle(), code);
    }

    SQLite::Database& database_;
    sqlite3_stmt* statement_ = nullptr;
};

/// Which texts hold every word, and the job that the words name by its number.
class TextMatch {
public:
    TextMatch(SQLite::Database& database, const std::string& text) {
        const auto words = wordsOf(text);
        any_ = words.empty();
        if (any_) return;
        number_ = jobNumber(words).value_or(-1);
        std::string sql = "SELECT id FROM search_texts WHERE ";
        std::vector<Clause::Value> values;
        for (const std::string& word : words) {
            sql += values.empty() ? "instr(folded, ?) > 0" : " AND instr(folded, ?) > 0";
            values.emplace_back(word);
        }
        Scan scan(database, sql, values);
        while (scan.step()) {
            const auto id = static_cast<std::size_t>(scan.whole(0));
            if (id >= matching_.size()) matching_.resize(id + id / 2 + 64);
            matching_[id] = true;
        }
    }
    bool accepts(std::int64_t job, std::int64_t text) const {
        if (any_ || job == number_) return true;
        const auto at = static_cast<std::size_t>(text);
        return at < matching_.size() && matching_[at];
    }

private:
    bool any_ = true;
    std::int64_t number_ = -1;
    std::vector<bool> matching_;
};

struct SessionRange {
    std::int64_t first = 0, last = 0;
};

std::optional<SessionRange> rangeOf(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement query(database, R"sql(
SELECT first_job, ifnull((SELECT min(first_job) - 1 FROM sessions WHERE id > ?1), 9223372036854775807) FROM sessions WHERE id=?1)sql");
    query.bind(1, session);
    if (!query.executeStep()) return std::nullopt;
    return SessionRange{query.getColumn(0).getInt64(), query.getColumn(1).getInt64()};
}

// Position of each name in alphabetical order, by row number: to sort without comparing texts. 0: no such row.
std::vector<std::int64_t> ranks(SQLite::Database& database, const char* table) {
    std::vector<std::int64_t> rank(1, 0);
    SQLite::Statement query(database, fmt::format("SELECT id FROM {} ORDER BY name COLLATE NOCASE", table));
    for (std::int64_t place = 1; query.executeStep(); ++place) {
        const auto id = static_cast<std::size_t>(query.getColumn(0).getInt64());
        if (id >= rank.size()) rank.resize(id + 1, 0);
        rank[id] = place;
    }
    return rank;
}

const char* keyColumn(Order order) {
    switch (order) {
        case Order::State: return "state";
        case Order::Kernel: return "kernel";
        case Order::Device: return "device";
        case Order::Policy: return "policy";
        case Order::Submitted: return "submitted";
        case Order::Waited: return "wait_s";
        case Order::Run: return "run_s";
        case Order::Id: break;
    }
    return nullptr;
}

const char* rankTable(Order order) {
    switch (order) {
        case Order::Kernel: return "kernels";
        case Order::Device: return "devices";
        case Order::Policy: return "policies";
        default: return nullptr;
    }
}

template <class T>
void sortBy(std::vector<T>& values, bool descending) {
    // The scan goes by time of submission, and so do numbers as a rule: then there is nothing to do.
    if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
    if (descending) std::reverse(values.begin(), values.end());
}

template <class Key>
std::vector<std::int64_t> sorted(std::vector<std::pair<Key, std::int64_t>>& pairs, bool descending) {
    sortBy(pairs, descending);
    std::vector<std::int64_t> ids;
    ids.reserve(pairs.size());
    for (const auto& pair : pairs) ids.push_back(pair.second);
    return ids;
}

bool restricts(const HistoryFilter& filter) {
    return !wordsOf(filter.text).empty() || !filter.states.empty() || !filter.kernel.empty() || !filter.device.empty() ||
           !filter.policy.empty() || filter.since || filter.until || filter.session;
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

constexpr const char* rowColumns = R"sql(
SELECT j.id, j.label, k.name, p.name, d.name, j.runtime, y.name, j.state, j.submitted, j.wait_s, j.run_s, j.check_state,
  j.error_message
FROM jobs j LEFT JOIN kernels k ON k.id=j.kernel LEFT JOIN parameter_sets p ON p.id=j.parameters
LEFT JOIN devices d ON d.id=j.device LEFT JOIN policies y ON y.id=j.policy WHERE j.id=?)sql";

HistoryRow rowFrom(SQLite::Statement& query) {
    HistoryRow row;
    row.id = static_cast<JobId>(query.getColumn(0).getInt64());
    row.label = query.getColumn(1).getString();
    row.kernel = query.getColumn(2).getString();
    row.parameters = query.getColumn(3).getString();
    row.device = query.getColumn(4).getString();
    row.runtime = query.getColumn(5).getString();
    row.policy = query.getColumn(6).getString();
    row.state = static_cast<JobState>(query.getColumn(7).getInt());
    row.submitted = query.getColumn(8).getInt64();
    row.waitSeconds = query.getColumn(9).getDouble();
    row.runSeconds = query.getColumn(10).getDouble();
    row.check = checkWord(static_cast<CheckResult::State>(query.getColumn(11).getInt()));
    row.error = firstLine(query.getColumn(12).getString());
    return row;
}

}  // namespace

std::int64_t HistoryQuery::dataVersion() { return database_.execAndGet("PRAGMA data_version").getInt64(); }

HistoryRows HistoryQuery::page(const HistoryFilter& filter, std::uint64_t offset, std::uint64_t limit) {
    if (auto quick = pageWithoutFilter(filter, offset, limit)) return std::move(*quick);
    const auto& ids = matching(filter);
    HistoryRows page;
    page.total = ids.size();
    page.offset = std::min<std::uint64_t>(offset, page.total);
    const std::uint64_t end = page.offset + std::min(limit, page.total - page.offset);
    page.rows = rows(ids.data() + page.offset, ids.data() + end);
    return page;
}

// Numbers without gaps (nothing deleted, every reserved one used) need no list at all: the usual page that follows
// a running queue.
std::optional<HistoryRows> HistoryQuery::pageWithoutFilter(const HistoryFilter& filter, std::uint64_t offset, std::uint64_t limit) {
    if (filter.order != Order::Id || restricts(filter)) return std::nullopt;
    SQLite::Statement query(database_, "SELECT ifnull(min(id), 0), ifnull((SELECT max(id) FROM jobs), -1), "
                                       "ifnull((SELECT sum(jobs) FROM sessions), 0) FROM jobs");
    query.executeStep();
    const std::int64_t least = query.getColumn(0).getInt64(), most = query.getColumn(1).getInt64();
    HistoryRows page;
    page.total = static_cast<std::uint64_t>(query.getColumn(2).getInt64());
    if (most - least + 1 != query.getColumn(2).getInt64()) return std::nullopt;
    page.offset = std::min(offset, page.total);
    const auto count = static_cast<std::int64_t>(std::min(limit, page.total - page.offset));
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t place = static_cast<std::int64_t>(page.offset) + i;
        ids.push_back(filter.descending ? most - place : least + place);
    }
    page.rows = rows(ids.data(), ids.data() + ids.size());
    return page;
}

const std::vector<std::int64_t>& HistoryQuery::matching(const HistoryFilter& filter) {
    const std::int64_t version = dataVersion();
    if (cachedFilter_ != filter || cachedVersion_ != version) {
        cached_ = collect(filter);
        cachedFilter_ = filter;
        cachedVersion_ = version;
    }
    return cached_;
}

std::vector<std::int64_t> HistoryQuery::collect(const HistoryFilter& filter) {
    Clause clause;
    const char* source = "jobs INDEXED BY jobs_filter";
    if (!filter.states.empty()) {
        std::string list;
        for (const JobState state : filter.states) list += (list.empty() ? "" : ",") + std::to_string(static_cast<int>(state));
        clause.add(fmt::format("state IN ({})", list));
    }
    if (!filter.kernel.empty()) clause.add("kernel = (SELECT id FROM kernels WHERE name=?)", filter.kernel);
    if (!filter.device.empty()) clause.add("device = (SELECT id FROM devices WHERE name=?)", filter.device);
    if (!filter.policy.empty()) clause.add("policy = (SELECT id FROM policies WHERE name=?)", filter.policy);
    if (filter.since) clause.add("submitted >= ?", *filter.since);
    if (filter.until) clause.add("submitted < ?", *filter.until);
    if (filter.session) {
        const auto range = rangeOf(database_, *filter.session);
        if (!range) return {};
        const std::int64_t newest = database_.execAndGet("SELECT ifnull(max(id), 0) FROM jobs").getInt64();
        const std::int64_t last = std::min(range->last, newest);
        if (last - range->first < shortRange) source = "jobs NOT INDEXED";
        clause.add("id >= ?", range->first);
        clause.add("id <= ?", last);
    }
    const TextMatch match(database_, filter.text);
    const char* key = keyColumn(filter.order);
    Scan scan(database_, fmt::format("SELECT id, text, {} FROM {}{}", key ? key : "0", source, clause.text()), clause.values());
    if (!key) {
        std::vector<std::int64_t> ids;
        while (scan.step())
            if (const std::int64_t id = scan.whole(0); match.accepts(id, scan.whole(1))) ids.push_back(id);
        sortBy(ids, filter.descending);
        return ids;
    }
    if (filter.order == Order::Waited || filter.order == Order::Run) {
        std::vector<std::pair<double, std::int64_t>> pairs;
        while (scan.step())
            if (const std::int64_t id = scan.whole(0); match.accepts(id, scan.whole(1))) pairs.emplace_back(scan.real(2), id);
        return sorted(pairs, filter.descending);
    }
    std::vector<std::int64_t> rank;
    if (const char* table = rankTable(filter.order)) rank = ranks(database_, table);
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    while (scan.step()) {
        const std::int64_t id = scan.whole(0), value = scan.whole(2);
        if (!match.accepts(id, scan.whole(1))) continue;
        const auto at = static_cast<std::size_t>(value);
        pairs.emplace_back(at < rank.size() ? rank[at] : value, id);
    }
    return sorted(pairs, filter.descending);
}

std::vector<HistoryRow> HistoryQuery::rows(const std::int64_t* from, const std::int64_t* to) {
    std::vector<HistoryRow> rows;
    rows.reserve(static_cast<std::size_t>(to - from));
    SQLite::Statement query(database_, rowColumns);
    for (; from != to; ++from) {
        query.bind(1, *from);
        if (query.executeStep()) rows.push_back(rowFrom(query));
        query.reset();
    }
    return rows;
}

HistoryFacets HistoryQuery::facets() {
    HistoryFacets facets;
    const auto names = [this](const char* table, const char* column) {
        std::vector<std::string> found;
        // One look into the index for each name: it stops at the first job that has it.
        SQLite::Statement query(database_, fmt::format("SELECT name FROM {} t WHERE EXISTS (SELECT 1 FROM jobs INDEXED BY "
                                                       "jobs_filter WHERE {} = t.id) ORDER BY name COLLATE NOCASE", table, column));
        while (query.executeStep()) found.push_back(query.getColumn(0).getString());
        return found;
    };
    facets.kernels = names("kernels", "kernel");
    facets.devices = names("devices", "device");
    facets.policies = names("policies", "policy");
    facets.jobs = static_cast<std::uint64_t>(database_.execAndGet("SELECT ifnull(sum(jobs), 0) FROM sessions").getInt64());
    return facets;
}

}  // namespace heteroscope::history
