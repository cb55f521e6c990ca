#include "scheduler/kernel/data.h"

#include "scheduler/kernel/wording.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace heteroscope {

namespace {

std::uint64_t pageBytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

/// Whole pages for `bytes`, at least one.
std::uint64_t mappedBytes(std::uint64_t bytes) {
    const std::uint64_t page = pageBytes();
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

std::uint64_t physicalMemoryBytes() { return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * pageBytes(); }

/// MemAvailable of /proc/meminfo; all there is where the kernel does not say.
std::uint64_t availableMemoryBytes() {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    std::uint64_t kibibytes = 0;
    while (file >> key >> kibibytes) {
        if (key == "MemAvailable:") return kibibytes * 1024;
        std::getline(file, unit);
    }
    return physicalMemoryBytes();
}

Error outOfMemory(std::uint64_t bytes, const std::string& why) {
    return Error{ErrorKind::OutOfMemory, fmt::format("no room on the host for a buffer of {}: {}", formatBytes(bytes), why)};
}

// The system grants more than there is and ends a process when the pages are touched: large requests are held
// against what is free first.
constexpr std::uint64_t largeBytes = std::uint64_t{64} << 20;

}  // namespace

Result<std::shared_ptr<HostBuffer>> HostBuffer::make(std::uint64_t bytes) {
    if (bytes > physicalMemoryBytes())
        return outOfMemory(bytes, fmt::format("the machine has {} in all", formatBytes(physicalMemoryBytes())));
    if (bytes >= largeBytes) {
        const std::uint64_t available = availableMemoryBytes();
        if (bytes > available) return outOfMemory(bytes, fmt::format("{} are free", formatBytes(available)));
    }
    void* memory = mmap(nullptr, mappedBytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return outOfMemory(bytes, std::strerror(errno));
    return std::shared_ptr<HostBuffer>(new HostBuffer({static_cast<std::byte*>(memory), bytes}));
}

HostBuffer::~HostBuffer() { munmap(bytes_.data(), mappedBytes(bytes_.size())); }

Data::Data(std::string name, ElementType type, std::uint64_t count, std::string fill, std::uint64_t seed,
           std::filesystem::path base)
    : name_(std::move(name)),
      type_(type),
      count_(count),
      fill_(std::move(fill)),
      seed_(seed),
      base_(std::move(base)) {}

Result<std::shared_ptr<HostBuffer>> Data::hostBuffer() {
    const std::lock_guard lock(mutex_);
    if (buffer_) return buffer_;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count_, std::uint64_t{type_.bytes()}, &bytes))
        return Error{ErrorKind::OutOfMemory, fmt::format("data \"{}\": {} elements of {} are beyond any memory", name_, count_, type_.name())};
    auto made = HostBuffer::make(bytes);
    if (!made) return Error{made.error().kind, fmt::format("data \"{}\": {}", name_, made.error().message)};
    // The stream is the name's, so that two data of one seed differ and adding a third changes neither.
    std::uint64_t stream = 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : name_) stream = (stream ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    const Status filled = fillBuffer((*made)->bytes(), type_, fill_, seed_, stream, {}, base_);
    if (!filled) return Error{filled.error().kind, fmt::format("data \"{}\": {}", name_, filled.error().message)};
    buffer_ = *made;
    return buffer_;
}

}  // namespace heteroscope
