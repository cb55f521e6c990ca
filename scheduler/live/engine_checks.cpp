// What is refused before it is queued. On the caller's thread.
#include "scheduler/live/engine_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace heteroscope {

Result<std::shared_ptr<Engine::Impl::Planned>> Engine::Impl::plan(const JobSpec& spec) {
    std::string key = fmt::format("{}", static_cast<const void*>(spec.kernel.get()));
    for (const auto& [name, value] : spec.parameters) key += fmt::format(";{}={:.17g}", name, value);
    {
        const std::lock_guard lock(planMutex);
        if (auto known = plans[key].lock()) return known;
    }
    auto planned = planLaunch(spec.kernel, spec.parameters);
    if (!planned) return planned.error();
    auto made = std::make_shared<Planned>();
    made->plan = std::move(*planned);
    const std::lock_guard lock(planMutex);
    if (plans.size() > 10'000) std::erase_if(plans, [](const auto& item) { return item.second.expired(); });
    plans[key] = made;
    return made;
}

Status Engine::Impl::checkBindings(const JobSpec& spec, const LaunchPlan& plan) const {
    const auto refuse = [&](std::string text) {
        return Error{ErrorKind::InvalidInput, fmt::format("{}: {}", spec.label.empty() ? plan.kernel->id : spec.label, text)};
    };
    for (const auto& [name, binding] : spec.bindings) {
        const auto planned = std::find_if(plan.arguments.begin(), plan.arguments.end(),
                                          [&](const PlannedArgument& a) { return a.argument->name == name; });
        if (planned == plan.arguments.end() || planned->argument->kind != KernelArgument::Kind::Buffer) {
            return refuse(fmt::format("kernel '{}' has no buffer argument '{}'", plan.kernel->id, name));
        }
        const auto& data = *binding.data;
        if (binding.first > data.count() || binding.count.value_or(0) > data.count() - binding.first) {
            return refuse(fmt::format("'{}' asks for elements {} to {} of data '{}', which has {}", name, binding.first,
                                      binding.first + binding.count.value_or(0), data.name(), data.count()));
        }
        const std::uint64_t bytes = binding.count.value_or(data.count() - binding.first) * data.type().bytes();
        if (bytes != planned->bytes) {
            return refuse(fmt::format("'{}' takes {} bytes, data '{}' gives {}", name, planned->bytes, data.name(), bytes));
        }
    }
    return {};
}

Status Engine::Impl::whyNowhere(const JobSpec& spec, const Planned& planned) const {
    const std::lock_guard lock(tableMutex);
    if (devices.empty()) return {};
    std::string reasons;
    for (const auto& slot : devices) {
        const auto& info = slot.device->info();
        std::optional<std::string> why;
        if (!spec.device.empty() && spec.device != info.id) why = fmt::format("the job asks for {}", spec.device);
        else why = whyNotOn(planned.plan, info);
        if (!why) return {};
        reasons += fmt::format("\n  {}: {}", info.id, *why);
    }
    return Error{ErrorKind::InvalidInput,
                 fmt::format("{} ({}): no device can run it:{}", spec.label.empty() ? spec.kernel->id : spec.label,
                             parametersText(*spec.kernel, planned.plan.parameters), reasons)};
}

Status Engine::Impl::checkGraph(const std::vector<JobSpec>& jobs) const {
    std::unordered_map<JobId, std::size_t> position;
    for (std::size_t i = 0; i < jobs.size(); ++i) position[jobs[i].id] = i;
    if (position.size() != jobs.size()) return Error{ErrorKind::InvalidInput, "two jobs have the same id"};
    std::vector<std::size_t> open(jobs.size(), 0);
    std::vector<std::vector<std::size_t>> next(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (const JobId before : jobs[i].after) {
            const auto it = position.find(before);
            if (it != position.end()) {
                ++open[i];
                next[it->second].push_back(i);
            } else if (before >= nextId) {
                return Error{ErrorKind::InvalidInput, fmt::format("#{} waits for #{}, which does not exist", jobs[i].id, before)};
            }
        }
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (open[i] == 0) free.push_back(i);
    }
    std::size_t done = 0;
    while (!free.empty()) {
        const std::size_t i = free.back();
        free.pop_back();
        ++done;
        for (const std::size_t j : next[i]) {
            if (--open[j] == 0) free.push_back(j);
        }
    }
    if (done == jobs.size()) return {};
    // Walk back along unmet dependencies: within as many steps as there are jobs one comes round again.
    std::size_t at = 0;
    while (open[at] == 0) ++at;
    std::vector<std::size_t> path;
    std::vector<char> seen(jobs.size(), 0);
    while (!seen[at]) {
        seen[at] = 1;
        path.push_back(at);
        for (const JobId before : jobs[at].after) {
            const auto it = position.find(before);
            if (it != position.end() && open[it->second] != 0) {
                at = it->second;
                break;
            }
        }
    }
    const auto nameOf = [&](std::size_t i) {
        return jobs[i].label.empty() ? fmt::format("#{}", jobs[i].id) : jobs[i].label;
    };
    std::string cycle = nameOf(at);
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
        cycle += " → " + nameOf(*it);
        if (*it == at) break;
    }
    return Error{ErrorKind::InvalidInput, "the jobs wait for each other: " + cycle};
}

}  // namespace heteroscope
