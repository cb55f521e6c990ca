#include "scheduler/policies/policy_fifo.h"
#include "scheduler/policies/policy_least_loaded.h"
#include "scheduler/policies/policy_mct.h"
#include "scheduler/policies/policy_priority.h"
#include "scheduler/policies/policy_round_robin.h"
#include "scheduler/policies/policy_sjf.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace heteroscope {

const std::vector<PolicyInfo>& policies() {
    static const std::vector<PolicyInfo> all = {
        RoundRobinPolicy::info(),
        FifoPolicy::info(),
        PriorityPolicy::info(),
        SjfPolicy::info(),
        LeastLoadedPolicy::info(),
        MctPolicy::info(),
    };
    return all;
}

const PolicyInfo* findPolicy(std::string_view id) {
    for (const PolicyInfo& info : policies())
        if (info.id == id) return &info;
    return nullptr;
}

namespace {

Error invalid(std::string message) {
    return {ErrorKind::InvalidInput, std::move(message)};
}

template <class Items, class Name>
std::string listed(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + name(item);
    return text;
}

/// The whole text as a finite number of at least 0.
std::optional<double> toNumber(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
        return std::nullopt;
    return value;
}

/// One "name=value" laid over the defaults.
Status readOption(std::string_view text, const PolicyInfo& info, std::map<std::string, double>& options) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (!options.contains(name)) {
        if (info.options.empty()) return invalid(fmt::format("policy '{}' has no options; found '{}'", info.id, text));
        return invalid(fmt::format("policy '{}' has no option '{}'; it has: {}", info.id, name,
                                   listed(info.options, [](const PolicyOption& option) { return option.name; })));
    }
    if (equals == std::string_view::npos)
        return invalid(fmt::format("policy '{}': option '{}' needs a value, as in '{}={}'", info.id, name, name, options[name]));
    const std::optional<double> value = toNumber(text.substr(equals + 1));
    if (!value)
        return invalid(fmt::format("policy '{}': option '{}' is a number of at least 0; found '{}'", info.id, name, text.substr(equals + 1)));
    options[name] = *value;
    return {};
}

}  // namespace

Result<std::unique_ptr<Policy>> makePolicy(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view id = text.substr(0, colon);
    const PolicyInfo* info = findPolicy(id);
    if (!info)
        return invalid(fmt::format("unknown policy '{}'; there are: {}", id,
                                   listed(policies(), [](const PolicyInfo& each) { return each.id; })));
    std::map<std::string, double> options;
    for (const PolicyOption& option : info->options) options[option.name] = option.defaultValue;
    std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        if (Status read = readOption(rest.substr(0, comma), *info, options); !read) return read.error();
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return info->make(options);
}

}  // namespace heteroscope
