#include "devices/opencl/folder_alias.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace heteroscope::opencl {
namespace {

namespace fs = std::filesystem;

std::uint64_t fnv1a(const std::string& text, std::uint64_t hash) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001B3u;
    }
    return hash;
}

/// A folder that is ours alone, or nothing: somebody else's in the same place is not trusted.
bool makePrivateFolder(const std::string& path) {
    if (mkdir(path.c_str(), 0700) == 0) return true;
    struct stat facts {};
    return lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & 022) == 0;
}

std::string linksFolder() {
    const std::array<const char*, 3> places{std::getenv("XDG_RUNTIME_DIR"), std::getenv("TMPDIR"), "/tmp"};
    for (const char* value : places) {
        if (!value || *value != '/' || !isPlainName(value)) continue;
        const std::string folder = fmt::format("{}/heteroscope_{}", value, geteuid());
        if (makePrivateFolder(folder)) return folder;
    }
    return {};
}

bool pointsAt(const std::string& link, const std::string& folder) {
    std::error_code failure;
    return fs::read_symlink(link, failure).string() == folder && !failure;
}

}  // namespace

bool isPlainName(const std::string& path) {
    return std::ranges::all_of(path, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '.';
    });
}

std::string plainName(const std::string& folder) {
    if (isPlainName(folder)) return folder;
    const std::string home = linksFolder();
    if (home.empty()) return folder;
    // A few tries: the name may be taken by a link to another folder (a clash, or a stale one).
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (int attempt = 0; attempt < 4; ++attempt) {
        hash = fnv1a(folder, hash);
        const std::string link = fmt::format("{}/{:016x}", home, hash);
        if (symlink(folder.c_str(), link.c_str()) == 0 || pointsAt(link, folder)) return link;
    }
    return folder;
}

}  // namespace heteroscope::opencl
