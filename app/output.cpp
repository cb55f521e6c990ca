#include "app/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace heteroscope {

Output::Output() {
    std::fflush(stdout);
    answer_ = ::dup(STDOUT_FILENO);
    terminal_ = ::isatty(answer_) == 1;
    showProgress_ = ::isatty(STDERR_FILENO) == 1;
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

Output::~Output() {
    endProgress();
    std::fflush(stdout);
    if (answer_ >= 0) ::close(answer_);
}

void Output::write(std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(answer_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            failed_ = true;
            closed_ = written < 0 && errno == EPIPE;
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Output::document(const nlohmann::json& document) {
    endProgress();
    write(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void Output::print(std::string_view text) {
    if (json) return;
    endProgress();
    write(text);
}

void Output::message(std::string_view text) {
    endProgress();
    fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
}

void Output::progress(std::string_view text, std::size_t done, std::size_t total) {
    if (!showProgress_ || total == 0) return;
    constexpr std::size_t cells = 24;
    const std::size_t filled = std::min(cells, done * cells / total);
    std::string line = fmt::format("{:━<{}}{:─<{}} {}/{}  {}", "", filled, "", cells - filled, done, total, text);
    const std::lock_guard lock(mutex_);
    const std::size_t width = displayWidth(line);
    if (width < progressWidth_) line.append(progressWidth_ - width, ' ');
    progressWidth_ = width;
    fmt::print(stderr, "\r{}", line);
    std::fflush(stderr);
}

void Output::endProgress() {
    const std::lock_guard lock(mutex_);
    if (progressWidth_ == 0) return;
    fmt::print(stderr, "\r{}\r", std::string(progressWidth_, ' '));
    std::fflush(stderr);
    progressWidth_ = 0;
}

std::size_t displayWidth(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TextTable::TextTable(std::vector<std::string> header, std::vector<bool> rightAligned)
    : header_(std::move(header)), right_(std::move(rightAligned)) {
    right_.resize(header_.size(), false);
}

void TextTable::add(std::vector<std::string> cells) {
    cells.resize(header_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths(header_.size());
    const auto measure = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], displayWidth(cells[i]));
    };
    measure(header_);
    std::ranges::for_each(rows_, measure);

    std::string text;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string row;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string fill(widths[i] - displayWidth(cells[i]), ' ');
            row += right_[i] ? fill + cells[i] : cells[i] + fill;
            if (i + 1 < cells.size()) row += "  ";
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    };
    line(header_);
    std::ranges::for_each(rows_, line);
    return text;
}

}  // namespace heteroscope
