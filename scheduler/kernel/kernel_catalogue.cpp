#include "scheduler/kernel/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heteroscope {

namespace {

/// The packages below `root`, sorted: folders that hold a kernel.json. A root that is not there has none.
std::vector<std::filesystem::path> packageFolders(const std::filesystem::path& root, std::vector<Error>& problems) {
    std::vector<std::filesystem::path> folders;
    std::error_code code;
    if (!std::filesystem::exists(root, code)) return folders;
    for (std::filesystem::directory_iterator entry(root, code), end; !code && entry != end; entry.increment(code)) {
        std::error_code ignored;
        if (std::filesystem::exists(entry->path() / "kernel.json", ignored)) folders.push_back(entry->path());
    }
    if (code) problems.push_back({ErrorKind::Io, fmt::format("{}: {}", root.string(), code.message()), root.string()});
    std::sort(folders.begin(), folders.end());
    return folders;
}

}  // namespace

KernelCatalogue KernelCatalogue::load(const std::vector<std::filesystem::path>& folders) {
    KernelCatalogue catalogue;
    std::map<std::string, KernelPtr> byId;
    for (const std::filesystem::path& root : folders) {
        std::map<std::string, KernelPtr> here;
        for (const std::filesystem::path& folder : packageFolders(root, catalogue.problems_)) {
            auto kernel = loadKernelPackage(folder, catalogue.warnings_);
            if (!kernel) {
                catalogue.problems_.push_back(kernel.error());
                continue;
            }
            const auto [first, isNew] = here.try_emplace((*kernel)->id, *kernel);
            if (!isNew)
                catalogue.problems_.push_back({ErrorKind::InvalidInput,
                                               fmt::format("{}: id \"{}\" is taken by {}; this one is left out", folder.string(),
                                                           (*kernel)->id, first->second->folder.string()),
                                               (folder / "kernel.json").string()});
        }
        for (auto& [id, kernel] : here) byId[id] = std::move(kernel);
    }
    for (auto& [id, kernel] : byId) catalogue.kernels_.push_back(std::move(kernel));
    return catalogue;
}

KernelPtr KernelCatalogue::find(std::string_view id) const {
    const auto found = std::lower_bound(kernels_.begin(), kernels_.end(), id,
                                        [](const KernelPtr& kernel, std::string_view wanted) { return kernel->id < wanted; });
    return found != kernels_.end() && (*found)->id == id ? *found : nullptr;
}

}  // namespace heteroscope
