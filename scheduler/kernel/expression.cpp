// Parsers are kept, one a thread and expression, with storage for the variables the expression uses: evaluating
// again costs copying those in. The cache is dropped when it grows past a few hundred expressions.

#include "scheduler/kernel/expression.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

namespace heteroscope {

namespace {

constexpr std::size_t longestExpression = 2000;
constexpr std::size_t cachedExpressions = 256;
constexpr double largestExactInteger = 9007199254740992.0;  // 2^53

double floorDownwards(double x) { return std::floor(x); }
double ceilUpwards(double x) { return std::ceil(x); }
double roundHalfAway(double x) { return std::round(x); }
double truncate(double x) { return std::trunc(x); }
double remainder(double a, double b) { return std::fmod(a, b); }

struct Compiled {
    mu::Parser parser;
    std::vector<std::string> names;
    std::vector<double> values;  // the parser points into it: never resized after compile()
};

Error problem(const std::string& expression, const std::string& what) {
    return Error{ErrorKind::InvalidInput, fmt::format("expression \"{}\": {}", shortened(expression), what)};
}

/// The names in `text` that are used as variables: not a function (followed by a parenthesis), not part of a number.
std::vector<std::string> variablesIn(std::string_view text) {
    std::vector<std::string> names;
    const auto wordCharacter = [](char c) { return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)); };
    for (std::size_t i = 0; i < text.size();) {
        if (!wordCharacter(text[i])) {
            ++i;
            continue;
        }
        const std::size_t start = i;
        while (i < text.size() && wordCharacter(text[i])) ++i;
        const std::string_view word = text.substr(start, i - start);
        std::size_t next = i;
        while (next < text.size() && text[next] == ' ') ++next;
        const bool function = next < text.size() && text[next] == '(';
        if (isIdentifier(word) && !function && word != "_pi" && word != "_e") names.emplace_back(word);
    }
    return names;
}

/// What the parser would take in another sense than people mean: assignments, text, several values.
std::optional<std::string> forbiddenPart(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char before = i > 0 ? text[i - 1] : ' ';
        const char after = i + 1 < text.size() ? text[i + 1] : ' ';
        const bool known = std::isalnum(static_cast<unsigned char>(c)) ||
                           std::string_view("_.,()+-*/^<>=!&|?: ").find(c) != std::string_view::npos;
        if (!known) return fmt::format("unexpected character at position {}", i + 1);
        if (c == '=' && after != '=' && std::string_view("=<>!").find(before) == std::string_view::npos)
            return std::string("assigns; use == to compare");
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) return fmt::format("closing parenthesis at position {} without an opening one", i + 1);
        if (c == ',' && depth == 0) return std::string("gives several values, one is expected");
    }
    if (depth > 0) return std::string("an opening parenthesis is not closed");
    return {};
}

Result<std::shared_ptr<Compiled>> compile(const std::string& expression, const Parameters& parameters) {
    if (trimmed(expression).empty()) return problem(expression, "is empty");
    if (expression.size() > longestExpression)
        return problem(expression, fmt::format("has {} characters, {} is the most", expression.size(), longestExpression));
    if (const auto forbidden = forbiddenPart(expression)) return problem(expression, *forbidden);

    auto compiled = std::make_shared<Compiled>();
    for (const std::string& name : variablesIn(expression)) {
        if (parameters.contains(name)) {
            if (std::find(compiled->names.begin(), compiled->names.end(), name) == compiled->names.end())
                compiled->names.push_back(name);
            continue;
        }
        std::vector<std::string> known;
        for (const auto& [key, value] : parameters) known.push_back(key);
        return problem(expression, fmt::format("unknown name \"{}\"{}", shortened(name), hintFor(name, known)));
    }
    compiled->values.resize(compiled->names.size());
    try {
        mu::Parser& parser = compiled->parser;
        parser.DefineFun("floor", floorDownwards);
        parser.DefineFun("ceil", ceilUpwards);
        parser.DefineFun("round", roundHalfAway);
        parser.DefineFun("trunc", truncate);
        parser.DefineFun("mod", remainder);
        for (std::size_t i = 0; i < compiled->names.size(); ++i)
            parser.DefineVar(compiled->names[i], &compiled->values[i]);
        parser.SetExpr(expression);
    } catch (const mu::Parser::exception_type& error) {
        return problem(expression, error.GetMsg());
    }
    return compiled;
}

Result<std::shared_ptr<Compiled>> compiledFor(const std::string& expression, const Parameters& parameters) {
    thread_local std::unordered_map<std::string, std::shared_ptr<Compiled>> cache;
    if (const auto found = cache.find(expression); found != cache.end()) {
        // A name that was a parameter then may not be one now: compile() words that error.
        const auto isKnown = [&](const std::string& name) { return parameters.contains(name); };
        if (std::all_of(found->second->names.begin(), found->second->names.end(), isKnown)) return found->second;
    }
    auto compiled = compile(expression, parameters);
    if (!compiled) return compiled;
    if (cache.size() >= cachedExpressions) cache.clear();
    cache[expression] = *compiled;
    return compiled;
}

}  // namespace

Result<double> evaluate(const std::string& expression, const Parameters& parameters) {
    const auto compiled = compiledFor(expression, parameters);
    if (!compiled) return compiled.error();
    Compiled& use = **compiled;
    for (std::size_t i = 0; i < use.names.size(); ++i) use.values[i] = parameters.at(use.names[i]);
    double value = 0.0;
    try {
        value = use.parser.Eval();
    } catch (const mu::Parser::exception_type& error) {
        return problem(expression, error.GetMsg());
    }
    if (std::isnan(value)) return problem(expression, "is not a number (a division of zero by zero, a root of a negative number?)");
    if (std::isinf(value)) return problem(expression, "is infinite (a division by zero, an overflow?)");
    return value;
}

Result<std::uint64_t> evaluateCount(const std::string& expression, const Parameters& parameters) {
    const auto value = evaluate(expression, parameters);
    if (!value) return value.error();
    // Products of decimal fractions that are whole on paper may miss by a rounding error.
    const double whole = std::round(*value);
    if (std::abs(*value - whole) > 1e-9)
        return problem(expression, fmt::format("gives {}, a whole number is expected (ceil() rounds up)", formatNumber(*value)));
    if (whole < 0) return problem(expression, fmt::format("gives {}, a size cannot be negative", formatNumber(whole)));
    if (whole > largestExactInteger)
        return problem(expression, fmt::format("gives {}, the largest size is 2^53", formatNumber(whole)));
    return static_cast<std::uint64_t>(whole);
}

}  // namespace heteroscope
