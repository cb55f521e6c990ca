#pragma once

#include "devices/device.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace heteroscope {

/// Computes nothing and completes every command at once, in order, on a thread of its own: what remains of a run is
/// the scheduler's own time. Buffers are the caller's storage.
class NullDevice final : public Device {
public:
    explicit NullDevice(DeviceInfo info = describe("null-0"));
    ~NullDevice() override;

    /// Facts that let everything fit.
    static DeviceInfo describe(std::string id);

    const DeviceInfo& info() const override { return info_; }
    void build(ProgramSource source, BuildDone done) override;
    BufferId allocate(std::span<std::byte> storage) override;
    void upload(BufferId buffer, Done done) override;
    void launch(Launch launch, Done done) override;
    void download(BufferId buffer, Done done) override;
    void release(BufferId buffer) override;
    /// Always zero: nothing ran.
    std::chrono::nanoseconds busyTime() const override { return {}; }

private:
    struct Command {
        Done done;
        BuildDone buildDone;
        ProgramSource source;
    };

    void give(Command command);
    void loop();
    Program programOf(const ProgramSource& source);

    const DeviceInfo info_;
    std::atomic<BufferId> nextBuffer_{1};
    std::map<std::string, Program> programs_;  // thread_ only, by text

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Command> commands_;  // mutex_
    bool asleep_ = false;            // mutex_
    bool stop_ = false;              // mutex_
    std::thread thread_;
};

}  // namespace heteroscope
