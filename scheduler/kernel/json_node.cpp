#include "scheduler/kernel/json_node.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace heteroscope {

namespace {

constexpr int deepestNesting = 64;

std::string escapedKey(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

/// "[json.exception.parse_error.101] parse error at line 2, column 5: …" without its prefix, and the line.
Error parseProblem(const std::string& what, const std::string& document) {
    const std::string_view mark = "parse error at ";
    const std::size_t at = what.find(mark);
    const std::string rest = at == std::string::npos ? what : what.substr(at + mark.size());
    Error error{ErrorKind::InvalidInput, fmt::format("{}: not valid JSON: {}", document, shortened(rest, 240)), document};
    if (rest.starts_with("line ")) std::from_chars(rest.data() + 5, rest.data() + rest.size(), error.line);
    return error;
}

/// Watches the parser for what it would accept silently.
class Watcher {
public:
    Watcher(const std::string& document, KeyOrder* order) : document_(document), order_(order) {}

    bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (depth > deepestNesting) fail(fmt::format("nested deeper than {} levels", deepestNesting));
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end) keys_.pop_back();
        if (event == Event::key) keyMet(depth, parsed.get_ref<const std::string&>());
        return true;
    }

private:
    void keyMet(int depth, const std::string& key) {
        if (!keys_.back().insert(key).second) fail(fmt::format("\"{}\" stands twice in one object", shortened(key)));
        if (depth == 1) topKey_ = key;
        if (depth == 2 && order_ && topKey_ == order_->object) order_->keys.push_back(key);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw JsonProblem{Error{ErrorKind::InvalidInput, fmt::format("{}: {}", document_, what), document_}};
    }

    const std::string& document_;
    KeyOrder* order_;
    std::string topKey_;
    std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
    if (!value_->is_object()) fail("an object");
    const auto found = value_->find(std::string(key));
    if (found == value_->end() || found->is_null()) return {};
    return JsonNode(*found, pointer_ + "/" + escapedKey(key), *document_, *warnings_);
}

JsonNode JsonNode::at(std::string_view key, std::string_view expected) const {
    if (const auto node = find(key)) return *node;
    failWith(fmt::format("missing \"{}\": {} is expected", key, expected));
}

std::vector<JsonNode> JsonNode::elements(std::string_view expected) const {
    if (!value_->is_array()) fail(expected);
    std::vector<JsonNode> nodes;
    nodes.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i)
        nodes.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *document_, *warnings_);
    return nodes;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members(std::string_view expected) const {
    if (!value_->is_object()) fail(expected);
    std::vector<std::pair<std::string, JsonNode>> nodes;
    for (auto item = value_->begin(); item != value_->end(); ++item)
        nodes.emplace_back(item.key(), JsonNode(item.value(), pointer_ + "/" + escapedKey(item.key()), *document_, *warnings_));
    return nodes;
}

std::string JsonNode::text(std::string_view expected) const {
    if (!value_->is_string()) fail(expected);
    return value_->get<std::string>();
}

double JsonNode::number(std::string_view expected) const {
    if (!value_->is_number()) fail(expected);
    const auto number = value_->get<double>();
    if (!std::isfinite(number)) fail(expected);
    return number;
}

std::uint64_t JsonNode::whole(std::string_view expected) const {
    if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
    // "1e6" and "4.0" are whole numbers too
    if (value_->is_number_float()) {
        const auto number = value_->get<double>();
        if (number >= 0 && number <= 0x1p53 && number == std::floor(number)) return static_cast<std::uint64_t>(number);
    }
    fail(expected);
}

std::int64_t JsonNode::integer(std::string_view expected) const {
    if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) fail(expected);
    if (value_->is_number_integer()) return value_->get<std::int64_t>();
    if (value_->is_number_float()) {
        const auto number = value_->get<double>();
        if (std::abs(number) <= 0x1p53 && number == std::floor(number)) return static_cast<std::int64_t>(number);
    }
    fail(expected);
}

bool JsonNode::boolean() const {
    if (!value_->is_boolean()) fail("true or false");
    return value_->get<bool>();
}

std::string JsonNode::expression(std::string_view expected) const {
    if (value_->is_string()) return value_->get<std::string>();
    if (value_->is_boolean()) return value_->get<bool>() ? "1" : "0";
    if (value_->is_number_float()) return formatNumber(number(expected));
    if (value_->is_number()) return value_->dump();
    fail(expected);
}

void JsonNode::warnUnknown(std::initializer_list<std::string_view> known) const {
    if (!value_->is_object()) fail("an object");
    std::vector<std::string> names;
    for (auto item = value_->begin(); item != value_->end(); ++item) {
        if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
        if (names.empty()) names.assign(known.begin(), known.end());
        const std::string nearest = nearestName(item.key(), names);
        warn(fmt::format("unknown field \"{}\"{}", shortened(item.key()),
                         nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest)));
    }
}

void JsonNode::warn(const std::string& what) const {
    constexpr std::size_t mostWarnings = 100;
    if (warnings_->size() < mostWarnings) warnings_->push_back(fmt::format("{}: {}: {}", *document_, pointer_.empty() ? "/" : pointer_, what));
}

std::string JsonNode::shown() const {
    if (value_->is_object()) return "an object";
    if (value_->is_array()) return fmt::format("a list of {}", value_->size());
    if (value_->is_string()) return fmt::format("\"{}\"", shortened(value_->get_ref<const std::string&>()));
    return shortened(value_->dump());
}

void JsonNode::fail(std::string_view expected) const { failWith(fmt::format("found {}; {} is expected", shown(), expected)); }

void JsonNode::failWith(const std::string& what) const {
    throw JsonProblem{Error{ErrorKind::InvalidInput,
                            fmt::format("{}: {}: {}", *document_, pointer_.empty() ? "/" : pointer_, what), *document_}};
}

Result<nlohmann::json> parseJson(const std::string& text, const std::string& document, KeyOrder* order) {
    if (trimmed(text).empty()) return Error{ErrorKind::InvalidInput, document + ": the file is empty", document};
    try {
        return nlohmann::json::parse(text, Watcher(document, order));
    } catch (const JsonProblem& problem) {
        return problem.error;
    } catch (const nlohmann::json::exception& error) {
        return parseProblem(error.what(), document);
    }
}

}  // namespace heteroscope
