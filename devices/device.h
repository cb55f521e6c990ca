#pragma once

#include "devices/device_info.h"
#include "devices/error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace heteroscope {

enum class Language { OpenClC, CudaCpp };

std::string_view toString(Language language);  // "opencl-c", "cuda"

/// What is compiled. `file` is the user's own path: it stands in every message of the compiler.
struct ProgramSource {
    Language language = Language::OpenClC;
    std::string text;  ///< UTF-8; CRLF and a byte-order mark are accepted
    std::string file;
    std::vector<std::string> options;      ///< one element an option: {"-D", "BLOCK=16"} or {"-DBLOCK=16"}
    std::vector<std::string> includeDirs;  ///< absolute; blanks and any other characters allowed
};

enum class AddressSpace { Private, Global, Constant, Local };

/// One argument of an entry point, read from the compiled program.
struct ArgumentInfo {
    std::string name;  ///< empty where the runtime does not tell
    std::string type;  ///< "float*", "uint", "image2d_t"
    AddressSpace space = AddressSpace::Private;
    bool isImage = false;
    bool isSampler = false;
};

/// One kernel of a built program and its limits on this device.
struct EntryInfo {
    std::string name;
    std::vector<ArgumentInfo> arguments;
    std::array<std::size_t, 3> requiredLocal{};  ///< zeros when the source requires none
    std::size_t maxWorkGroupSize = 0;            ///< CL_KERNEL_WORK_GROUP_SIZE
    std::size_t preferredMultiple = 0;
    std::uint64_t localBytes = 0;
    std::uint64_t privateBytes = 0;
};

using ProgramId = std::uint64_t;
using BufferId = std::uint64_t;

/// A program as built for one device. The device owns it and returns the same one for the same source.
struct Program {
    ProgramId id = 0;
    std::vector<EntryInfo> entries;
    std::string log;  ///< the compiler's warnings
    std::chrono::nanoseconds buildTime{};
};

/// An index space. A zero in `local` leaves the work-group size to the runtime.
struct NDRange {
    unsigned dimensions = 1;
    std::array<std::size_t, 3> global{1, 1, 1};
    std::array<std::size_t, 3> local{0, 0, 0};
    std::array<std::size_t, 3> offset{0, 0, 0};
};

struct BufferArgument {
    BufferId buffer = 0;
};
struct LocalArgument {
    std::size_t bytes = 0;
};
struct ScalarArgument {
    std::vector<std::byte> bytes;  ///< exactly the parameter's own width
};
using LaunchArgument = std::variant<BufferArgument, LocalArgument, ScalarArgument>;

struct Launch {
    ProgramId program = 0;
    std::string entry;
    std::vector<LaunchArgument> arguments;
    NDRange range;
};

/// When a command ran, on std::chrono::steady_clock's time line.
struct CommandTimes {
    std::chrono::steady_clock::time_point started{};
    std::chrono::steady_clock::time_point finished{};
    bool fromDevice = false;  ///< duration from the runtime's event profile, not from the host's clock
};

/// One physical processor that can build and run kernels. Asynchronous: every call returns at once and
/// answers through its callback, which runs on a thread of the device and must not block. Commands that share
/// a buffer take effect in the order of the calls; others may overlap. All calls: any thread. Implementations may sit in this process or in another.
class Device {
public:
    using BuildDone = std::function<void(Result<Program>)>;
    using Done = std::function<void(Result<CommandTimes>)>;

    /// Waits for the commands already given, then releases everything.
    virtual ~Device() = default;

    virtual const DeviceInfo& info() const = 0;

    /// Builds, or answers from what was built before from the same text, options and included files.
    /// Errors: build-failed (log, file and line of the user's own source), unsupported, timed-out, device-lost.
    virtual void build(ProgramSource source, BuildDone done) = 0;

    /// Makes a buffer of `storage.size()` bytes. A device that shares host memory computes in `storage` itself;
    /// it must stay alive and unmoved until release(). Never fails here: errors come from the first use.
    virtual BufferId allocate(std::span<std::byte> storage) = 0;

    /// Brings `storage` to the device (no copy where memory is shared). Errors: out-of-memory, device-lost.
    virtual void upload(BufferId buffer, Done done) = 0;

    /// Runs a kernel over buffers uploaded or written before. Errors: invalid-input (entry, argument count,
    /// argument width, work-group limits; both numbers are named), launch-failed, out-of-memory, device-lost.
    virtual void launch(Launch launch, Done done) = 0;

    /// Brings the device's bytes back to `storage`.
    virtual void download(BufferId buffer, Done done) = 0;

    /// Frees once the commands given before are through.
    virtual void release(BufferId buffer) = 0;

    /// Time spent running kernels since the device was opened, from event profiling: the busy time shown where
    /// no driver counter exists.
    virtual std::chrono::nanoseconds busyTime() const = 0;
};

}  // namespace heteroscope
