#include "scheduler/kernel/kernel.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heteroscope {

std::string_view toString(Access access) {
    switch (access) {
        case Access::Read: return "read";
        case Access::Write: return "write";
        case Access::ReadWrite: return "read-write";
    }
    return "";
}

std::optional<Access> accessFromString(std::string_view word) {
    for (const Access access : {Access::Read, Access::Write, Access::ReadWrite})
        if (toString(access) == word) return access;
    return {};
}

const KernelVariant* Kernel::variant(Language language) const {
    const auto found = std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.language == language; });
    return found == variants.end() ? nullptr : &*found;
}

const KernelArgument* Kernel::argument(std::string_view name) const {
    const auto found = std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.name == name; });
    return found == arguments.end() ? nullptr : &*found;
}

Parameters Kernel::defaults() const {
    Parameters values;
    for (const KernelParameter& parameter : parameters) values[parameter.name] = parameter.defaultValue;
    return values;
}

namespace {

std::string limitsOf(const KernelParameter& parameter) {
    const auto show = [](const std::optional<double>& limit) { return limit ? formatNumber(*limit) : std::string(); };
    if (parameter.minimum && parameter.maximum)
        return fmt::format("{} to {} is allowed", show(parameter.minimum), show(parameter.maximum));
    return parameter.minimum ? fmt::format("{} is the least", show(parameter.minimum))
                             : fmt::format("{} is the most", show(parameter.maximum));
}

}  // namespace

Result<Parameters> Kernel::resolve(const Parameters& given) const {
    Parameters values = defaults();
    const auto refuse = [&](const std::string& what) { return Error{ErrorKind::InvalidInput, fmt::format("{}: {}", id, what)}; };
    for (const auto& [name, value] : given) {
        const auto known = std::find_if(parameters.begin(), parameters.end(), [&, &key = name](const auto& p) { return p.name == key; });
        if (known == parameters.end()) {
            std::vector<std::string> names;
            for (const KernelParameter& parameter : parameters) names.push_back(parameter.name);
            return refuse(names.empty() ? fmt::format("unknown parameter \"{}\"; it has none", shortened(name))
                                        : fmt::format("unknown parameter \"{}\"{}", shortened(name), hintFor(name, names)));
        }
        if (!std::isfinite(value)) return refuse(fmt::format("parameter {} = {} is not a finite number", name, value));
        if (known->integral && value != std::floor(value))
            return refuse(fmt::format("parameter {} = {}: a whole number is expected", name, formatNumber(value)));
        if ((known->minimum && value < *known->minimum) || (known->maximum && value > *known->maximum))
            return refuse(fmt::format("parameter {} = {}: {}", name, formatNumber(value), limitsOf(*known)));
        values[name] = value;
    }
    return values;
}

}  // namespace heteroscope
