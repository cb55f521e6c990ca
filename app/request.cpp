#include "app/request.h"

#include "app/documents.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace heteroscope {
namespace {

constexpr std::array kinds{
    std::pair{Request::Kind::Run, "run"},         std::pair{Request::Kind::Workload, "workload"},
    std::pair{Request::Kind::Submit, "submit"},   std::pair{Request::Kind::Compare, "compare"},
    std::pair{Request::Kind::Queue, "queue"},     std::pair{Request::Kind::DeleteHistory, "delete-history"},
    std::pair{Request::Kind::Raise, "raise"},
};

}  // namespace

nlohmann::json Request::toJson() const {
    const char* word = "";
    for (const auto& [each, name] : kinds)
        if (each == kind) word = name;
    return {{"kind", word},           {"target", target},     {"parameters", parameters}, {"device", device},
            {"runtime", runtime},     {"policy", policy},     {"count", count},           {"priority", priority},
            {"check", check},         {"entry", entry},       {"global", global},         {"local", local},
            {"options", options},     {"includes", includes}, {"arguments", arguments},   {"save", save},
            {"policies", policies},   {"repeats", repeats},   {"seed", seed},             {"action", action},
            {"jobs", jobs},
            {"drop_all", dropAll},    {"files", files}};
}

Result<Request> Request::fromJson(const nlohmann::json& document) {
    Request request;
    try {
        const auto word = document.at("kind").get<std::string>();
        bool known = false;
        for (const auto& [each, name] : kinds)
            if (word == name) {
                request.kind = each;
                known = true;
            }
        if (!known) return Error{ErrorKind::InvalidInput, fmt::format("Request '{}' is not known to this version", word)};
        const auto read = [&](const char* name, auto& field) {
            if (const auto found = document.find(name); found != document.end()) found->get_to(field);
        };
        read("target", request.target);
        read("parameters", request.parameters);
        read("device", request.device);
        read("runtime", request.runtime);
        read("policy", request.policy);
        read("count", request.count);
        read("priority", request.priority);
        read("check", request.check);
        read("entry", request.entry);
        read("global", request.global);
        read("local", request.local);
        read("options", request.options);
        read("includes", request.includes);
        read("arguments", request.arguments);
        read("save", request.save);
        read("policies", request.policies);
        read("repeats", request.repeats);
        read("seed", request.seed);
        read("action", request.action);
        read("jobs", request.jobs);
        read("drop_all", request.dropAll);
        read("files", request.files);
    } catch (const nlohmann::json::exception& wrong) {
        return Error{ErrorKind::InvalidInput, fmt::format("The request cannot be read: {}", wrong.what())};
    }
    return request;
}

Answer refused(int exitStatus, const Error& error, nlohmann::json document) {
    document["error"] = document::error(error);
    return {exitStatus, std::move(document)};
}

}  // namespace heteroscope
