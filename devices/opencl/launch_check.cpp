#include "devices/opencl/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heteroscope::opencl {
namespace {

Error invalid(std::string message) { return Error{ErrorKind::InvalidInput, std::move(message)}; }

std::string argumentName(const EntryInfo& entry, std::size_t index) {
    const std::string& name = entry.arguments[index].name;
    return name.empty() ? fmt::format("argument {} of '{}'", index, entry.name)
                        : fmt::format("argument {} ('{}') of '{}'", index, name, entry.name);
}

std::string_view kindGiven(const LaunchArgument& argument) {
    if (std::holds_alternative<BufferArgument>(argument)) return "a buffer";
    if (std::holds_alternative<LocalArgument>(argument)) return "local memory";
    return "a value";
}

std::string_view kindWanted(const ArgumentInfo& info) {
    switch (info.space) {
        case AddressSpace::Global:
        case AddressSpace::Constant: return "a buffer";
        case AddressSpace::Local: return "local memory";
        case AddressSpace::Private: return "a value";
    }
    return {};
}

bool isOpaque(const std::string& type) {
    return type.starts_with("pipe ") || type == "queue_t" || type == "event_t" || type == "reserve_id_t" || type == "clk_event_t";
}

Status checkArgument(const OpenedDevice& device, const EntryInfo& entry, std::size_t index, const LaunchArgument& given) {
    const ArgumentInfo& info = entry.arguments[index];
    if (info.isImage || info.isSampler || isOpaque(info.type))
        return Error{ErrorKind::Unsupported, fmt::format("{} is of type {}: images, samplers and pipes cannot be passed, only buffers, "
                                                         "local memory and values", argumentName(entry, index), info.type)};
    // Without argument information from the compiler the driver's own check has to do.
    if (!info.type.empty() && kindGiven(given) != kindWanted(info))
        return invalid(fmt::format("{} is {} ({}), but {} was given", argumentName(entry, index), kindWanted(info), info.type,
                                   kindGiven(given)));
    if (const auto* local = std::get_if<LocalArgument>(&given); local && local->bytes == 0)
        return invalid(fmt::format("{}: 0 bytes of local memory", argumentName(entry, index)));
    if (const auto* scalar = std::get_if<ScalarArgument>(&given)) {
        const std::optional<std::size_t> width = widthOf(info.type);
        if (width && *width != scalar->bytes.size())
            return invalid(fmt::format("{} is {} of {} bytes on {}, but {} bytes were given", argumentName(entry, index), info.type,
                                       *width, device.label, scalar->bytes.size()));
        if (scalar->bytes.empty()) return invalid(fmt::format("{}: a value of 0 bytes", argumentName(entry, index)));
    }
    return {};
}

Status checkArguments(const OpenedDevice& device, const EntryInfo& entry, const Launch& launch) {
    if (launch.arguments.size() != entry.arguments.size())
        return invalid(fmt::format("'{}' takes {} arguments, but {} were given", entry.name, entry.arguments.size(), launch.arguments.size()));
    std::uint64_t localBytes = entry.localBytes;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        if (const Status status = checkArgument(device, entry, i, launch.arguments[i]); !status) return status;
        if (const auto* local = std::get_if<LocalArgument>(&launch.arguments[i])) {
            // The sum must not wrap.
            if (local->bytes > std::numeric_limits<std::uint64_t>::max() - localBytes)
                return invalid(fmt::format("{}: {} bytes of local memory", argumentName(entry, i), local->bytes));
            localBytes += local->bytes;
        }
    }
    if (device.localMemoryBytes > 0 && localBytes > device.localMemoryBytes)
        return invalid(fmt::format("'{}' needs {} bytes of local memory, but {} has {}", entry.name, localBytes, device.label, device.localMemoryBytes));
    return {};
}

std::string sizesText(const std::array<std::size_t, 3>& sizes, unsigned dimensions) {
    std::string text = std::to_string(sizes[0]);
    for (unsigned i = 1; i < dimensions; ++i) text += "x" + std::to_string(sizes[i]);
    return text;
}

std::size_t largestDivisor(std::size_t of, std::size_t upTo) {
    for (std::size_t divisor = std::min(of, upTo); divisor > 1; --divisor)
        if (of % divisor == 0) return divisor;
    return 1;
}

Error unevenError(const EntryInfo& entry, const NDRange& range, unsigned dimension) {
    const std::size_t global = range.global[dimension], local = range.local[dimension];
    const std::size_t below = global / local * local;
    std::string fitting = below > 0 ? fmt::format("{} or ", below) : "";
    if (below <= std::numeric_limits<std::size_t>::max() - local) fitting += std::to_string(below + local);
    std::string message = fmt::format("'{}': the global size {} is no multiple of the local size {} (dimension {}); a global size of {} fits",
                                      entry.name, global, local, dimension, fitting);
    if (local <= 65536) message += fmt::format(", or a local size of {}", largestDivisor(global, local));
    return invalid(std::move(message));
}

Status checkRange(const OpenedDevice& device, const BuiltProgram& program, const EntryInfo& entry, const NDRange& range) {
    const bool required = entry.requiredLocal[0] > 0;
    if (required)
        for (unsigned i = 0; i < 3; ++i)
            if (const std::size_t size = i < range.dimensions ? range.local[i] : 1; size != entry.requiredLocal[i])
                return invalid(fmt::format("'{}' requires a local size of {} (reqd_work_group_size), but {} was given", entry.name,
                                           sizesText(entry.requiredLocal, 3), sizesText(range.local, range.dimensions)));
    std::size_t items = 1;
    for (unsigned i = 0; i < range.dimensions; ++i) {
        const std::size_t size = range.local[i], limit = device.maxWorkItemSizes[i];
        if (limit > 0 && size > limit)
            return invalid(fmt::format("'{}': the local size {} in dimension {} is above the limit of {} on {}", entry.name, size, i, limit, device.label));
        if (size > std::numeric_limits<std::size_t>::max() / items) items = std::numeric_limits<std::size_t>::max();
        else items *= size;
    }
    const std::size_t limit = entry.maxWorkGroupSize > 0 ? entry.maxWorkGroupSize : device.maxWorkGroupSize;
    if (limit > 0 && items > limit)
        return invalid(fmt::format("'{}': a work-group of {} has {} work-items, but this kernel takes at most {} on {}", entry.name,
                                   sizesText(range.local, range.dimensions), items, limit, device.label));
    const bool uneven = device.nonUniformGroups && program.openCl2 && !required;
    for (unsigned i = 0; i < range.dimensions && !uneven; ++i)
        if (range.global[i] % range.local[i] != 0) return unevenError(entry, range, i);
    return {};
}

Status checkSizes(const EntryInfo& entry, const NDRange& range) {
    if (range.dimensions < 1 || range.dimensions > 3)
        return invalid(fmt::format("'{}': {} dimensions were given, 1 to 3 are possible", entry.name, range.dimensions));
    for (unsigned i = 0; i < range.dimensions; ++i) {
        if (range.global[i] == 0) return invalid(fmt::format("'{}': the global size in dimension {} is 0", entry.name, i));
        if (range.offset[i] > std::numeric_limits<std::size_t>::max() - range.global[i])
            return invalid(fmt::format("'{}': offset {} and global size {} in dimension {} are too large together", entry.name, range.offset[i],
                                       range.global[i], i));
    }
    return {};
}

}  // namespace

std::optional<std::size_t> widthOf(const std::string& type) {
    static constexpr std::pair<std::string_view, std::size_t> scalars[] = {
        {"char", 1}, {"uchar", 1}, {"unsigned char", 1}, {"short", 2}, {"ushort", 2}, {"unsigned short", 2}, {"half", 2},
        {"int", 4}, {"uint", 4}, {"unsigned int", 4}, {"float", 4}, {"long", 8}, {"ulong", 8}, {"unsigned long", 8}, {"double", 8}};
    const std::size_t nameEnd = type.find_first_of("0123456789");
    const std::string_view name = std::string_view(type).substr(0, nameEnd);
    const std::string_view count = nameEnd == std::string::npos ? "" : std::string_view(type).substr(nameEnd);
    for (const auto& [scalar, bytes] : scalars) {
        if (scalar != name) continue;
        if (count.empty()) return bytes;
        if (count == "2") return 2 * bytes;
        if (count == "3" || count == "4") return 4 * bytes;
        if (count == "8") return 8 * bytes;
        if (count == "16") return 16 * bytes;
    }
    return std::nullopt;
}

Result<NDRange> checkLaunch(const OpenedDevice& device, const BuiltProgram& program, const EntryInfo& entry, const Launch& launch) {
    if (const Status status = checkArguments(device, entry, launch); !status) return status.error();
    if (const Status status = checkSizes(entry, launch.range); !status) return status.error();
    NDRange range = launch.range;
    const auto localEnd = range.local.begin() + range.dimensions;
    const bool left = std::find(range.local.begin(), localEnd, std::size_t{0}) != localEnd;
    if (left) range.local = entry.requiredLocal;
    if (left && entry.requiredLocal[0] == 0) return range;
    if (const Status status = checkRange(device, program, entry, range); !status) return status.error();
    return range;
}

}  // namespace heteroscope::opencl
