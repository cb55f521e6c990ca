#include "devices/telemetry/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>

namespace heteroscope::telemetry {

SmallFile SmallFile::read(const std::string& path) {
    SmallFile file;
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        file.state = errno == EACCES || errno == EPERM ? ReadingState::NoPermission : ReadingState::NotSupported;
        return file;
    }
    std::array<char, 4096> part;
    ssize_t taken = 0;
    while ((taken = ::read(descriptor, part.data(), part.size())) > 0) file.text.append(part.data(), static_cast<std::size_t>(taken));
    // A sensor that answers EIO or ENODATA now may answer later; it has no value at this moment.
    const int failure = taken < 0 ? errno : 0;
    close(descriptor);
    file.state = failure == 0                                   ? ReadingState::Known
                 : failure == EACCES || failure == EPERM ? ReadingState::NoPermission
                                                         : ReadingState::NotSupported;
    return file;
}

std::optional<std::int64_t> SmallFile::number() const {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (state != ReadingState::Known || failure != std::errc()) return std::nullopt;
    return value;
}

std::string SmallFile::word() const {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::vector<std::string> entriesOf(const std::string& folder, const std::string& prefix) {
    std::vector<std::string> names;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
        if (std::string name = entry.path().filename().string(); name.starts_with(prefix)) names.push_back(std::move(name));
    std::ranges::sort(names);
    return names;
}

Reading known(double value, const char* unit, std::string source, TimePoint taken) {
    return {ReadingState::Known, value, unit, std::move(source), taken};
}

Reading absent(ReadingState state, const char* unit, std::string source, TimePoint taken) {
    return {state, 0.0, unit, std::move(source), taken};
}

}  // namespace heteroscope::telemetry
