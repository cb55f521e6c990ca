#include "scheduler/kernel/launch_plan.h"

#include "scheduler/kernel/data.h"
#include "scheduler/kernel/scalar.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>

namespace heteroscope {

namespace {

// Beyond any machine: sums of sizes below it cannot overflow.
constexpr std::uint64_t absurdBytes = std::uint64_t{1} << 52;
constexpr std::uint64_t absurdItems = std::uint64_t{1} << 56;
constexpr std::array<const char*, 3> axis{"x", "y", "z"};

Error refuse(const Kernel& kernel, const std::string& what) {
    return Error{ErrorKind::InvalidInput, fmt::format("{}: {}", kernel.id, what)};
}

Error inArgument(const KernelArgument& argument, const Error& error) {
    return Error{error.kind, fmt::format("argument \"{}\": {}", argument.name, error.message)};
}

Result<PlannedArgument> planArgument(const KernelArgument& argument, const Parameters& parameters) {
    PlannedArgument planned;
    planned.argument = &argument;
    if (argument.kind == KernelArgument::Kind::Scalar) {
        if (argument.type.scalar == Scalar::Bytes) {
            planned.scalar = argument.raw;
            return planned;
        }
        auto encoded = encodeScalar(argument.type, argument.values, parameters);
        if (!encoded) return inArgument(argument, encoded.error());
        planned.scalar = std::move(*encoded);
        return planned;
    }
    const auto count = evaluateCount(argument.count, parameters);
    if (!count) return inArgument(argument, count.error());
    if (*count == 0)
        return inArgument(argument, {ErrorKind::InvalidInput, fmt::format("count {} is 0, at least 1 element is expected", argument.count)});
    planned.count = *count;
    if (__builtin_mul_overflow(*count, std::uint64_t{argument.type.bytes()}, &planned.bytes) || planned.bytes > absurdBytes)
        return inArgument(argument, {ErrorKind::InvalidInput, fmt::format("{} elements of {} are beyond any memory", *count, argument.type.name())});
    if (argument.kind == KernelArgument::Kind::Buffer)
        if (const Status fill = checkFill(argument.fill, argument.type, *count, parameters); !fill)
            return inArgument(argument, fill.error());
    return planned;
}

Result<std::array<std::size_t, 3>> evaluateSizes(const std::vector<std::string>& sizes, const Parameters& parameters,
                                                 std::size_t absent, const char* what) {
    std::array<std::size_t, 3> values{absent, absent, absent};
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const auto value = evaluateCount(sizes[d], parameters);
        if (!value) return Error{value.error().kind, fmt::format("{} size in {}: {}", what, axis[d], value.error().message)};
        values[d] = *value;
    }
    return values;
}

std::string fittingSizes(std::size_t global, std::size_t local) {
    const std::size_t below = global / local * local;
    return below == 0 ? fmt::format("the nearest that fits is {}", local)
                      : fmt::format("the nearest that fit are {} and {}", below, below + local);
}

/// Makes every global size a multiple of the local one, by rounding up where allowed.
Status fitToWorkGroup(NDRange& range, const KernelRange& stated, const char* whose) {
    for (unsigned d = 0; d < 3; ++d) {
        const std::size_t local = range.local[d];
        if (local == 0 || range.global[d] % local == 0) continue;
        if (stated.guarded) {
            range.global[d] = (range.global[d] / local + 1) * local;
            continue;
        }
        return Error{ErrorKind::InvalidInput,
                     fmt::format("global size {} in {} is no multiple of {} {}: {}", range.global[d], axis[d], whose, local,
                                 fittingSizes(range.global[d], local))};
    }
    return {};
}

Result<NDRange> planRange(const KernelRange& stated, const Parameters& parameters) {
    if (stated.global.empty() || stated.global.size() > 3)
        return Error{ErrorKind::InvalidInput, fmt::format("{} global sizes, 1 to 3 are expected", stated.global.size())};
    for (const auto* sizes : {&stated.local, &stated.offset})
        if (!sizes->empty() && sizes->size() != stated.global.size())
            return Error{ErrorKind::InvalidInput, fmt::format("{} {} sizes for {} global ones", sizes->size(),
                                                              sizes == &stated.local ? "local" : "offset", stated.global.size())};
    NDRange range;
    range.dimensions = static_cast<unsigned>(stated.global.size());
    const auto global = evaluateSizes(stated.global, parameters, 1, "global");
    if (!global) return global.error();
    const auto local = evaluateSizes(stated.local, parameters, 0, "local");
    if (!local) return local.error();
    const auto offset = evaluateSizes(stated.offset, parameters, 0, "offset");
    if (!offset) return offset.error();
    range.global = *global;
    range.local = *local;
    range.offset = *offset;
    std::uint64_t items = 1;
    for (unsigned d = 0; d < range.dimensions; ++d) {
        if (range.global[d] == 0) return Error{ErrorKind::InvalidInput, fmt::format("global size in {} is 0, at least 1 is expected", axis[d])};
        if (__builtin_mul_overflow(items, range.global[d], &items) || items > absurdItems)
            return Error{ErrorKind::InvalidInput, fmt::format("global size {} is beyond any device", fmt::join(range.global.data(), range.global.data() + range.dimensions, "×"))};
    }
    const bool whole = std::all_of(range.local.begin(), range.local.begin() + range.dimensions, [](std::size_t l) { return l > 0; });
    if (!stated.local.empty() && !whole) return Error{ErrorKind::InvalidInput, fmt::format("local size {} has a 0; leave local out to let the runtime choose",
                                                                                         fmt::join(range.local.data(), range.local.data() + range.dimensions, "×"))};
    if (!stated.local.empty())
        for (unsigned d = range.dimensions; d < 3; ++d) range.local[d] = 1;
    if (const Status fits = fitToWorkGroup(range, stated, "the local size"); !fits) return fits.error();
    return range;
}

std::string languageName(Language language) { return language == Language::CudaCpp ? "CUDA C++" : "OpenCL C"; }

std::optional<std::string> whyNoVariant(const Kernel& kernel, const DeviceInfo& device) {
    std::vector<std::string> wanted;
    for (const RuntimeInfo& runtime : device.runtimes) {
        if (runtime.api == Api::Null) return {};
        const Language language = runtime.api == Api::Cuda ? Language::CudaCpp : Language::OpenClC;
        if (kernel.variant(language)) return {};
        wanted.push_back(languageName(language));
    }
    if (wanted.empty()) return fmt::format("{} has no runtime", device.id);
    return fmt::format("{} has no {} variant, which {} needs", kernel.id, fmt::join(wanted, " or "), device.id);
}

std::optional<std::string> whyNoType(const LaunchPlan& plan, const DeviceInfo& device) {
    for (const PlannedArgument& planned : plan.arguments) {
        const KernelArgument& argument = *planned.argument;
        if (argument.type.scalar == Scalar::Double && !device.hasDouble)
            return fmt::format("needs double (argument \"{}\"), which {} does not have", argument.name, device.id);
        // Buffers of half can be read by vload_half() everywhere; half by value needs the extension.
        const bool halfByValue = argument.type.scalar == Scalar::Half && argument.kind == KernelArgument::Kind::Scalar;
        if (halfByValue && !device.hasHalf)
            return fmt::format("needs half (argument \"{}\"), which {} does not have", argument.name, device.id);
    }
    return {};
}

std::size_t workGroupItems(const NDRange& range) {
    std::size_t items = 1;
    for (unsigned d = 0; d < range.dimensions; ++d)
        if (__builtin_mul_overflow(items, range.local[d], &items)) return ~std::size_t{0};
    return items;  // 0 where the runtime chooses
}

std::string sizeText(const std::array<std::size_t, 3>& sizes, unsigned dimensions) {
    return fmt::format("{}", fmt::join(sizes.data(), sizes.data() + dimensions, "×"));
}

std::optional<std::string> whyNoWorkGroup(const NDRange& range, const DeviceInfo& device) {
    if (device.maxWorkGroupSize && workGroupItems(range) > *device.maxWorkGroupSize)
        return fmt::format("needs a work-group of {} work items ({}), {} allows {}", workGroupItems(range),
                           sizeText(range.local, range.dimensions), device.id, *device.maxWorkGroupSize);
    for (unsigned d = 0; d < range.dimensions && d < device.maxWorkItemSizes.size(); ++d)
        if (range.local[d] > device.maxWorkItemSizes[d])
            return fmt::format("needs a work-group of {} in {}, {} allows {}", range.local[d], axis[d], device.id, device.maxWorkItemSizes[d]);
    return {};
}

bool above(std::uint64_t need, const std::optional<std::uint64_t>& limit) { return limit && need > *limit; }

}  // namespace

Result<LaunchPlan> planLaunch(const KernelPtr& kernel, const Parameters& given) {
    LaunchPlan plan;
    plan.kernel = kernel;
    auto parameters = kernel->resolve(given);
    if (!parameters) return parameters.error();
    plan.parameters = std::move(*parameters);
    for (const KernelArgument& argument : kernel->arguments) {
        auto planned = planArgument(argument, plan.parameters);
        if (!planned) return refuse(*kernel, planned.error().message);
        if (argument.kind == KernelArgument::Kind::Local) plan.localBytes += planned->bytes;
        if (argument.kind == KernelArgument::Kind::Buffer) {
            plan.bufferBytes += planned->bytes;
            plan.largestBufferBytes = std::max(plan.largestBufferBytes, planned->bytes);
        }
        if (plan.bufferBytes > absurdBytes || plan.localBytes > absurdBytes)
            return refuse(*kernel, fmt::format("{} of buffers are beyond any memory", formatBytes(plan.bufferBytes + plan.localBytes)));
        plan.arguments.push_back(std::move(*planned));
    }
    const auto range = planRange(kernel->range, plan.parameters);
    if (!range) return refuse(*kernel, range.error().message);
    plan.range = *range;
    for (const auto& [expression, value] : {std::pair{&kernel->flops, &plan.flops}, std::pair{&kernel->bytes, &plan.bytes}}) {
        if (expression->empty()) continue;
        const auto work = evaluate(*expression, plan.parameters);
        if (!work) return refuse(*kernel, "work estimate: " + work.error().message);
        if (*work < 0) return refuse(*kernel, fmt::format("work estimate {} = {}, which is negative", *expression, formatNumber(*work)));
        *value = *work;
    }
    return plan;
}

std::optional<std::string> whyNotOn(const LaunchPlan& plan, const DeviceInfo& device) {
    if (const auto why = whyNoVariant(*plan.kernel, device)) return why;
    if (const auto why = whyNoType(plan, device)) return why;
    if (above(plan.bufferBytes, device.memoryBytes))
        return fmt::format("needs {} of memory, {} has {}", formatBytes(plan.bufferBytes), device.id, formatBytes(*device.memoryBytes));
    if (above(plan.largestBufferBytes, device.maxAllocationBytes))
        return fmt::format("needs a buffer of {}, {} allows {} in one", formatBytes(plan.largestBufferBytes), device.id,
                           formatBytes(*device.maxAllocationBytes));
    if (above(plan.localBytes, device.localMemoryBytes))
        return fmt::format("needs {} of local memory, {} has {}", formatBytes(plan.localBytes), device.id, formatBytes(*device.localMemoryBytes));
    return whyNoWorkGroup(plan.range, device);
}

// --- the built entry ---------------------------------------------------------------------------------------------

namespace {

/// "float*" → float, pointer; "unsigned int" → uint. Nothing for structs and what else is not a plain type.
std::optional<ElementType> typeOf(std::string_view text) {
    std::string plain(trimmed(text));
    while (!plain.empty() && (plain.back() == '*' || plain.back() == ' ')) plain.pop_back();
    for (const std::string_view word : {"const ", "volatile ", "restrict "})
        for (std::size_t at = 0; (at = plain.find(word)) != std::string::npos;) plain.erase(at, word.size());
    if (plain.starts_with("unsigned ")) plain = "u" + plain.substr(9);
    return ElementType::fromName(plain);
}

std::string signatureOf(const EntryInfo& entry) {
    std::vector<std::string> parts;
    for (const ArgumentInfo& argument : entry.arguments)
        parts.push_back(argument.name.empty() ? argument.type : fmt::format("{} {}", argument.type, argument.name));
    return fmt::format("{}({})", entry.name, fmt::join(parts, ", "));
}

/// What the source takes there, in the words of our own files.
std::string takenKind(const ArgumentInfo& info) {
    if (info.isImage) return "an image, which is not supported";
    if (info.isSampler) return "a sampler, which is not supported";
    if (info.space == AddressSpace::Local) return "local memory";
    return info.space == AddressSpace::Private ? "a value" : "a buffer";
}

bool kindFits(const KernelArgument& argument, const ArgumentInfo& info) {
    if (info.isImage || info.isSampler) return false;
    switch (argument.kind) {
        case KernelArgument::Kind::Buffer: return info.space == AddressSpace::Global || info.space == AddressSpace::Constant;
        case KernelArgument::Kind::Local: return info.space == AddressSpace::Local;
        case KernelArgument::Kind::Scalar: return info.space == AddressSpace::Private;
    }
    return false;
}

std::string givenKind(const KernelArgument& argument) {
    switch (argument.kind) {
        case KernelArgument::Kind::Buffer: return fmt::format("a buffer of {}", argument.type.name());
        case KernelArgument::Kind::Local: return "local memory";
        case KernelArgument::Kind::Scalar: return fmt::format("a value of type {}", argument.type.name());
    }
    return {};
}

Status checkArgument(const PlannedArgument& planned, const ArgumentInfo& info, std::size_t position, const EntryInfo& entry) {
    const KernelArgument& argument = *planned.argument;
    const auto wrong = [&](const std::string& what) {
        return Error{ErrorKind::InvalidInput, fmt::format("argument {} (\"{}\") of {}: {}", position, argument.name, signatureOf(entry), what)};
    };
    if (!kindFits(argument, info)) return wrong(fmt::format("it takes {}, {} is given", takenKind(info), givenKind(argument)));
    const auto type = typeOf(info.type);
    if (!type || argument.type.scalar == Scalar::Bytes) return {};
    if (argument.kind == KernelArgument::Kind::Scalar && type->bytes() != planned.scalar.size())
        return wrong(fmt::format("it takes {} ({} bytes), {} ({} bytes) is given", type->name(), type->bytes(), argument.type.name(), planned.scalar.size()));
    // Bits of one kind read as the other are a mistake of the person; who means it says "bytes".
    if (argument.kind != KernelArgument::Kind::Local && isFloatingPoint(type->scalar) != isFloatingPoint(argument.type.scalar))
        return wrong(fmt::format("it takes {}, {} is given (type bytes passes bits as they are)", type->name(), argument.type.name()));
    return {};
}

Status settleLocal(NDRange& range, const LaunchPlan& plan, const EntryInfo& entry) {
    if (entry.requiredLocal[0] != 0) {
        const bool stated = range.local[0] != 0;
        if (stated && range.local != entry.requiredLocal)
            return Error{ErrorKind::InvalidInput, fmt::format("local size {}: the source of {} requires {}", sizeText(range.local, 3),
                                                              entry.name, sizeText(entry.requiredLocal, 3))};
        range.local = entry.requiredLocal;
        if (const Status fits = fitToWorkGroup(range, plan.kernel->range, "the work-group size that the source requires,"); !fits) return fits;
        // A third dimension of 1 costs nothing; leaving it out would refuse a required size there.
        for (unsigned d = range.dimensions; d < 3; ++d)
            if (range.local[d] > 1) range.dimensions = d + 1;
    }
    const std::size_t items = workGroupItems(range);
    if (entry.maxWorkGroupSize != 0 && items > entry.maxWorkGroupSize)
        return Error{ErrorKind::InvalidInput, fmt::format("a work-group of {} work items ({}) is above the limit of {} on this device, {}", items,
                                                          sizeText(range.local, range.dimensions), entry.name, entry.maxWorkGroupSize)};
    return {};
}

}  // namespace

Result<NDRange> settleRange(const LaunchPlan& plan, const EntryInfo& entry) {
    if (entry.arguments.size() != plan.arguments.size())
        return refuse(*plan.kernel, fmt::format("{} takes {} argument{}, {} {} given", signatureOf(entry), entry.arguments.size(),
                                                entry.arguments.size() == 1 ? "" : "s", plan.arguments.size(),
                                                plan.arguments.size() == 1 ? "is" : "are"));
    for (std::size_t i = 0; i < plan.arguments.size(); ++i)
        if (const Status fits = checkArgument(plan.arguments[i], entry.arguments[i], i, entry); !fits)
            return refuse(*plan.kernel, fits.error().message);
    NDRange range = plan.range;
    if (const Status fits = settleLocal(range, plan, entry); !fits) return refuse(*plan.kernel, fits.error().message);
    return range;
}

}  // namespace heteroscope
