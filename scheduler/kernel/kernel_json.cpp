#include "scheduler/kernel/kernel_json.h"

#include "scheduler/kernel/scalar.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

namespace heteroscope {

namespace {

constexpr std::string_view typeExpected =
    "an OpenCL type (bool, char, uchar, short, ushort, int, uint, long, ulong, half, float, double, with 2, 3, 4, 8 or 16 for vectors) or bytes";

KernelArgument::Kind inferKind(const JsonNode& node) {
    if (const auto kind = node.find("kind")) {
        const std::string word = kind->text("scalar, buffer or local");
        if (word == "scalar") return KernelArgument::Kind::Scalar;
        if (word == "buffer") return KernelArgument::Kind::Buffer;
        if (word == "local") return KernelArgument::Kind::Local;
        kind->fail("scalar, buffer or local");
    }
    if (node.find("local_bytes")) return KernelArgument::Kind::Local;
    if (node.find("value") || node.find("hex")) return KernelArgument::Kind::Scalar;
    if (node.find("count")) return KernelArgument::Kind::Buffer;
    node.failWith("cannot tell what it is: \"kind\" (scalar, buffer or local) is expected");
}

void readScalar(const JsonNode& node, KernelArgument& argument) {
    node.warnUnknown({"name", "kind", "type", "value", "hex"});
    argument.type = readElementType(node.at("type", "the argument's type"));
    if (argument.type.scalar == Scalar::Bytes) {
        const JsonNode hex = node.at("hex", "the bytes, two hexadecimal digits each,");
        auto bytes = bytesFromHex(hex.text("hexadecimal digits"));
        if (!bytes) hex.failWith(bytes.error().message);
        argument.raw = std::move(*bytes);
        return;
    }
    const JsonNode value = node.at("value", "a number, an expression or, for a vector, a list");
    if (value.isArray())
        for (const JsonNode& component : value.elements("a list")) argument.values.push_back(component.expression());
    else
        argument.values.push_back(value.expression("a number, an expression or, for a vector, a list"));
    if (argument.values.size() != argument.type.width)
        value.failWith(fmt::format("{} value{} found; {} takes {}", argument.values.size(), argument.values.size() == 1 ? "" : "s",
                                   argument.type.name(), argument.type.width));
}

void readBuffer(const JsonNode& node, KernelArgument& argument) {
    node.warnUnknown({"name", "kind", "type", "count", "access", "fill", "constant"});
    argument.type = readElementType(node.at("type", "the elements' type"));
    argument.count = node.at("count", "the number of elements").expression();
    argument.access = Access::ReadWrite;
    if (const auto access = node.find("access")) argument.access = readAccess(*access);
    if (const auto fill = node.find("fill")) argument.fill = fill->text("a fill such as zeros, iota or uniform(0,1)");
    if (const auto constant = node.find("constant")) argument.constant = constant->boolean();
}

void readLocal(const JsonNode& node, KernelArgument& argument) {
    if (const auto bytes = node.find("local_bytes")) {
        node.warnUnknown({"name", "kind", "local_bytes"});
        argument.type = {Scalar::Bytes, 1};
        argument.count = bytes->expression();
        return;
    }
    node.warnUnknown({"name", "kind", "type", "count"});
    argument.type = readElementType(node.at("type", "the elements' type"));
    argument.count = node.at("count", "the number of elements").expression();
}

std::vector<std::string> readSizes(const JsonNode& node) {
    std::vector<std::string> sizes;
    for (const JsonNode& size : node.elements("a list of 1 to 3 sizes")) sizes.push_back(size.expression());
    if (sizes.empty() || sizes.size() > 3) node.fail("a list of 1 to 3 sizes");
    return sizes;
}

}  // namespace

ElementType readElementType(const JsonNode& node) {
    const auto type = ElementType::fromName(node.text(typeExpected));
    if (!type) node.fail(typeExpected);
    return *type;
}

Access readAccess(const JsonNode& node) {
    const auto access = accessFromString(node.text("read, write or read-write"));
    if (!access) node.fail("read, write or read-write");
    return *access;
}

std::vector<std::string> readTexts(const JsonNode& node, std::string_view expected) {
    std::vector<std::string> texts;
    for (const JsonNode& element : node.elements(expected)) texts.push_back(element.text("a text"));
    return texts;
}

KernelArgument readKernelArgument(const JsonNode& node, const std::string& defaultName) {
    KernelArgument argument;
    argument.name = defaultName;
    if (const auto name = node.find("name")) argument.name = name->text("the argument's name");
    if (argument.name.empty()) node.failWith("missing \"name\": the argument's name is expected");
    argument.kind = inferKind(node);
    switch (argument.kind) {
        case KernelArgument::Kind::Scalar: readScalar(node, argument); break;
        case KernelArgument::Kind::Buffer: readBuffer(node, argument); break;
        case KernelArgument::Kind::Local: readLocal(node, argument); break;
    }
    return argument;
}

KernelRange readKernelRange(const JsonNode& node) {
    node.warnUnknown({"global", "local", "offset", "guarded"});
    KernelRange range;
    range.global = readSizes(node.at("global", "a list of 1 to 3 sizes"));
    for (const auto& [key, sizes] : {std::pair{"local", &range.local}, std::pair{"offset", &range.offset}}) {
        const auto found = node.find(key);
        if (!found) continue;
        *sizes = readSizes(*found);
        if (sizes->size() != range.global.size())
            found->failWith(fmt::format("{} sizes found; as many as in global, {}, are expected", sizes->size(), range.global.size()));
    }
    if (const auto guarded = node.find("guarded")) range.guarded = guarded->boolean();
    return range;
}

nlohmann::json kernelArgumentToJson(const KernelArgument& argument) {
    nlohmann::json json{{"name", argument.name}};
    switch (argument.kind) {
        case KernelArgument::Kind::Scalar:
            json["kind"] = "scalar";
            json["type"] = argument.type.name();
            if (argument.type.scalar == Scalar::Bytes)
                json["hex"] = hexFromBytes(argument.raw);
            else
                json["value"] = argument.values;
            break;
        case KernelArgument::Kind::Buffer:
            json["kind"] = "buffer";
            json["type"] = argument.type.name();
            json["count"] = argument.count;
            json["access"] = toString(argument.access);
            json["fill"] = argument.fill;
            if (argument.constant) json["constant"] = true;
            break;
        case KernelArgument::Kind::Local:
            json["kind"] = "local";
            json["type"] = argument.type.name();
            json["count"] = argument.count;
            break;
    }
    return json;
}

nlohmann::json kernelRangeToJson(const KernelRange& range) {
    nlohmann::json json{{"global", range.global}};
    if (!range.local.empty()) json["local"] = range.local;
    if (!range.offset.empty()) json["offset"] = range.offset;
    if (range.guarded) json["guarded"] = true;
    return json;
}

}  // namespace heteroscope
