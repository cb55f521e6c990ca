#pragma once

#include <QFloat16>  // complete before nlohmann-json asks after it
#include <QProcess>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <memory>

namespace heteroscope {

/// How one call of the program ended.
struct Finished {
    int status = -1;  ///< exit status; -1: it crashed, was killed or did not end in time
    QByteArray answer;
    QByteArray messages;
    nlohmann::json document;  ///< the answer, when it is exactly one JSON document; else discarded

    bool isDocument() const { return !document.is_discarded(); }
};

/// Calls of the built program on a data folder of their own.
class ProgramRunner {
public:
    ProgramRunner();

    /// Runs the program to its end (at most `limitMs`).
    Finished run(const QStringList& arguments, int limitMs = 60'000) const;
    /// The same with --json.
    Finished json(QStringList arguments, int limitMs = 60'000) const;
    /// Starts the program and leaves it running.
    std::unique_ptr<QProcess> start(const QStringList& arguments) const;
    /// A window (offscreen) on the data folder, once it answers requests.
    std::unique_ptr<QProcess> startWindow(const QStringList& files = {}) const;

    QString dataFolder() const { return folder_.filePath(QStringLiteral("data")); }
    QString path(const QString& name) const { return folder_.filePath(name); }
    QString write(const QString& name, const QByteArray& content) const;

    QProcessEnvironment environment;

private:
    QStringList withFolder(const QStringList& arguments) const;

    QTemporaryDir folder_;
};

/// Ends a program as a person does, with SIGINT; true when it ended by itself in time.
bool interruptAndWait(QProcess& process, int limitMs = 15'000);

}  // namespace heteroscope

/// The call ended with this status; else its messages stand in the failure.
#define VERIFY_ENDED(call, expected)                                                                                  \
    do {                                                                                                              \
        const auto& ended_ = (call);                                                                                  \
        QVERIFY2(ended_.status == (expected),                                                                         \
                 qPrintable(QStringLiteral("exit %1: %2").arg(ended_.status).arg(QString::fromUtf8(ended_.messages)))); \
    } while (false)
