#include "devices/identity.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

namespace heteroscope {
namespace {

bool same(const DeviceInfo& a, const DeviceInfo& b) {
    if (a.uuid && b.uuid) return *a.uuid == *b.uuid;
    return a.pciAddress && b.pciAddress && *a.pciAddress == *b.pciAddress;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool hasDigit(const std::string& word) { return std::ranges::any_of(word, isDigit); }

/// Words without trade marks, bracketed parts and what follows "@".
std::vector<std::string> wordsOf(const std::string& name) {
    std::string plain;
    int depth = 0;
    for (const char c : name.substr(0, name.find('@'))) {
        if (c == '(' || c == '[') ++depth;
        if (depth == 0) plain += c;
        if (depth > 0 && (c == ')' || c == ']')) --depth;
    }
    std::istringstream stream(plain);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool isNoise(const std::string& word) {
    static const std::set<std::string> noise{"AMD",    "NVIDIA",    "Intel",    "ATI",    "Advanced", "Micro",  "Devices,", "Devices",     "Inc.",
                                             "GeForce", "Radeon",    "Tesla",    "Quadro", "Graphics", "CPU",    "GPU",      "Processor",   "Corporation",
                                             "Gen",    "Genuine",   "Authentic", "with",   "Laptop",   "Family", "Series",   "Accelerator", "HD"};
    return noise.contains(word) || word.ends_with("-Core") || word.ends_with("th") || (word.size() == 3 && word.ends_with("rd"));
}

/// "Core i7-13700K", "Ryzen 9", "RTX 4090": a family whose second word says which.
bool takesSecondWord(const std::string& first, DeviceKind kind) {
    return kind == DeviceKind::Cpu ? first == "Ryzen" || first == "Core" : !hasDigit(first);
}

std::string freeId(const std::string& stem, std::set<std::string>& taken) {
    std::string id = stem;
    for (int copy = 2; !taken.insert(id).second; ++copy) id = stem + "-" + std::to_string(copy);
    return id;
}

std::string idOf(const DeviceInfo& info, const char* kind, int index) {
    std::string stem = std::string(kind) + "-";
    if (info.kind == DeviceKind::Cpu) return stem + std::to_string(index);
    if (info.uuid) return stem + info.uuid->substr(0, 8);
    if (!info.pciAddress) return stem + std::to_string(index);
    std::string address = *info.pciAddress;
    std::ranges::replace(address, ':', '-');
    return stem + address;
}

}  // namespace

std::vector<std::size_t> physicalDevices(const std::vector<ReportedDevice>& reported) {
    std::vector<std::size_t> first(reported.size());
    for (std::size_t i = 0; i < reported.size(); ++i) {
        first[i] = i;
        for (std::size_t j = 0; j < i && first[i] == i; ++j)
            if (first[j] == j && reported[i].platform != reported[j].platform && same(reported[i].info, reported[j].info)) first[i] = j;
    }
    return first;
}

void identify(std::vector<DeviceInfo*> devices, const std::string& cpuName) {
    std::set<std::string> taken;
    int cpus = 0, gpus = 0, accelerators = 0;
    for (DeviceInfo* info : devices) {
        const bool cpu = info->kind == DeviceKind::Cpu, gpu = info->kind == DeviceKind::Gpu;
        int& index = cpu ? cpus : gpu ? gpus : accelerators;
        info->id = freeId(idOf(*info, cpu ? "cpu" : gpu ? "gpu" : "accelerator", index++), taken);
        if (cpu && !cpuName.empty()) info->name = cpuName;
        info->shortName = shortNameOf(info->name, info->kind);
        info->processor = cpu ? "cpu" : info->id;
    }
}

std::string shortNameOf(const std::string& name, DeviceKind kind) {
    std::vector<std::string> words = wordsOf(name);
    std::erase_if(words, isNoise);
    if (words.empty()) return name;
    std::string first = words.front();
    // "A100-SXM4-80GB": the card, not how it is mounted; "gfx90a:sramecc+": not its settings.
    if (kind != DeviceKind::Cpu && hasDigit(first)) first = first.substr(0, first.find_first_of("-:"));
    if (words.size() > 1 && takesSecondWord(first, kind)) first += ' ' + words[1];
    return first;
}

std::string cpuNameFrom(const std::string& cpuinfo) {
    std::istringstream lines(cpuinfo);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::size_t start = line.find_first_not_of(" \t", colon + 1);
        if (start == std::string::npos) continue;
        return line.substr(start, line.find_last_not_of(" \t\r") - start + 1);
    }
    return {};
}

}  // namespace heteroscope
