// Every filter costs one scan of jobs_filter (which covers all of its columns) into a list of job numbers, sorted here:
// sorting a million pairs takes less than SQLite's sorter does, and a scrollbar then costs nothing.

#include "scheduler/history/history_query.h"

#include "scheduler/history/job_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

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
    void add(const std::string& condition) { text_ += (text_.empty() ? " WHERE " : " AND ") + condition; }
    void add(const std::string& condition, std::int64_t value) {
        add(condition);
        values_.emplace_back(value);
    }
    void add(const std::string& condition, const std::string& value) {
        add(condition);
        values_.emplace_back(value);
    }
    void addValue(std::variant<std::int64_t, std::string> value) { values_.push_back(std::move(value)); }
    const std::string& text() const { return text_; }
    void bind(SQLite::Statement& statement) const {
        int at = 1;
        for (const auto& value : values_) {
            if (const auto* whole = std::get_if<std::int64_t>(&value)) statement.bind(at++, *whole);
            else statement.bind(at++, std::get<std::string>(value));
        }
    }

private:
    std::string text_;
    std::vector<std::variant<std::int64_t, std::string>> values_;
};

void addText(Clause& clause, const std::string& text) {
    const auto words = wordsOf(text);
    if (words.empty()) return;
    std::string inner = "SELECT id FROM search_texts WHERE ";
    for (std::size_t i = 0; i < words.size(); ++i) inner += i == 0 ? "instr(folded, ?) > 0" : " AND instr(folded, ?) > 0";
    const auto number = jobNumber(words);
    clause.add(number ? fmt::format("(text IN ({}) OR id = {})", inner, *number) : fmt::format("text IN ({})", inner));
    for (const std::string& word : words) clause.addValue(word);
}

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

// Position of each name in alphabetical order, by row number: to sort without comparing texts.
std::map<std::int64_t, std::int64_t> ranks(SQLite::Database& database, const char* table) {
    std::map<std::int64_t, std::int64_t> rank;
    SQLite::Statement query(database, fmt::format("SELECT id FROM {} ORDER BY name COLLATE NOCASE", table));
    for (std::int64_t place = 1; query.executeStep(); ++place) rank[query.getColumn(0).getInt64()] = place;
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

template <class Key>
std::vector<std::int64_t> sorted(std::vector<std::pair<Key, std::int64_t>>& pairs, bool descending) {
    if (descending) std::sort(pairs.begin(), pairs.end(), std::greater<>{});
    else std::sort(pairs.begin(), pairs.end());
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
    addText(clause, filter.text);
    if (!filter.states.empty()) {
        std::string list;
        for (const JobState state : filter.states) list += (list.empty() ? "" : ",") + std::to_string(static_cast<int>(state));
        clause.add(fmt::format("state IN ({})", list));
    }
    // Unary plus: the number is looked up once, and no other index is considered.
    if (!filter.kernel.empty()) clause.add("+kernel = (SELECT id FROM kernels WHERE name=?)", filter.kernel);
    if (!filter.device.empty()) clause.add("+device = (SELECT id FROM devices WHERE name=?)", filter.device);
    if (!filter.policy.empty()) clause.add("+policy = (SELECT id FROM policies WHERE name=?)", filter.policy);
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
    const char* key = keyColumn(filter.order);
    SQLite::Statement query(database_, fmt::format("SELECT id{}{} FROM {}{}", key ? ", " : "", key ? key : "", source, clause.text()));
    clause.bind(query);
    if (!key) {
        std::vector<std::int64_t> ids;
        while (query.executeStep()) ids.push_back(query.getColumn(0).getInt64());
        if (filter.descending) std::sort(ids.begin(), ids.end(), std::greater<>{});
        else std::sort(ids.begin(), ids.end());
        return ids;
    }
    if (filter.order == Order::Waited || filter.order == Order::Run) {
        std::vector<std::pair<double, std::int64_t>> pairs;
        while (query.executeStep()) pairs.emplace_back(query.getColumn(1).getDouble(), query.getColumn(0).getInt64());
        return sorted(pairs, filter.descending);
    }
    std::map<std::int64_t, std::int64_t> rank;
    if (const char* table = rankTable(filter.order)) rank = ranks(database_, table);
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    while (query.executeStep()) {
        const std::int64_t value = query.getColumn(1).getInt64();
        const auto place = rank.find(value);
        pairs.emplace_back(place == rank.end() ? value : place->second, query.getColumn(0).getInt64());
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
                                                       "jobs_filter WHERE +{} = t.id) ORDER BY name COLLATE NOCASE", table, column));
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
