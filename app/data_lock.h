#pragma once

#include "devices/error.h"

#include <filesystem>
#include <optional>
#include <string>

namespace heteroscope {

/// The right to write a data folder: one process has it. The kernel takes it back when the process ends, however it
/// ends, so nothing has to be cleaned up after a crash.
class DataLock {
public:
    DataLock() = default;
    ~DataLock();
    DataLock(DataLock&& other) noexcept;
    DataLock& operator=(DataLock&& other) noexcept;

    /// Makes the folder when it is not there and takes the lock. No value: another process has it.
    /// Errors (io): the folder can be neither made nor opened. Any thread; does not wait.
    static Result<std::optional<DataLock>> tryTake(const std::filesystem::path& folder);

    /// Tells others where the holder listens.
    void announce(const std::filesystem::path& socket);

private:
    explicit DataLock(int descriptor, bool writable) : descriptor_(descriptor), writable_(writable) {}

    int descriptor_ = -1;
    bool writable_ = false;  // a read-only folder is locked itself, without a file
};

/// What the holder of a folder has announced.
struct HolderAddress {
    long process = 0;              ///< 0: not announced
    std::filesystem::path socket;  ///< empty: not announced
};
HolderAddress readHolderAddress(const std::filesystem::path& folder);

}  // namespace heteroscope
