#pragma once

#include <QByteArray>
#include <QTest>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace QTest {

/// QCOMPARE of our enumerations: by value, shown by their own words. Qt would take our toString(), which gives a
/// string_view, for its own.
template <class E>
    requires std::is_enum_v<E> && requires(E value) {
        { toString(value) } -> std::same_as<std::string_view>;
    }
bool qCompare(const E& actualValue, const E& expectedValue, const char* actual, const char* expected, const char* file, int line) {
    const auto words = [](E value) {
        const std::string_view text = toString(value);
        return QByteArray(text.data(), static_cast<qsizetype>(text.size()));
    };
    return qCompare(words(actualValue), words(expectedValue), actual, expected, file, line);
}

}  // namespace QTest
