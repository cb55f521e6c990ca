#include "scheduler/decision.h"

#include "scheduler/policies/wording.h"
#include "scheduler/policy.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace heteroscope {
namespace {

constexpr std::string_view overdueWord = "overdue: ";

/// Whether `a` stands before `b` among those not chosen: score, then finish where both have one, then queue.
bool ranksBefore(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score < b.score;
    if (a.finish >= 0.0 && b.finish >= 0.0 && a.finish != b.finish) return a.finish < b.finish;
    return a.queued < b.queued;
}

/// Three significant digits without trailing zeros: "41", "1.25", "1250".
std::string threeDigits(double value) {
    if (value >= 999.5) return fmt::format("{:.0f}", value);
    std::string text = fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

const Candidate* chosenCandidate(const Decision& decision) {
    for (const Candidate& candidate : decision.candidates)
        if (candidate.device == decision.chosen) return &candidate;
    return nullptr;
}

const Candidate* runnerUp(const Decision& decision) {
    const Candidate* second = nullptr;
    for (const Candidate& candidate : decision.candidates) {
        if (candidate.device == decision.chosen || !candidate.excluded.empty()) continue;
        if (!second || ranksBefore(candidate, *second)) second = &candidate;
    }
    return second;
}

std::string formatSeconds(double seconds) {
    struct Unit {
        double seconds;
        const char* name;
    };
    constexpr std::array<Unit, 5> units = {{{1e-6, "µs"}, {1e-3, "ms"}, {1.0, "s"}, {60.0, "min"}, {3600.0, "h"}}};
    // A unit ends where three digits would round up to the next one: 999.6 µs is 1 ms.
    constexpr std::array<double, 4> ends = {999.5e-6, 999.5e-3, 59.95, 5997.0};
    if (!std::isfinite(seconds)) return "—";
    const double size = std::abs(seconds);
    if (size < 0.5e-9) return "0\u2009s";
    std::size_t unit = 0;
    while (unit < ends.size() && size >= ends[unit]) ++unit;
    const double value = size / units[unit].seconds;
    // Below 1 µs three significant digits need more places than two.
    const std::string digits = value < 0.995 ? fmt::format("{:.3g}", value) : threeDigits(value);
    return fmt::format("{}{}\u2009{}", seconds < 0 ? "−" : "", digits, units[unit].name);
}

std::string overdueNote(double readySeconds, double limitSeconds) {
    return fmt::format("{}ready for {}, over the limit of {}", overdueWord, formatSeconds(readySeconds),
                       formatSeconds(limitSeconds));
}

std::string explainByFinish(const Decision& decision, const std::vector<std::string>& deviceNames) {
    const wording::Names names(deviceNames);
    const Candidate* chosen = chosenCandidate(decision);
    if (!chosen) return "no device chosen";
    const Candidate* second = runnerUp(decision);
    const std::string name = names.of(chosen->device);
    if (!second) return fmt::format("{}: {}", name, wording::onlyDevice(decision, names));
    const std::string other = names.of(second->device);

    if (chosen->finish < 0.0 || second->finish < 0.0) {
        const std::string where = chosen->run < 0.0 && second->run < 0.0
                                      ? "no run of this kernel measured yet"
                                      : fmt::format("no run of this kernel measured yet on {}",
                                                    chosen->run < 0.0 ? name : other);
        return fmt::format("{}: {}, so that the devices count as equal; {} here, while {}", name, where,
                           wording::jobCount(chosen->queued), wording::queueOf(*second, names));
    }
    const double gain = second->finish - chosen->finish;
    if (formatSeconds(gain) == formatSeconds(0.0))
        return fmt::format("{}: would finish at the same time as {}; {} here, while {}", name, other,
                           wording::jobCount(chosen->queued), wording::queueOf(*second, names));
    return fmt::format("{}: would finish {} {} than {}, {}", name, formatSeconds(std::abs(gain)),
                       gain > 0.0 ? "earlier" : "later", other, wording::whoseQueue(*second));
}

std::string explain(const Decision& decision, const std::vector<std::string>& deviceNames) {
    if (decision.note.starts_with(overdueWord))
        return fmt::format("{}; goes before all others: {}", explainByFinish(decision, deviceNames),
                           decision.note.substr(overdueWord.size()));
    const PolicyInfo* info = findPolicy(decision.policy.substr(0, decision.policy.find(':')));  // without its options
    return info && info->explain ? info->explain(decision, deviceNames) : explainByFinish(decision, deviceNames);
}

}  // namespace heteroscope
