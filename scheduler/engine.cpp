#include "scheduler/engine.h"

#include "scheduler/live/engine_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

namespace heteroscope {
namespace {

constexpr std::size_t mostUnwritten = 100'000;  // rows; submission waits above it

}  // namespace

std::string parametersText(const Kernel& kernel, const Parameters& parameters) {
    std::string text;
    for (const auto& parameter : kernel.parameters) {
        const auto value = parameters.find(parameter.name);
        if (value == parameters.end()) continue;
        text += fmt::format("{}{}={:.15g}", text.empty() ? "" : " ", parameter.name, value->second);
    }
    return text;
}

Engine::Engine(EngineOptions options, JobRecorder* recorder, std::shared_ptr<PerformanceModel> model)
    : impl_(std::make_unique<Impl>(std::move(options), recorder, std::move(model))) {}

Engine::~Engine() = default;

void Engine::addDevice(std::shared_ptr<Device> device) {
    // Waited for, so that what is submitted next is held against it.
    std::promise<void> added;
    impl_->post(Impl::Control([impl = impl_.get(), &device, &added] {
        impl->addDevice(device);
        added.set_value();
    }));
    added.get_future().wait();
}

void Engine::removeDevice(const std::string& id, const std::string& why) {
    impl_->post(Impl::Control([impl = impl_.get(), id, why] {
        for (DeviceIndex d = 0; d < impl->devices.size(); ++d) {
            auto& slot = impl->devices[d];
            if (!slot.online || slot.device->info().id != id) continue;
            {
                const std::lock_guard lock(impl->tableMutex);
                slot.online = false;
                slot.lost = why;
            }
            impl->events.push_back(event::DeviceWent{d, why});
        }
    }));
}

std::vector<DeviceInfo> Engine::devices() const {
    const std::lock_guard lock(impl_->tableMutex);
    std::vector<DeviceInfo> infos;
    for (const auto& slot : impl_->devices) infos.push_back(slot.device->info());
    return infos;
}

JobId Engine::reserveIds(std::size_t count) { return impl_->nextId.fetch_add(count); }

Result<std::vector<JobId>> Engine::submit(std::vector<JobSpec> jobs) {
    std::vector<Impl::Entry> entries;
    entries.reserve(jobs.size());
    std::vector<JobId> ids;
    if (auto graph = impl_->checkGraph(jobs); !graph) return graph.error();
    for (auto& job : jobs) {
        auto planned = impl_->plan(job);
        if (!planned) return planned.error();
        if (auto bound = impl_->checkBindings(job, (*planned)->plan); !bound) return bound.error();
        if (auto anywhere = impl_->whyNowhere(job, **planned); !anywhere) return anywhere.error();
        Impl::Entry entry;
        entry.planned = *planned;
        auto& snapshot = entry.snapshot;
        snapshot.id = job.id;
        snapshot.label = job.label;
        snapshot.kernel = job.kernel->id;
        snapshot.parameters = parametersText(*job.kernel, entry.planned->plan.parameters);
        snapshot.priority = job.priority;
        snapshot.flops = entry.planned->plan.flops;
        snapshot.bytes = entry.planned->plan.bytes;
        snapshot.after = job.after;
        entry.spec = std::make_shared<const JobSpec>(std::move(job));
        snapshot.spec = entry.spec;
        ids.push_back(snapshot.id);
        entries.push_back(std::move(entry));
    }
    while (impl_->recorder && impl_->recorder->unwritten() > mostUnwritten) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    // Waited for, so that wait() and snapshot() know the jobs as soon as this returns.
    std::promise<void> inserted;
    impl_->post(Impl::Control([impl = impl_.get(), &entries, &inserted] {
        impl->insert(entries);
        impl->flushEvents();
        inserted.set_value();
    }));
    inserted.get_future().wait();
    return ids;
}

void Engine::cancel(std::vector<JobId> jobs) { impl_->post(Event(event::CancelRequested{std::move(jobs)})); }

void Engine::setPriority(std::vector<JobId> jobs, int priority) {
    impl_->post(Impl::Control([impl = impl_.get(), jobs = std::move(jobs), priority] {
        for (const JobId job : jobs) {
            const auto it = impl->table.find(job);
            if (it == impl->table.end() || it->second.unsafe || isFinal(it->second.snapshot.state)) continue;
            {
                const std::lock_guard lock(impl->tableMutex);
                it->second.snapshot.priority = priority;
            }
            impl->dirty.insert(job);
            impl->events.push_back(event::PriorityChanged{job, priority});
            if (impl->recorder) impl->recorder->recordJob(it->second.snapshot, {});
        }
    }));
}

void Engine::retry(std::vector<JobId> jobs) {
    impl_->post(Impl::Control([impl = impl_.get(), jobs = std::move(jobs)] {
        for (const JobId job : jobs) {
            if (impl->table.contains(job)) impl->events.push_back(event::RetryRequested{job});
        }
    }));
}

void Engine::pause() {
    impl_->post(Impl::Control([impl = impl_.get()] { impl->setPaused(true); }));
}

void Engine::resume() {
    impl_->post(Impl::Control([impl = impl_.get()] { impl->setPaused(false); }));
}

void Engine::Impl::setPaused(bool pause) {
    if (pausedNow == pause) return;
    {
        const std::lock_guard lock(tableMutex);
        pausedNow = pause;
    }
    if (pause) events.push_back(event::Paused{});
    else events.push_back(event::Resumed{});
    for (auto& [id, entry] : table) refreshReason(entry);
    stateDirty = true;
}

Status Engine::setPolicy(const std::string& policy) {
    auto next = makePolicy(policy);
    if (!next) return next.error();
    impl_->post(Impl::Control([impl = impl_.get(), policy, next = std::shared_ptr<Policy>(std::move(*next))] {
        {
            const std::lock_guard lock(impl->tableMutex);
            impl->policyName = policy;
        }
        impl->events.push_back(event::PolicyChanged{policy, next});
    }));
    return {};
}

std::string Engine::policy() const {
    const std::lock_guard lock(impl_->tableMutex);
    return impl_->policyName;
}

bool Engine::paused() const {
    const std::lock_guard lock(impl_->tableMutex);
    return impl_->pausedNow;
}

bool Engine::wait(const std::vector<JobId>& jobs, const std::function<bool()>& stop) {
    std::size_t next = 0;
    std::unique_lock lock(impl_->tableMutex);
    for (;;) {
        while (next < jobs.size()) {
            const auto it = impl_->table.find(jobs[next]);
            if (it != impl_->table.end() && !isFinal(it->second.snapshot.state)) break;
            ++next;
        }
        if (next == jobs.size()) return true;
        impl_->jobShown.wait_for(lock, std::chrono::milliseconds(50));
        if (!stop) continue;
        lock.unlock();
        if (stop()) return false;
        lock.lock();
    }
}

void Engine::waitQuiet() {
    std::unique_lock lock(impl_->tableMutex);
    while (!impl_->quiet()) impl_->jobShown.wait_for(lock, std::chrono::milliseconds(20));
}

JobSnapshot Engine::snapshot(JobId job) const {
    const std::lock_guard lock(impl_->tableMutex);
    const auto it = impl_->table.find(job);
    return it == impl_->table.end() ? JobSnapshot{} : it->second.snapshot;
}

std::vector<JobSnapshot> Engine::snapshots() const {
    const std::lock_guard lock(impl_->tableMutex);
    std::vector<JobSnapshot> all;
    all.reserve(impl_->table.size());
    for (const auto& [id, entry] : impl_->table) all.push_back(entry.snapshot);
    std::sort(all.begin(), all.end(), [](const JobSnapshot& a, const JobSnapshot& b) { return a.id < b.id; });
    return all;
}

std::vector<Candidate> Engine::preview(const JobSpec& job) const {
    std::vector<Candidate> candidates;
    const auto planned = impl_->plan(job);
    const std::lock_guard lock(impl_->tableMutex);
    for (DeviceIndex d = 0; d < impl_->devices.size(); ++d) {
        const auto& slot = impl_->devices[d];
        const auto& info = slot.device->info();
        Candidate candidate;
        candidate.device = d;
        if (!planned) candidate.excluded = planned.error().message;
        else if (!job.device.empty() && job.device != info.id) candidate.excluded = slot.pinnedElsewhere;
        else if (!slot.online) candidate.excluded = slot.lost;
        else candidate.excluded = whyNotOn((*planned)->plan, info).value_or("");
        if (d < impl_->deviceSnapshots.size()) {
            const auto& now = impl_->deviceSnapshots[d];
            candidate.freeIn = now.freeInSeconds;
            candidate.queued = static_cast<std::uint32_t>(now.queued + now.running.size());
        }
        if (planned) {
            candidate.run = impl_->model->predict((*planned)->plan, info.id).seconds;
            candidate.dataIn = impl_->model->stagingSeconds((*planned)->plan, info.id);
        }
        if (candidate.run >= 0.0 && candidate.freeIn >= 0.0) {
            candidate.finish = candidate.freeIn + std::max(0.0, candidate.dataIn) + candidate.run;
        }
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

Prediction Engine::predict(const JobSpec& job, const std::string& deviceId) const {
    const auto planned = impl_->plan(job);
    return planned ? impl_->model->predict((*planned)->plan, deviceId) : Prediction{};
}

std::shared_ptr<void> Engine::observe(Observer observer) {
    const std::lock_guard lock(impl_->observersMutex);
    const auto key = impl_->nextObserver++;
    impl_->observers[key] = std::move(observer);
    impl_->post(Impl::Control([impl = impl_.get()] {
        for (const auto& [id, entry] : impl->table) impl->dirty.insert(id);
        impl->stateDirty = true;
    }));
    return std::shared_ptr<void>(impl_.get(), [key](void* engine) {
        auto* impl = static_cast<Impl*>(engine);
        const std::lock_guard held(impl->observersMutex);
        impl->observers.erase(key);
    });
}

}  // namespace heteroscope
