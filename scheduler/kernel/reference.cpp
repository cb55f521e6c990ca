// The comparison of a finished job with the CPU: the same for every kernel. The right values come from references/,
// piece by piece, so that no second copy of a large result is held.
#include "scheduler/kernel/reference.h"

#include "scheduler/kernel/references/reference_entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

namespace heteroscope {
namespace {

using references::Expected;
using references::ExpectedBuffer;
using references::Inputs;
using references::Need;
using references::Reference;

constexpr double largestSize = 2147483648.0;  // so that a product of two stays a 64-bit number

const std::vector<Reference>& allReferences() {
    static const std::vector<Reference> all{references::blackScholesReference(), references::histogramReference(),
                                            references::mandelbrotReference(),   references::matmulReference(),
                                            references::reductionReference(),    references::saxpyReference(),
                                            references::squareReference(),       references::stencilReference(),
                                            references::transposeReference(),    references::vectorAddReference()};
    return all;
}

const Reference* findReference(const std::string& name) {
    const auto found = std::ranges::find(allReferences(), std::string_view(name), &Reference::name);
    return found == allReferences().end() ? nullptr : &*found;
}

Error invalid(std::string message) { return Error{ErrorKind::InvalidInput, std::move(message)}; }

/// The given parameters over the kernel's defaults; all that the reference asks for are there and usable.
Result<Parameters> usableParameters(const Kernel& kernel, const Reference& reference, const Parameters& given) {
    Parameters parameters;
    for (const KernelParameter& parameter : kernel.parameters) parameters[parameter.name] = parameter.defaultValue;
    for (const auto& [name, value] : given) parameters[name] = value;

    auto missing = [&](std::string_view name) {
        return invalid(fmt::format("The reference '{}' needs a parameter '{}', which kernel '{}' does not have",
                                   reference.name, name, kernel.id));
    };
    for (std::string_view name : reference.sizes) {
        const auto found = parameters.find(std::string(name));
        if (found == parameters.end()) return missing(name);
        const double value = found->second;
        if (!(value >= 0.0 && value <= largestSize) || value != std::floor(value)) {
            return invalid(fmt::format("The reference '{}' takes {} as a whole number from 0 to 2147483648, found {}",
                                       reference.name, name, value));
        }
    }
    for (std::string_view name : reference.numbers) {
        const auto found = parameters.find(std::string(name));
        if (found == parameters.end()) return missing(name);
        if (!std::isfinite(found->second)) {
            return invalid(fmt::format("The reference '{}' takes {} as a finite number, found {}", reference.name, name,
                                       found->second));
        }
    }
    return parameters;
}

const CheckedBuffer* findBuffer(std::span<const CheckedBuffer> buffers, std::string_view name) {
    for (const CheckedBuffer& buffer : buffers) {
        if (buffer.argument != nullptr && buffer.argument->name == name) return &buffer;
    }
    return nullptr;
}

Status enoughBytes(const Need& need, std::string_view when, std::size_t found) {
    const std::uint64_t wanted = need.count * ElementType{need.type, 1}.bytes();
    if (found >= wanted) return {};
    return invalid(fmt::format("Buffer '{}' has {} bytes {} the run, its reference needs {} ({} elements)", need.name,
                               found, when, wanted, need.count));
}

Status satisfies(const Need& need, std::span<const CheckedBuffer> buffers) {
    const ElementType type{need.type, 1};
    const CheckedBuffer* buffer = findBuffer(buffers, need.name);
    if (buffer == nullptr) {
        return invalid(fmt::format("The reference needs a buffer '{}', which was not given", need.name));
    }
    if (buffer->argument->type != type) {
        return invalid(fmt::format("The reference takes buffer '{}' as {}, the kernel declares it {}", need.name,
                                   type.name(), buffer->argument->type.name()));
    }
    if (need.access != Access::Write) {
        if (Status status = enoughBytes(need, "before", buffer->before.size()); !status) return status;
    }
    if (need.access != Access::Read) {
        if (Status status = enoughBytes(need, "after", buffer->after.size()); !status) return status;
    }
    return {};
}

template <class T>
double readAs(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}

double readElement(Scalar type, const std::byte* at) {
    switch (type) {
        case Scalar::Bool:
        case Scalar::UChar:
            return readAs<std::uint8_t>(at);
        case Scalar::Char:
            return readAs<std::int8_t>(at);
        case Scalar::Short:
            return readAs<std::int16_t>(at);
        case Scalar::UShort:
            return readAs<std::uint16_t>(at);
        case Scalar::Int:
            return readAs<std::int32_t>(at);
        case Scalar::UInt:
            return readAs<std::uint32_t>(at);
        case Scalar::Float:
            return readAs<float>(at);
        case Scalar::Double:
            return readAs<double>(at);
        case Scalar::Long:
        case Scalar::ULong:
        case Scalar::Half:
        case Scalar::Bytes:
            break;
    }
    return std::numeric_limits<double>::quiet_NaN();  // no reference has such a result: a double would not hold it
}

struct Tolerance {
    double relative = 0.0;
    double absolute = 0.0;
};

/// What one element's comparison gave.
struct Verdict {
    bool agrees = true;
    double relativeError = 0.0;
};

Verdict compareElement(const Expected& expected, double found, const Tolerance& tolerance) {
    const double right = expected.value;
    if (right == found || (std::isnan(right) && std::isnan(found))) return {};
    if (!std::isfinite(right) || !std::isfinite(found)) return {false, std::numeric_limits<double>::infinity()};

    const double magnitude = std::isfinite(expected.magnitude) ? expected.magnitude : 0.0;
    const double scale = std::max(std::abs(right), magnitude);
    const double error = std::abs(found - right);
    return {error <= tolerance.absolute + tolerance.relative * scale, scale > 0.0 ? error / scale : error};
}

/// The sum over the elements of one buffer, or of a piece of it.
struct Differences {
    std::uint64_t count = 0;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    double expected = 0.0, found = 0.0;
    double largestError = 0.0;

    void add(std::uint64_t at, double right, double is, const Verdict& verdict) {
        largestError = std::max(largestError, verdict.relativeError);
        if (verdict.agrees) return;
        ++count;
        if (at < first) {
            first = at;
            expected = right;
            found = is;
        }
    }
    void merge(const Differences& other) {
        largestError = std::max(largestError, other.largestError);
        count += other.count;
        if (other.first < first) {
            first = other.first;
            expected = other.expected;
            found = other.found;
        }
    }
};

Differences comparePiece(const ExpectedBuffer& right, const CheckedBuffer& buffer, const Tolerance& tolerance,
                         std::uint64_t from, std::span<Expected> room) {
    right.elements(from, room);
    const Scalar type = buffer.argument->type.scalar;
    const std::size_t width = buffer.argument->type.bytes();
    Differences differences;
    for (std::size_t i = 0; i < room.size(); ++i) {
        if (type == Scalar::Float) room[i].value = static_cast<float>(room[i].value);  // what a float can hold of it
        const double found = readElement(type, buffer.after.data() + (from + i) * width);
        differences.add(from + i, room[i].value, found, compareElement(room[i], found, tolerance));
    }
    return differences;
}

/// Compares the pieces on up to four threads.
Differences compareBuffer(const ExpectedBuffer& right, const CheckedBuffer& buffer, const Tolerance& tolerance) {
    if (right.count == 0) return {};
    const std::uint64_t pieces = (right.count + right.piece - 1) / right.piece;
    const std::uint64_t threads =
        std::min<std::uint64_t>(pieces, std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
    std::vector<std::vector<Expected>> rooms(threads);
    for (auto& room : rooms) room.resize(std::min(right.piece, right.count));

    Differences all;
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    auto work = [&](std::vector<Expected>& room) {
        Differences own;
        for (std::uint64_t piece = next++; piece < pieces; piece = next++) {
            const std::uint64_t begin = piece * right.piece;
            const std::uint64_t size = std::min(right.piece, right.count - begin);
            std::fill_n(room.begin(), size, Expected{});
            own.merge(comparePiece(right, buffer, tolerance, right.first + begin, std::span(room).first(size)));
        }
        const std::lock_guard lock(mutex);
        all.merge(own);
    };
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < threads; ++i) others.emplace_back([&, i] { work(rooms[i]); });
    work(rooms[0]);
    others.clear();  // joins
    return all;
}

bool isFloating(const ElementType& type) { return type.scalar == Scalar::Float || type.scalar == Scalar::Double; }

CheckResult compareAll(const Kernel& kernel, const std::vector<ExpectedBuffer>& right,
                       std::span<const CheckedBuffer> buffers) {
    CheckResult result;
    result.state = CheckResult::State::Passed;
    for (const ExpectedBuffer& expected : right) {
        const CheckedBuffer& buffer = *findBuffer(buffers, expected.name);
        const Tolerance tolerance = isFloating(buffer.argument->type)
                                        ? Tolerance{kernel.relativeTolerance, kernel.absoluteTolerance}
                                        : Tolerance{};
        const Differences differences = compareBuffer(expected, buffer, tolerance);
        result.largestError = std::max(result.largestError, differences.largestError);
        if (differences.count == 0 || result.state == CheckResult::State::Failed) continue;
        result.state = CheckResult::State::Failed;
        result.argument = expected.name;
        result.firstDifference = differences.first;
        result.expected = differences.expected;
        result.found = differences.found;
        result.message =
            fmt::format("{}[{}] is {:.9g}, expected {:.9g}; {} of {} elements differ", expected.name, differences.first,
                        differences.found, differences.expected, differences.count, expected.count);
    }
    const std::string error = fmt::format("largest relative error {:.3g}", result.largestError);
    result.message = result.message.empty() ? fmt::format("Agrees with the CPU reference ({})", error)
                                            : fmt::format("{} ({})", result.message, error);
    return result;
}

}  // namespace

Result<CheckResult> checkAgainstReference(const Kernel& kernel, const Parameters& parameters,
                                          std::span<const CheckedBuffer> buffers) {
    if (kernel.reference.empty()) return CheckResult{};
    const Reference* reference = findReference(kernel.reference);
    if (reference == nullptr) {
        return invalid(fmt::format("Kernel '{}' names the reference '{}', which there is not; there are: {}", kernel.id,
                                   kernel.reference, fmt::join(referenceNames(), ", ")));
    }
    const Result<Parameters> usable = usableParameters(kernel, *reference, parameters);
    if (!usable) return usable.error();
    const Inputs inputs(*usable, buffers);
    for (const Need& need : reference->needs(inputs)) {
        if (Status status = satisfies(need, buffers); !status) return status.error();
    }
    try {
        return compareAll(kernel, reference->expected(inputs), buffers);
    } catch (const std::exception& exception) {  // no memory, no thread
        return Error{ErrorKind::OutOfMemory,
                     fmt::format("The reference '{}' could not be computed: {}", kernel.reference, exception.what())};
    }
}

std::vector<std::string> referenceNames() {
    std::vector<std::string> names;
    for (const Reference& reference : allReferences()) names.emplace_back(reference.name);
    return names;
}

}  // namespace heteroscope
