#include "scheduler/history/decision_codec.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace heteroscope::history {
namespace {

static_assert(std::endian::native == std::endian::little, "the file would need byte swaps to move between machines");

constexpr std::uint8_t formatVersion = 1;

class Writer {
public:
    template <class T>
    void put(T value) requires std::is_arithmetic_v<T> {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(const std::string& text) {
        put(static_cast<std::uint32_t>(text.size()));
        bytes_ += text;
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Reader {
public:
    Reader(const void* bytes, std::size_t size) : at_(static_cast<const char*>(bytes)), left_(size) {}

    template <class T>
    void get(T& value) requires std::is_arithmetic_v<T> {
        if (const char* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
    }
    void get(std::string& text) {
        std::uint32_t size = 0;
        get(size);
        if (const char* from = take(size)) text.assign(from, size);
    }
    bool sound() const { return sound_; }
    std::size_t left() const { return left_; }

private:
    const char* take(std::size_t n) {
        if (!sound_ || n > left_) {
            sound_ = false;
            return nullptr;
        }
        const char* from = at_;
        at_ += n;
        left_ -= n;
        return from;
    }

    const char* at_;
    std::size_t left_;
    bool sound_ = true;
};

// One list of fields for both directions.
template <class Stream, class Visit>
void visitHead(Stream& decision, Visit visit) {
    visit(decision.job);
    visit(decision.policy);
    visit(decision.chosen);
    visit(decision.at);
    visit(decision.note);
}
template <class Stream, class Visit>
void visitCandidate(Stream& candidate, Visit visit) {
    visit(candidate.device);
    visit(candidate.excluded);
    visit(candidate.freeIn);
    visit(candidate.dataIn);
    visit(candidate.run);
    visit(candidate.finish);
    visit(candidate.queued);
    visit(candidate.score);
}
constexpr std::size_t leastCandidateBytes = 2 * sizeof(std::uint32_t) + sizeof(std::uint32_t) + 5 * sizeof(double);

}  // namespace

std::string encodeDecision(const Decision& decision) {
    Writer out;
    out.put(formatVersion);
    visitHead(decision, [&out](const auto& field) { out.put(field); });
    out.put(static_cast<std::uint32_t>(decision.candidates.size()));
    for (const Candidate& candidate : decision.candidates)
        visitCandidate(candidate, [&out](const auto& field) { out.put(field); });
    return out.take();
}

std::shared_ptr<const Decision> decodeDecision(const void* bytes, std::size_t size) {
    Reader in(bytes, size);
    std::uint8_t version = 0;
    in.get(version);
    if (version != formatVersion) return nullptr;
    auto decision = std::make_shared<Decision>();
    visitHead(*decision, [&in](auto& field) { in.get(field); });
    std::uint32_t count = 0;
    in.get(count);
    if (!in.sound() || count > in.left() / leastCandidateBytes) return nullptr;
    decision->candidates.resize(count);
    for (Candidate& candidate : decision->candidates) visitCandidate(candidate, [&in](auto& field) { in.get(field); });
    return in.sound() ? decision : nullptr;
}

}  // namespace heteroscope::history
