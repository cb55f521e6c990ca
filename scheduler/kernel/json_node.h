#pragma once

#include "devices/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heteroscope {

/// Thrown by JsonNode and caught where a document is read as a whole: a reader would check every field otherwise.
struct JsonProblem {
    Error error;
};

/// A value of a JSON document with its place. Reading a field of the wrong kind throws a JsonProblem that names
/// file, JSON pointer, what was found and what was expected.
class JsonNode {
public:
    /// `value`, `document` and `warnings` outlive the node and all nodes taken from it.
    JsonNode(const nlohmann::json& value, std::string pointer, const std::string& document,
             std::vector<std::string>& warnings)
        : value_(&value), pointer_(std::move(pointer)), document_(&document), warnings_(&warnings) {}

    const nlohmann::json& value() const { return *value_; }
    const std::string& pointer() const { return pointer_; }

    /// The field of an object; nothing when there is none or it is null.
    std::optional<JsonNode> find(std::string_view key) const;
    JsonNode at(std::string_view key, std::string_view expected) const;

    std::vector<JsonNode> elements(std::string_view expected) const;  ///< of an array
    std::vector<std::pair<std::string, JsonNode>> members(std::string_view expected) const;  ///< of an object

    bool isObject() const { return value_->is_object(); }
    bool isArray() const { return value_->is_array(); }
    bool isString() const { return value_->is_string(); }
    bool isNumber() const { return value_->is_number(); }

    std::string text(std::string_view expected = "a text") const;
    double number(std::string_view expected = "a number") const;
    std::uint64_t whole(std::string_view expected = "a whole number from 0") const;
    std::int64_t integer(std::string_view expected = "a whole number") const;
    bool boolean() const;
    /// A number or the text of an expression, as text.
    std::string expression(std::string_view expected = "a number or an expression") const;

    /// Says every field of this object that is not among `known`.
    void warnUnknown(std::initializer_list<std::string_view> known) const;
    void warn(const std::string& what) const;

    [[noreturn]] void fail(std::string_view expected) const;   ///< "found …; … expected"
    [[noreturn]] void failWith(const std::string& what) const; ///< what is wrong, in own words
    /// The value as messages show it.
    std::string shown() const;

private:
    const nlohmann::json* value_;
    std::string pointer_;
    const std::string* document_;
    std::vector<std::string>* warnings_;
};

/// The keys of one top-level object in the order they were written, which the parsed document does not keep.
struct KeyOrder {
    std::string object;
    std::vector<std::string> keys;
};

/// Parses text. Errors: file, line and column and what was met; a key that stands twice; nesting deeper than 64.
Result<nlohmann::json> parseJson(const std::string& text, const std::string& document, KeyOrder* order = nullptr);

}  // namespace heteroscope
