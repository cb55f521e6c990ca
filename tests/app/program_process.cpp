#include "program_process.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <csignal>
#include <sys/types.h>

namespace heteroscope {
namespace {

QString program() { return qEnvironmentVariable("HETEROSCOPE_BIN"); }

}  // namespace

ProgramRunner::ProgramRunner() : environment(QProcessEnvironment::systemEnvironment()) {
    QDir().mkpath(path(QStringLiteral("run")));
    QFile::setPermissions(path(QStringLiteral("run")), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), path(QStringLiteral("run")));
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), path(QStringLiteral("config")));
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
}

QStringList ProgramRunner::withFolder(const QStringList& arguments) const {
    return QStringList{QStringLiteral("--data-dir"), dataFolder()} + arguments;
}

Finished ProgramRunner::run(const QStringList& arguments, int limitMs) const {
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(folder_.path());
    process.start(program(), withFolder(arguments));
    Finished finished;
    const bool ended = process.waitForFinished(limitMs);
    if (!ended) {
        process.kill();
        process.waitForFinished();
    }
    finished.status = ended && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    finished.answer = process.readAllStandardOutput();
    finished.messages = process.readAllStandardError();
    finished.document = nlohmann::json::parse(finished.answer.toStdString(), nullptr, false);
    return finished;
}

Finished ProgramRunner::json(QStringList arguments, int limitMs) const {
    arguments.append(QStringLiteral("--json"));
    return run(arguments, limitMs);
}

std::unique_ptr<QProcess> ProgramRunner::start(const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(environment);
    process->setWorkingDirectory(folder_.path());
    process->start(program(), withFolder(arguments));
    process->waitForStarted();
    return process;
}

std::unique_ptr<QProcess> ProgramRunner::startWindow(const QStringList& files) const {
    auto window = start(files);
    // Its socket appears when it takes requests.
    const QDir sockets(path(QStringLiteral("run/heteroscope")));
    QElapsedTimer waited;
    waited.start();
    while (window->state() == QProcess::Running && !waited.hasExpired(30'000)) {
        QDir now(sockets);
        if (!now.entryList({QStringLiteral("*.sock")}, QDir::System | QDir::Files | QDir::NoDotAndDotDot).isEmpty()) break;
        window->waitForFinished(20);
    }
    return window;
}

QString ProgramRunner::write(const QString& name, const QByteArray& content) const {
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) qFatal("%s", qPrintable(file.errorString()));
    return file.fileName();
}

bool interruptAndWait(QProcess& process, int limitMs) {
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    return process.waitForFinished(limitMs);
}

}  // namespace heteroscope
