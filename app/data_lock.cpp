#include "app/data_lock.h"

#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace heteroscope {
namespace {

// The file stays when its lock goes: removing it would let two processes lock two files of one name.
fs::path lockFile(const fs::path& folder) { return folder / "holder.lock"; }

Error folderError(const fs::path& folder, int code) {
    return {ErrorKind::Io, "Data folder '" + folder.string() + "' cannot be used: " +
                               std::generic_category().message(code) + ". Name another one with --data-dir."};
}

}  // namespace

DataLock::~DataLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

DataLock::DataLock(DataLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), writable_(other.writable_) {}

DataLock& DataLock::operator=(DataLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(writable_, other.writable_);
    return *this;
}

Result<std::optional<DataLock>> DataLock::tryTake(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error && !fs::is_directory(folder)) return folderError(folder, error.value());

    // Close-on-exec: a child that outlives us must not keep the folder.
    bool writable = true;
    int descriptor = ::open(lockFile(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        writable = false;
        descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (descriptor < 0) return folderError(folder, errno);
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        ::close(descriptor);
        if (code == EWOULDBLOCK) return std::optional<DataLock>();
        return folderError(folder, code);
    }
    return std::optional<DataLock>(DataLock(descriptor, writable));
}

void DataLock::announce(const fs::path& socket) {
    if (!writable_) return;
    const std::string text = std::to_string(::getpid()) + "\n" + socket.string() + "\n";
    // A full disk costs only the announcement: readers then use the default place.
    if (::ftruncate(descriptor_, 0) != 0) return;
    [[maybe_unused]] const auto written = ::pwrite(descriptor_, text.data(), text.size(), 0);
}

HolderAddress readHolderAddress(const fs::path& folder) {
    HolderAddress address;
    std::ifstream file(lockFile(folder));
    std::string socket;
    if (file >> address.process && file.ignore() && std::getline(file, socket)) address.socket = socket;
    return address;
}

}  // namespace heteroscope
