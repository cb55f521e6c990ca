// No command: the window.
#include "app/commands/commands.h"

#include "app/data_lock.h"
#include "app/instance.h"
#include "app/interrupt.h"
#include "app/session.h"
#include "app/settings.h"
#include "ui/main_window.h"

#include <fmt/format.h>

#include <QApplication>
#include <QIcon>
#include <QSocketNotifier>
#include <QTimer>

#include <cstdlib>
#include <filesystem>

namespace heteroscope {
namespace {

bool hasDisplay() {
    for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (const char* value = std::getenv(variable); value && *value) return true;
    return false;
}

/// True when a window that is open on this folder came to the front instead of a new one.
bool raiseOpenWindow(const Paths& paths, const std::vector<std::string>& files) {
    {
        const auto lock = DataLock::tryTake(paths.dataFolder);
        if (!lock || *lock) return false;
    }
    Request request;
    request.kind = Request::Kind::Raise;
    request.files = files;
    Reporter reporter;
    reporter.progress = [](const std::string&, std::size_t, std::size_t) {};
    reporter.message = [](const std::string&) {};
    reporter.stop = [] { return interrupted(); };
    // A window that has only just started may not listen yet.
    for (int tries = 0; tries < 20 && !interrupted(); ++tries) {
        const auto answer = askHolder(paths, request, reporter);
        if (answer) return answer->exitStatus == exit_status::done;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
}

}  // namespace

int openWindow(Invocation& invocation, const std::vector<std::string>& files, int& argc, char** argv) {
    std::vector<std::string> absolute;
    for (const auto& file : files) {
        std::error_code error;
        if (!std::filesystem::exists(file, error)) {
            fmt::print(stderr, "heteroscope: '{}' is neither a file nor a command; 'heteroscope --help' lists the commands.\n", file);
            return exit_status::badInput;
        }
        absolute.push_back(absolutePath(file));
    }
    if (invocation.json) {
        fmt::print(stderr, "heteroscope: --json goes with a command; the window prints nothing.\n");
        return exit_status::badInput;
    }
    if (!hasDisplay()) {
        fmt::print(stderr, "heteroscope: there is no display for the window (neither DISPLAY nor WAYLAND_DISPLAY is set).\n"
                           "'heteroscope demo' shows the program without one; 'heteroscope --help' lists the commands.\n");
        return exit_status::failed;
    }

    watchInterrupts();
    QApplication application(argc, argv);
    settings::prepare();
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Heteroscope"));
    QGuiApplication::setDesktopFileName(QStringLiteral("org.heteroscope.Heteroscope"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/heteroscope.svg")));
    const Paths& paths = invocation.paths();
    if (raiseOpenWindow(paths, absolute)) {
        fmt::print(stderr, "Heteroscope is open on '{}' already; its window was raised.\n", paths.dataFolder.string());
        return exit_status::done;
    }

    Theme::apply(application, MainWindow::chosenTheme());
    Session session(paths, settings::policy());
    int status = exit_status::done;
    {
        MainWindow window(session);
        QSocketNotifier stop(interruptDescriptor(), QSocketNotifier::Read);
        QObject::connect(&stop, &QSocketNotifier::activated, &window, [&] {
            stop.setEnabled(false);
            status = exit_status::interrupted;
            window.close();
            QCoreApplication::quit();
        });
        if (!absolute.empty()) {
            QStringList names;
            for (const auto& file : absolute) names.append(QString::fromStdString(file));
            QObject::connect(&session, &Services::started, &window, [&window, names] { window.openFiles(names); });
        }
        window.show();
        // The window is on screen before anything is asked of a device or a database.
        QTimer::singleShot(0, &session, [&session] { session.start(); });
        const int loop = QApplication::exec();
        if (status == exit_status::done) status = loop;
        window.hide();
        session.shutdown(status);
    }
    return status;
}

}  // namespace heteroscope
