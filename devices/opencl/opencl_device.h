#pragma once

#include "devices/device.h"
#include "devices/opencl/compiler.h"
#include "devices/opencl/device_clock.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace heteroscope::opencl {

struct OpenClSettings {
    /// Computes in the caller's memory where the device shares it. Off: explicit copies everywhere.
    bool zeroCopy = true;
    std::chrono::nanoseconds buildLimit = std::chrono::seconds(60);
};

/// A Device over one OpenCL device. A command thread enqueues in order on one in-order queue, a completion thread
/// waits for the events in the same order and answers; builds go beside them (Compiler).
///
/// A hop from thread to thread costs about as much as an empty kernel (10 to 15 µs), so two are left out where
/// nothing is lost: a call that cannot wait is executed on the caller's thread when no other command is ahead of
/// it, and what is through when it has been given is answered by the command thread.
class OpenClDevice final : public Device {
public:
    /// Errors: device-lost, out-of-memory: the runtime refuses a context or a queue.
    static Result<std::shared_ptr<OpenClDevice>> open(cl_device_id device, DeviceInfo info, OpenClSettings settings = {});
    ~OpenClDevice() override;

    const DeviceInfo& info() const override { return info_; }
    void build(ProgramSource source, BuildDone done) override;
    BufferId allocate(std::span<std::byte> storage) override;
    void upload(BufferId buffer, Done done) override;
    void launch(Launch launch, Done done) override;
    void download(BufferId buffer, Done done) override;
    void release(BufferId buffer) override;
    std::chrono::nanoseconds busyTime() const override;

private:
    using Clock = std::chrono::steady_clock;

    struct Command {
        enum class Kind { Allocate, Upload, Launch, Download, Release } kind;
        BufferId buffer = 0;
        std::span<std::byte> storage;
        Launch launch;
        Done done;
    };
    struct Buffer {
        std::span<std::byte> storage;
        Memory memory;         // made at the first use
        bool inPlace = false;  // the device computes in `storage`
    };
    /// A command given to the runtime, or one that failed before: answered in order by the completion thread.
    struct Pending {
        Event event;
        Done done;
        std::string subject;
        std::optional<Error> error;
        Clock::time_point given;
        bool isLaunch = false;
        BuiltProgramPtr program;  // kept until the kernel is through
    };

    OpenClDevice(OpenedDevicePtr opened, Queue queue, DeviceInfo info, OpenClSettings settings);

    void give(Command command);
    bool takesNoTime(const Command& command) const;
    void commandLoop();
    void execute(Command command, bool onCommandThread);
    void hand(Pending pending, bool onCommandThread);
    static bool isThrough(const Pending& pending);
    bool nothingUnderWay() const;
    void noteAsynchrony(const Pending& pending);
    std::optional<Error> enqueueCommand(Command& command, Pending& pending);
    std::optional<Error> enqueueUpload(Buffer& buffer, Pending& pending);
    std::optional<Error> enqueueDownload(Buffer& buffer, Pending& pending);
    std::optional<Error> enqueueMapped(Buffer& buffer, cl_map_flags flags, Pending& pending);
    std::optional<Error> enqueueLaunch(const Launch& launch, Pending& pending);
    std::string launchFailure(const std::string& name, const NDRange& range, const BuiltProgram::Entry& entry) const;
    std::optional<Error> setArguments(const BuiltProgram::Entry& entry, const Launch& launch);
    void noteEnqueuing(std::optional<Clock::time_point> since);
    Result<Buffer*> usableBuffer(BufferId id);
    std::optional<Error> makeMemory(Buffer& buffer);

    void completionLoop();
    void answer(Pending pending);
    Result<CommandTimes> await(Pending& pending);

    Error failed(cl_int status, std::string subject, ErrorKind otherwise);
    bool queueAnswers() const;
    std::optional<std::string> lost() const;

    const DeviceInfo info_;
    const OpenClSettings settings_;
    const OpenedDevicePtr opened_;
    const Queue queue_;
    std::atomic<BufferId> nextBuffer_{1};

    // Of the one who executes (executing_).
    std::map<BufferId, Buffer> buffers_;
    std::uint64_t deviceBytes_ = 0;
    std::set<std::pair<ProgramId, std::string>> launched_;  // what was launched before, so that nothing is left to compile

    mutable std::mutex mutex_;
    std::condition_variable commandsChanged_, pendingChanged_;
    std::deque<Command> commands_;        // mutex_
    std::deque<Pending> pending_;         // mutex_
    bool executing_ = false;              // mutex_: somebody gives a command to the runtime
    bool completing_ = false;             // mutex_: the completion thread holds commands that are not answered yet
    bool asynchronous_ = false;           // mutex_: a launch was seen to return before it was through
    bool computesInCalls_ = false;        // mutex_: a launch was seen to compute on the caller's thread
    bool stop_ = false;                   // mutex_
    bool commandsEnded_ = false;          // mutex_
    std::optional<std::string> lost_;     // mutex_
    std::chrono::nanoseconds busy_{};     // mutex_: of launches that are through
    mutable std::chrono::nanoseconds shownBusy_{};  // mutex_: never goes back
    std::optional<Clock::time_point> enqueuing_;   // mutex_: since when a launch is being given; some runtimes compute in that call
    std::optional<Clock::time_point> headLaunch_;  // mutex_: since when the oldest unfinished command, a launch, may run

    Compiler compiler_;  // asks lost()
    std::thread commandThread_, completionThread_;
};

}  // namespace heteroscope::opencl
