#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace heteroscope {

/// What went wrong, in the few kinds that a caller treats differently.
enum class ErrorKind {
    InvalidInput,  ///< a file, a parameter or a size the person gave
    Unsupported,   ///< the device or runtime cannot do it
    BuildFailed,   ///< the compiler refused the source; `log`, `file` and `line` say where
    OutOfMemory,
    LaunchFailed,
    DeviceLost,
    TimedOut,
    Cancelled,
    CheckFailed,  ///< the result differs from the reference
    Io,           ///< a file, the database, a socket
};

/// `build-failed`, `out-of-memory`, …: the word used in JSON, history and messages.
std::string_view toString(ErrorKind kind);
std::optional<ErrorKind> errorKindFromString(std::string_view word);

/// An error as a value: the thing first, then the cause in the lower layer's own words, then the way out.
struct Error {
    ErrorKind kind = ErrorKind::InvalidInput;
    std::string message;
    std::string file = {};  ///< the user's own file, when the error has a place in one
    int line = 0;           ///< 1-based; 0 when there is none
    std::string log = {};   ///< compiler's log, whole

    bool operator==(const Error&) const = default;
};

/// A value or the Error that took its place (C++20 stand-in for std::expected).
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() { return std::get<0>(state_); }
    const T& operator*() const { return std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

/// Done, or the Error that prevented it.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return !error_; }
    const Error& error() const { return *error_; }

private:
    std::optional<Error> error_;
};

}  // namespace heteroscope
