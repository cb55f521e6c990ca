#pragma once

#include <nlohmann/json.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace heteroscope {

/// What a command says: the answer on standard output, everything else on standard error. From its construction on,
/// file descriptor 1 leads to standard error, so that nothing else (a kernel's printf inside the OpenCL runtime) can
/// get into the answer. Any thread.
class Output {
public:
    Output();
    ~Output();

    bool json = false;  ///< --json: one document and nothing else

    void document(const nlohmann::json& document);  ///< one line, UTF-8 whatever the strings hold
    void print(std::string_view text);              ///< answer for people; nothing with --json
    void message(std::string_view text);            ///< standard error, a line
    bool answerIsTerminal() const { return terminal_; }
    int answerDescriptor() const { return answer_; }

    /// A line that is drawn over itself; only where standard error is a terminal.
    void progress(std::string_view text, std::size_t done, std::size_t total);
    void endProgress();
    bool failed() const { return failed_; }          ///< the answer could not be written
    bool readerLeft() const { return closed_; }      ///< …because who reads it has seen enough (`| head`)

private:
    void write(std::string_view text);

    int answer_ = -1;
    bool terminal_ = false;
    bool showProgress_ = false;
    bool failed_ = false, closed_ = false;
    std::size_t progressWidth_ = 0;  // guarded by mutex_
    std::mutex mutex_;
};

/// An aligned table: a header, cells, two blanks between columns; columns of numbers are set to the right.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> header, std::vector<bool> rightAligned = {});
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    std::string text() const;

private:
    std::vector<std::string> header_;
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;
};

/// Columns that a UTF-8 text takes on a terminal (one a code point; combining marks are not ours).
std::size_t displayWidth(std::string_view text);

}  // namespace heteroscope
