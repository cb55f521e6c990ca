#pragma once

#include "devices/device.h"
#include "tests/support/manual_clock.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace heteroscope {

/// A Device that does what the test says and nothing by itself. Commands run in order on one thread of the
/// device; a launch is held there until finishNext() or autoComplete(true). Builds are answered beside the
/// commands, so a held launch does not hold them. Calls of the test: any thread but the device's own.
///
///     FakeDevice gpu(FakeDevice::describe("gpu-0", DeviceKind::Gpu));
///     gpu.failNextLaunch({ErrorKind::LaunchFailed, "boom"});
///     gpu.waitForLaunches(1);
///     gpu.finishNext();                       // answers; returns after the callback has run
class FakeDevice final : public Device {
public:
    /// `clock` gives the times of commands; without one they come from steady_clock.
    explicit FakeDevice(DeviceInfo info, const ManualClock* clock = nullptr);
    /// Answers what is still held with `cancelled`, then joins.
    ~FakeDevice() override;

    /// A usable DeviceInfo: 1 GiB of memory, buffers to 512 MiB, work-groups to 1024.
    static DeviceInfo describe(std::string id, DeviceKind kind = DeviceKind::Cpu);

    // What the test decides.

    /// On: launches finish at once (also those held now). Off is the start.
    void autoComplete(bool on);
    /// Finishes the oldest launch and returns after its callback has run. Waits up to `patience` for one to come.
    bool finishNext(std::chrono::milliseconds patience = std::chrono::seconds(5));
    /// The next launch to be answered fails so, once. Calls queue up.
    void failNextLaunch(Error error);
    void failNextBuild(Error error);
    void failNextUpload(Error error);
    void failNextDownload(Error error);
    /// From now on every command, held ones included, answers device-lost with this text.
    void lose(std::string why);
    /// Held builds answer only after holdBuilds(false).
    void holdBuilds(bool on);
    /// Device time that each launch is said to have taken (default: none). With a ManualClock the clock is
    /// the test's; the times reported are now − duration … now.
    void setLaunchDuration(std::chrono::nanoseconds duration);
    /// What build() says is in a program, whatever its source. Without it the kernels of the text are listed, by
    /// a plain scan (one declaration each, no macros), with work-groups up to info().maxWorkGroupSize.
    void setEntries(std::vector<EntryInfo> entries);
    /// Runs on the device's thread as the kernel itself; reaches its buffers through memory().
    void setKernel(std::function<void(const Launch&, FakeDevice&)> kernel);

    // What the test may look at.

    /// Every launch taken so far, in order, held ones included.
    std::vector<Launch> launches() const;
    /// Every source given to build(), in order.
    std::vector<ProgramSource> builds() const;
    /// Waits until that many launches were given in all.
    bool waitForLaunches(std::size_t count, std::chrono::milliseconds patience = std::chrono::seconds(5)) const;
    /// Waits until that many builds were asked for in all.
    bool waitForBuilds(std::size_t count, std::chrono::milliseconds patience = std::chrono::seconds(5)) const;
    /// Launches that wait for finishNext().
    std::size_t held() const;
    std::size_t buffers() const;  ///< allocated and not released
    std::uint64_t allocatedBytes() const;
    /// The device's own bytes of a buffer: `storage` itself where info().sharesHostMemory, else a copy.
    std::span<std::byte> memory(BufferId buffer);

    // Device.
    const DeviceInfo& info() const override { return info_; }
    void build(ProgramSource source, BuildDone done) override;
    BufferId allocate(std::span<std::byte> storage) override;
    void upload(BufferId buffer, Done done) override;
    void launch(Launch launch, Done done) override;
    void download(BufferId buffer, Done done) override;
    void release(BufferId buffer) override;
    std::chrono::nanoseconds busyTime() const override;

private:
    struct Buffer {
        std::span<std::byte> storage;
        std::vector<std::byte> own;  // empty where memory is shared
    };
    struct Command {
        enum class Kind { Upload, Launch, Download, Release } kind = Kind::Upload;
        BufferId buffer = 0;
        Launch launch;
        Done done;
    };
    struct Build {
        ProgramSource source;
        BuildDone done;
    };

    void loop();
    bool runnableLocked() const;
    void answerBuild(std::unique_lock<std::mutex>& lock);
    void answerCommand(std::unique_lock<std::mutex>& lock);
    std::optional<Error> failureLocked(Command::Kind kind);
    void copyLocked(const Command& command);
    std::chrono::steady_clock::time_point now() const;

    const DeviceInfo info_;
    const ManualClock* const clock_;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::deque<Command> commands_;
    std::deque<Build> buildQueue_;
    std::map<BufferId, Buffer> buffers_;
    std::map<Command::Kind, std::deque<Error>> failures_;
    std::deque<Error> buildFailures_;
    std::vector<Launch> launches_;
    std::vector<ProgramSource> builds_;
    std::optional<std::vector<EntryInfo>> entries_;
    std::function<void(const Launch&, FakeDevice&)> kernel_;
    std::optional<std::string> lost_;
    std::chrono::nanoseconds duration_{};
    std::chrono::nanoseconds busy_{};
    std::uint64_t nextId_ = 1;
    std::size_t permits_ = 0;   // launches that finishNext() let go
    std::size_t answered_ = 0;  // launches whose callback has run
    bool auto_ = false;
    bool holdBuilds_ = false;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace heteroscope
