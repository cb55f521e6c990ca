#include "devices/null/kernel_scan.h"

#include <regex>

namespace heteroscope {
namespace {

ArgumentInfo describeArgument(const std::string& declaration) {
    static const std::regex form(R"(^\s*([^]*?)\s*(\w+)\s*$)");
    static const std::regex qualifiers(R"(\b(__)?(global|local|constant|private|const|restrict|volatile)\b|\s)");
    std::smatch parts;
    if (!std::regex_match(declaration, parts, form)) return {};
    const std::string type = parts[1];
    ArgumentInfo argument;
    argument.name = parts[2];
    argument.type = std::regex_replace(type, qualifiers, "");
    if (type.find("global") != std::string::npos) argument.space = AddressSpace::Global;
    if (type.find("constant") != std::string::npos) argument.space = AddressSpace::Constant;
    if (type.find("local") != std::string::npos) argument.space = AddressSpace::Local;
    return argument;
}

}  // namespace

std::vector<EntryInfo> scanKernels(const std::string& text, std::size_t maxWorkGroupSize) {
    static const std::regex kernel(R"(kernel\s+(?:__attribute__\s*\(\([^;{]*?\)\)\s*)?void\s+(\w+)\s*\(([^)]*)\))");
    static const std::regex comma(",");
    std::vector<EntryInfo> entries;
    for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at) {
        EntryInfo entry;
        entry.name = (*at)[1];
        entry.maxWorkGroupSize = maxWorkGroupSize;
        entry.preferredMultiple = 1;
        const std::string list = (*at)[2];
        for (std::sregex_token_iterator part(list.begin(), list.end(), comma, -1), last; part != last; ++part)
            if (part->length() > 0) entry.arguments.push_back(describeArgument(*part));
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace heteroscope
