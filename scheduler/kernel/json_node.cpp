#include "scheduler/kernel/json_node.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace heteroscope {

namespace {

constexpr std::size_t deepestNesting = 64;

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

/// Goes through a document before it is taken apart, for what the parser would accept silently and for key order.
/// (The library's parser callback could do it in one pass, but looks at the whole parent again behind every object.)
class Watcher : public nlohmann::json_sax<nlohmann::json> {
public:
    Watcher(const std::string& document, KeyOrder* order) : document_(document), order_(order) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }

    bool start_object(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }

    bool key(string_t& key) override {
        if (!keys_.back().insert(key).second) return fail(fmt::format("\"{}\" stands twice in one object", shortened(key)));
        if (keys_.size() == 1) topKey_ = key;
        if (keys_.size() == 2 && order_ && topKey_ == order_->object) order_->keys.push_back(key);
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) override {
        error_ = parseProblem(error.what(), document_);
        return false;
    }

    const std::optional<Error>& error() const { return error_; }

private:
    bool open() {
        if (keys_.size() >= deepestNesting) return fail(fmt::format("nested deeper than {} levels", deepestNesting));
        keys_.emplace_back();
        return true;
    }
    bool close() {
        keys_.pop_back();
        return true;
    }
    bool fail(const std::string& what) {
        error_ = Error{ErrorKind::InvalidInput, fmt::format("{}: {}", document_, what), document_};
        return false;
    }

    const std::string& document_;
    KeyOrder* order_;
    std::string topKey_;
    std::vector<std::unordered_set<std::string>> keys_;  // of every object and array that is open
    std::optional<Error> error_;
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
    Watcher watcher(document, order);
    if (!nlohmann::json::sax_parse(text, &watcher)) return *watcher.error();
    return nlohmann::json::parse(text);
}

}  // namespace heteroscope
