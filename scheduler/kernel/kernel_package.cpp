#include "scheduler/kernel/kernel.h"
#include "scheduler/kernel/kernel_json.h"
#include "scheduler/kernel/text_file.h"
#include "scheduler/kernel/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace heteroscope {

namespace {

constexpr std::uint64_t largestPackageFile = std::uint64_t{1} << 20;
constexpr std::uint64_t largestSourceFile = std::uint64_t{64} << 20;

/// One package while it is read: the kernel so far and the default parameters its expressions are tried with.
struct PackageReader {
    Kernel kernel;
    std::vector<std::string> parameterOrder;  ///< as written
    Parameters defaults;

    void readHead(const JsonNode& root);
    void readParameters(const JsonNode& root);
    KernelParameter readParameter(const std::string& name, const JsonNode& node) const;
    void readArguments(const JsonNode& root);
    void readRange(const JsonNode& root);
    void readWork(const JsonNode& root);
    void readSplit(const JsonNode& root);
    void readVariants(const JsonNode& root);
    KernelVariant readVariant(const JsonNode& node) const;
    void readCheck(const JsonNode& root);

    std::string tried(const JsonNode& place, const std::string& expression) const;
    std::string parameterName(const JsonNode& node) const;
    std::map<std::string, std::string> bufferMap(const JsonNode& node) const;
    void wantBuffer(const std::string& name, const JsonNode& place) const;
};

/// Fails where the expression cannot be evaluated with the default parameters.
std::string PackageReader::tried(const JsonNode& place, const std::string& expression) const {
    const auto value = evaluate(expression, defaults);
    if (!value) place.failWith(value.error().message);
    return expression;
}

void PackageReader::readHead(const JsonNode& root) {
    root.warnUnknown({"format", "version", "id", "title", "description", "parameters", "arguments", "range", "work",
                      "split", "variants", "reference", "check"});
    const JsonNode version = root.at("version", "the format's version, 1,");
    if (version.whole("version 1") != 1) version.fail("version 1");
    const JsonNode id = root.at("id", "the kernel's short name");
    kernel.id = id.text("the kernel's short name");
    const bool plain = !kernel.id.empty() && kernel.id.size() <= 64 && std::all_of(kernel.id.begin(), kernel.id.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (!plain) id.fail("1 to 64 letters, digits, -, _ or .");
    kernel.title = kernel.id;
    if (const auto title = root.find("title")) kernel.title = title->text();
    if (const auto description = root.find("description")) kernel.description = description->text();
    if (const auto reference = root.find("reference")) kernel.reference = reference->text("the name of a reference");
}

KernelParameter PackageReader::readParameter(const std::string& name, const JsonNode& node) const {
    node.warnUnknown({"default", "min", "max", "type"});
    if (!isIdentifier(name)) node.failWith("a parameter's name is a letter or _, then letters, digits or _");
    KernelParameter parameter;
    parameter.name = name;
    const JsonNode defaultValue = node.at("default", "a number");
    parameter.defaultValue = defaultValue.number();
    if (const auto minimum = node.find("min")) parameter.minimum = minimum->number();
    if (const auto maximum = node.find("max")) parameter.maximum = maximum->number();
    // "3.0" is written by someone who means a number with a fraction.
    for (const char* key : {"default", "min", "max"})
        if (const auto number = node.find(key); number && !number->value().is_number_integer()) parameter.integral = false;
    if (const auto type = node.find("type")) {
        const std::string word = type->text("int or float");
        if (word != "int" && word != "float") type->fail("int or float");
        parameter.integral = word == "int";
        const auto whole = [](double value) { return value == std::floor(value); };
        if (parameter.integral && !(whole(parameter.defaultValue) && whole(parameter.minimum.value_or(0)) && whole(parameter.maximum.value_or(0))))
            node.failWith("is an int, but default, min or max has a fraction");
    }
    if (parameter.minimum && parameter.maximum && *parameter.minimum > *parameter.maximum)
        node.failWith(fmt::format("min {} is above max {}", formatNumber(*parameter.minimum), formatNumber(*parameter.maximum)));
    if (parameter.defaultValue < parameter.minimum.value_or(parameter.defaultValue) ||
        parameter.defaultValue > parameter.maximum.value_or(parameter.defaultValue))
        defaultValue.fail("a number from min to max");
    return parameter;
}

void PackageReader::readParameters(const JsonNode& root) {
    const auto parameters = root.find("parameters");
    if (!parameters) return;
    if (!parameters->isObject()) parameters->fail("an object of parameters");
    for (const std::string& name : parameterOrder)
        if (const auto node = parameters->find(name)) kernel.parameters.push_back(readParameter(name, *node));
    defaults = kernel.defaults();
    for (const auto& [name, node] : parameters->members("")) tried(node, name);  // a function's name is none for a parameter
}

void PackageReader::readArguments(const JsonNode& root) {
    std::set<std::string> names;
    for (const JsonNode& node : root.at("arguments", "a list of arguments").elements("a list of arguments")) {
        KernelArgument argument = readKernelArgument(node, "");
        if (!names.insert(argument.name).second) node.failWith(fmt::format("a second argument \"{}\"", argument.name));
        for (const std::string& value : argument.values) tried(node, value);
        if (argument.kind != KernelArgument::Kind::Scalar) tried(node, argument.count);
        kernel.arguments.push_back(std::move(argument));
    }
}

void PackageReader::readRange(const JsonNode& root) {
    const JsonNode range = root.at("range", "an object with \"global\"");
    kernel.range = readKernelRange(range);
    for (const auto* sizes : {&kernel.range.global, &kernel.range.local, &kernel.range.offset})
        for (const std::string& size : *sizes) tried(range, size);
}

void PackageReader::readWork(const JsonNode& root) {
    const auto work = root.find("work");
    if (!work) return;
    work->warnUnknown({"flops", "bytes"});
    if (const auto flops = work->find("flops")) kernel.flops = tried(*flops, flops->expression());
    if (const auto bytes = work->find("bytes")) kernel.bytes = tried(*bytes, bytes->expression());
}

std::string PackageReader::parameterName(const JsonNode& node) const {
    std::string name = node.text("the name of a parameter");
    if (defaults.contains(name)) return name;
    std::vector<std::string> names;
    for (const auto& [key, value] : defaults) names.push_back(key);
    node.failWith(fmt::format("no parameter \"{}\"{}", shortened(name), hintFor(name, names)));
}

void PackageReader::wantBuffer(const std::string& name, const JsonNode& place) const {
    const KernelArgument* argument = kernel.argument(name);
    if (argument && argument->kind == KernelArgument::Kind::Buffer) return;
    std::vector<std::string> names;
    for (const KernelArgument& known : kernel.arguments)
        if (known.kind == KernelArgument::Kind::Buffer) names.push_back(known.name);
    place.failWith(fmt::format("no buffer \"{}\"{}", shortened(name), hintFor(name, names)));
}

std::map<std::string, std::string> PackageReader::bufferMap(const JsonNode& node) const {
    std::map<std::string, std::string> map;
    for (const auto& [name, value] : node.members("an object of buffers")) {
        wantBuffer(name, value);
        map[name] = tried(value, value.expression());
    }
    return map;
}

void PackageReader::readSplit(const JsonNode& root) {
    const auto node = root.find("split");
    if (!node) return;
    node->warnUnknown({"dimension", "extent", "offset", "divide", "halo", "merge"});
    KernelSplit split;
    const JsonNode dimension = node->at("dimension", "a dimension of the range");
    const std::uint64_t number = dimension.whole();
    if (number >= kernel.range.global.size()) dimension.fail("a dimension of the range, counted from 0");
    split.dimension = static_cast<unsigned>(number);
    split.extent = parameterName(node->at("extent", "the name of a parameter"));
    if (const auto offset = node->find("offset")) split.offset = parameterName(*offset);
    if (const auto divide = node->find("divide")) split.divide = bufferMap(*divide);
    if (const auto halo = node->find("halo")) split.halo = bufferMap(*halo);
    if (const auto merge = node->find("merge")) {
        for (const auto& [name, value] : merge->members("an object of buffers")) {
            wantBuffer(name, value);
            const std::string how = value.text("sum, min or max");
            if (how != "sum" && how != "min" && how != "max") value.fail("sum, min or max");
            if (split.divide.contains(name)) value.failWith("is divided already: a buffer is divided or merged");
            split.merge[name] = how;
        }
    }
    for (const auto& [name, elements] : split.halo)
        if (!split.divide.contains(name)) node->failWith(fmt::format("halo of \"{}\", which is not divided", name));
    kernel.split = std::move(split);
}

KernelVariant PackageReader::readVariant(const JsonNode& node) const {
    node.warnUnknown({"language", "file", "entry", "options", "include"});
    KernelVariant variant;
    const JsonNode language = node.at("language", "opencl-c or cuda");
    const std::string word = language.text("opencl-c or cuda");
    if (word != "opencl-c" && word != "cuda") language.fail("opencl-c or cuda");
    variant.language = word == "cuda" ? Language::CudaCpp : Language::OpenClC;
    if (kernel.variant(variant.language)) language.failWith(fmt::format("a second variant in {}", word));
    variant.entry = node.at("entry", "the name of the kernel in the file").text();
    const JsonNode file = node.at("file", "the name of the source file");
    const std::filesystem::path path = kernel.folder / file.text();
    auto source = readTextFile(path, largestSourceFile);
    if (!source) file.failWith(source.error().message);
    variant.source.language = variant.language;
    variant.source.text = std::move(source->text);
    variant.source.file = path.string();
    if (const auto options = node.find("options")) variant.source.options = readTexts(*options, "a list of options");
    variant.source.includeDirs.push_back(kernel.folder.string());
    if (const auto include = node.find("include"))
        for (const std::string& folder : readTexts(*include, "a list of folders"))
            variant.source.includeDirs.push_back(absolutePath(folder, kernel.folder).string());
    return variant;
}

void PackageReader::readVariants(const JsonNode& root) {
    const JsonNode variants = root.at("variants", "a list of variants");
    for (const JsonNode& node : variants.elements("a list of variants")) kernel.variants.push_back(readVariant(node));
    if (kernel.variants.empty()) variants.fail("at least one variant");
}

void PackageReader::readCheck(const JsonNode& root) {
    const auto check = root.find("check");
    if (!check) return;
    check->warnUnknown({"relative", "absolute"});
    for (const auto& [key, value] : {std::pair{"relative", &kernel.relativeTolerance}, std::pair{"absolute", &kernel.absoluteTolerance}}) {
        const auto node = check->find(key);
        if (!node) continue;
        *value = node->number();
        if (*value < 0) node->fail("a tolerance from 0");
    }
}

void wantFormat(const JsonNode& root) {
    if (!root.isObject()) root.failWith(fmt::format("not a kernel package: found {}; an object is expected", root.shown()));
    const auto format = root.find("format");
    if (!format) root.failWith("not a kernel package: missing \"format\": \"heteroscope-kernel\"");
    if (!format->isString() || format->text() != "heteroscope-kernel")
        root.failWith(fmt::format("not a kernel package: \"format\" is {}; \"heteroscope-kernel\" is expected", format->shown()));
}

Kernel readPackage(const JsonNode& root, std::vector<std::string> parameterOrder, const std::filesystem::path& folder) {
    wantFormat(root);
    PackageReader reader;
    reader.kernel.folder = folder;
    reader.parameterOrder = std::move(parameterOrder);
    reader.readHead(root);
    reader.readParameters(root);
    reader.readArguments(root);
    reader.readRange(root);
    reader.readWork(root);
    reader.readSplit(root);
    reader.readVariants(root);
    reader.readCheck(root);
    return std::move(reader.kernel);
}

}  // namespace

Result<KernelPtr> loadKernelPackage(const std::filesystem::path& folder, std::vector<std::string>& warnings) {
    const std::filesystem::path whole = absolutePath(folder);
    const std::string document = (whole / "kernel.json").string();
    const auto file = readTextFile(document, largestPackageFile);
    if (!file) return file.error();
    KeyOrder order{"parameters", {}};
    const auto json = parseJson(file->text, document, &order);
    if (!json) return json.error();
    try {
        return KernelPtr(std::make_shared<const Kernel>(readPackage(JsonNode(*json, "", document, warnings), order.keys, whole)));
    } catch (const JsonProblem& problem) {
        return problem.error;
    }
}

}  // namespace heteroscope
