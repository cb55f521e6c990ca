#include "scheduler/kernel/own_source.h"

#include "scheduler/kernel/data.h"
#include "scheduler/kernel/scalar.h"
#include "scheduler/kernel/text_file.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace heteroscope {

namespace {

constexpr std::uint64_t largestSourceFile = std::uint64_t{64} << 20;

std::vector<std::string> asExpressions(const std::vector<std::uint64_t>& sizes) {
    std::vector<std::string> texts;
    for (const std::uint64_t size : sizes) texts.push_back(std::to_string(size));
    return texts;
}

Status checkArguments(const std::vector<KernelArgument>& arguments) {
    std::set<std::string> names;
    for (const KernelArgument& argument : arguments)
        if (!names.insert(argument.name).second)
            return Error{ErrorKind::InvalidInput, fmt::format("two arguments are named \"{}\"", argument.name)};
    return {};
}

Result<TextFile> sourceText(const OwnSource& source) {
    return source.text ? normalisedText(*source.text, source.file.string()) : readTextFile(source.file, largestSourceFile);
}

}  // namespace

Result<KernelPtr> makeOwnKernel(const OwnSource& source) {
    const std::filesystem::path file = absolutePath(source.file);
    const auto refuse = [&](const std::string& what) {
        return Error{ErrorKind::InvalidInput, fmt::format("{}: {}", source.file.string(), what), file.string()};
    };
    auto text = sourceText(source);
    if (!text) return text.error();
    if (!isIdentifier(source.entry))
        return refuse(source.entry.empty() ? std::string("the name of the kernel to run is missing")
                                           : fmt::format("\"{}\" cannot be the name of a kernel", shortened(source.entry)));
    if (source.global.empty()) return refuse("a global size is missing");
    if (const Status fine = checkArguments(source.arguments); !fine) return refuse(fine.error().message);

    auto kernel = std::make_shared<Kernel>();
    kernel->id = fmt::format("{}:{}", file.filename().string(), source.entry);
    kernel->title = kernel->id;
    kernel->description = text->latin1 ? fmt::format("{} (is not UTF-8: read as Latin-1)", file.string()) : file.string();
    kernel->arguments = source.arguments;
    kernel->range = {asExpressions(source.global), asExpressions(source.local), asExpressions(source.offset), source.guarded};
    kernel->folder = file.parent_path();
    kernel->ownSource = true;

    KernelVariant variant;
    variant.language = source.language.value_or(file.extension() == ".cu" ? Language::CudaCpp : Language::OpenClC);
    variant.entry = source.entry;
    variant.source = {variant.language, std::move(text->text), file.string(), source.options, {file.parent_path().string()}};
    for (const std::filesystem::path& folder : source.includes)
        variant.source.includeDirs.push_back(absolutePath(folder).string());
    kernel->variants.push_back(std::move(variant));
    return KernelPtr(std::move(kernel));
}

namespace {

constexpr const char* argumentForms = "buffer:TYPE:COUNT[:FILL[:ACCESS]], TYPE:VALUE or local:BYTES is expected";

Error argumentProblem(const std::string& text, const std::string& what) {
    return Error{ErrorKind::InvalidInput, fmt::format("argument \"{}\": {}", shortened(text), what)};
}

/// The text up to the next colon outside parentheses; moves `rest` behind it.
std::string nextPart(std::string_view& rest) {
    int depth = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        depth += rest[i] == '(' ? 1 : rest[i] == ')' ? -1 : 0;
        if (rest[i] != ':' || depth > 0) continue;
        std::string part(trimmed(rest.substr(0, i)));
        rest.remove_prefix(i + 1);
        return part;
    }
    std::string part(trimmed(rest));
    rest = {};
    return part;
}

/// FILL[:ACCESS]. A path may hold colons and unbalanced parentheses: the access is what stands behind the last colon.
void splitFill(std::string_view text, KernelArgument& argument) {
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        if (const auto access = accessFromString(trimmed(text.substr(colon + 1)))) {
            argument.access = *access;
            text = text.substr(0, colon);
        }
    } else if (const auto access = accessFromString(trimmed(text))) {
        argument.access = *access;  // buffer:float:16:read
        return;
    }
    if (!trimmed(text).empty()) argument.fill = trimmed(text);
}

Result<KernelArgument> parseBuffer(const std::string& whole, std::string_view rest, KernelArgument argument) {
    argument.kind = KernelArgument::Kind::Buffer;
    argument.access = Access::ReadWrite;
    const std::string typeName = nextPart(rest);
    const auto type = ElementType::fromName(typeName);
    if (!type) return argumentProblem(whole, fmt::format("unknown type \"{}\"; an OpenCL type such as float or uint4 is expected", shortened(typeName)));
    argument.type = *type;
    argument.count = nextPart(rest);
    const auto count = evaluateCount(argument.count, {});
    if (!count) return argumentProblem(whole, "count: " + count.error().message);
    if (*count == 0) return argumentProblem(whole, "count is 0, at least 1 element is expected");
    splitFill(rest, argument);
    // A path given on the command line is meant from where the command was given.
    argument.fill = fillWithAbsolutePath(argument.fill, {});
    if (*count <= (std::uint64_t{1} << 40))
        if (const Status fill = checkFill(argument.fill, *type, *count, {}); !fill) return argumentProblem(whole, fill.error().message);
    return argument;
}

Result<KernelArgument> parseLocal(const std::string& whole, std::string_view rest, KernelArgument argument) {
    argument.kind = KernelArgument::Kind::Local;
    argument.type = {Scalar::Bytes, 1};
    argument.count = std::string(trimmed(rest));
    const auto bytes = evaluateCount(argument.count, {});
    if (!bytes) return argumentProblem(whole, "bytes: " + bytes.error().message);
    if (*bytes == 0) return argumentProblem(whole, "0 bytes of local memory, at least 1 is expected");
    return argument;
}

Result<KernelArgument> parseScalar(const std::string& whole, ElementType type, std::string_view rest, KernelArgument argument) {
    argument.kind = KernelArgument::Kind::Scalar;
    argument.type = type;
    if (type.scalar == Scalar::Bytes) {
        auto bytes = bytesFromHex(std::string(rest));
        if (!bytes) return argumentProblem(whole, bytes.error().message);
        argument.raw = std::move(*bytes);
        return argument;
    }
    argument.values = splitAtCommas(rest);
    const auto encoded = encodeScalar(type, argument.values, {});
    if (!encoded) return argumentProblem(whole, encoded.error().message);
    return argument;
}

}  // namespace

Result<KernelArgument> parseArgument(const std::string& text, std::size_t position) {
    KernelArgument argument;
    argument.name = fmt::format("arg{}", position);
    std::string_view rest = text;
    if (text.find(':') == std::string::npos) return argumentProblem(text, argumentForms);
    const std::string head = nextPart(rest);
    if (head == "buffer") return parseBuffer(text, rest, std::move(argument));
    if (head == "local") return parseLocal(text, rest, std::move(argument));
    if (const auto type = ElementType::fromName(head)) return parseScalar(text, *type, rest, std::move(argument));
    return argumentProblem(text, fmt::format("unknown type \"{}\"; {}", shortened(head), argumentForms));
}

}  // namespace heteroscope
