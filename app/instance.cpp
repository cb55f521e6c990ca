#include "app/instance.h"

#include "app/exit_deadline.h"
#include "app/holder.h"
#include "app/request_runner.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLocalSocket>
#include <QPointer>
#include <QTimer>

#include <atomic>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace heteroscope {
namespace {

using nlohmann::json;

constexpr int protocolVersion = 1;
constexpr qint64 longestRequest = 16 << 20;  // a list of a million job numbers fits
constexpr qint64 longestAnswer = qint64{1} << 30;
constexpr std::size_t mostConversations = 64;
constexpr auto longestClosing = std::chrono::seconds(5);

QByteArray line(const json& value) {
    return QByteArray::fromStdString(value.dump(-1, ' ', false, json::error_handler_t::replace)) + '\n';
}

QString toQString(const fs::path& path) { return QString::fromStdString(path.string()); }

// The socket lies in a folder of the user's own already; this also holds where somebody widened its rights.
bool isOurUser(const QLocalSocket& socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(static_cast<int>(socket.socketDescriptor()), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == ::getuid();
}

Error notReachable(const Paths& paths, long process, const std::string& why) {
    const std::string who = process > 0 ? fmt::format("Process {}", process) : std::string("Another process");
    return {ErrorKind::Io, fmt::format("{} uses the data folder '{}' and {}. End it, wait for it, or name another folder "
                                       "with --data-dir.",
                                       who, paths.dataFolder.string(), why)};
}

}  // namespace

fs::path socketFile(const Paths& paths) {
    const QByteArray folder = QByteArray::fromStdString(paths.dataFolder.string());
    const QByteArray name = QCryptographicHash::hash(folder, QCryptographicHash::Sha256).toHex().left(24);
    return paths.runtimeFolder / (name.toStdString() + ".sock");
}

Status prepareRuntimeFolder(const fs::path& folder) {
    ::mkdir(folder.c_str(), 0700);
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::getuid())
        return Error{ErrorKind::Io, fmt::format("'{}' is not a folder of yours, so other commands cannot reach this one. "
                                                "Set XDG_RUNTIME_DIR to a private folder.",
                                                folder.string())};
    if ((info.st_mode & 077) != 0) ::chmod(folder.c_str(), 0700);
    return {};
}

/// One connection: reads a request, runs its handler on a thread, sends what comes of it. Dies with its socket.
class InstanceServer::Conversation : public QObject {
public:
    Conversation(InstanceServer& server, QLocalSocket* socket) : QObject(&server), server_(server), socket_(socket) {
        socket_->setParent(this);
        connect(socket_, &QLocalSocket::readyRead, this, [this] { read(); });
        connect(socket_, &QLocalSocket::disconnected, this, [this] { gone(); });
    }

    ~Conversation() override {
        stop_ = true;
        if (worker_.joinable()) worker_.join();
    }

private:
    void read() {
        while (socket_ && socket_->canReadLine()) handle(socket_->readLine());
        if (socket_ && socket_->bytesAvailable() > longestRequest) refuse("The request is too long");
    }

    void handle(const QByteArray& text) {
        const json message = json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
        if (!message.is_object()) return refuse("The request is not a JSON object");
        if (started_) {
            if (message.contains("cancel")) stop_ = true;
            return;
        }
        if (message.value("heteroscope", json()) != json(protocolVersion))
            return refuse("The two programs are of different versions; start the newer one again");
        auto request = Request::fromJson(message.value("request", json()));
        if (!request) return refuse(request.error().message);
        started_ = true;
        if (request->kind == Request::Kind::Raise) return raise(*request);
        start(std::move(*request));
    }

    void raise(const Request& request) {
        if (!server_.hasWindow_) return refuse("A command is at work there and has no window");
        QStringList files;
        for (const auto& file : request.files) files.append(QString::fromStdString(file));
        emit server_.raiseRequested(files);
        answer({});
    }

    void start(Request request) {
        ++server_.openRequests_;
        counted_ = true;
        Reporter reporter;
        reporter.stop = [this] { return stop_.load(); };
        reporter.message = [this](const std::string& text) { post({{"message", text}}); };
        reporter.progress = [this](const std::string& text, std::size_t done, std::size_t total) {
            // Asked 20 times a second by the wait: only what changed is sent.
            const std::lock_guard lock(progressMutex_);
            if (text == lastText_ && done == lastDone_) return;
            lastText_ = text;
            lastDone_ = done;
            post({{"progress", {{"text", text}, {"done", done}, {"total", total}}}});
        };
        worker_ = std::thread([this, request = std::move(request), reporter] {
            Answer result = server_.handler_(request, reporter);
            QMetaObject::invokeMethod(this, [this, result = std::move(result)] { answer(result); }, Qt::QueuedConnection);
        });
    }

    // Worker's thread: this object joins it before it dies, so the call is safe.
    void post(json message) {
        QMetaObject::invokeMethod(this, [this, bytes = line(message)] { send(bytes); }, Qt::QueuedConnection);
    }

    void send(const QByteArray& bytes) {
        if (socket_ && socket_->state() == QLocalSocket::ConnectedState) socket_->write(bytes);
    }

    void answer(const Answer& result) {
        send(line({{"answer", {{"exit", result.exitStatus}, {"document", result.document}}}}));
        if (worker_.joinable()) worker_.join();
        answered_ = true;
        if (socket_) socket_->disconnectFromServer();  // sends what is queued first
        uncount();
        if (!socket_) deleteLater();
    }

    void refuse(const std::string& why) {
        answer(refused(exit_status::badInput, Error{ErrorKind::InvalidInput, why + "."}));
    }

    void gone() {
        stop_ = true;
        socket_->deleteLater();
        socket_ = nullptr;
        if (!counted_ || answered_) deleteLater();
    }

    void uncount() {
        if (!std::exchange(counted_, false)) return;
        if (--server_.openRequests_ == 0) emit server_.becameIdle();
    }

    InstanceServer& server_;
    QLocalSocket* socket_;
    std::thread worker_;
    std::atomic<bool> stop_{false};
    bool started_ = false, counted_ = false, answered_ = false;
    std::mutex progressMutex_;
    std::string lastText_;                         // guarded by progressMutex_
    std::size_t lastDone_ = ~std::size_t{0};       // guarded by progressMutex_
};

InstanceServer::InstanceServer(const Paths& paths, Handler handler, QObject* parent)
    : QObject(parent), socket_(socketFile(paths)), folder_(paths.runtimeFolder), handler_(std::move(handler)) {
    server_.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&server_, &QLocalServer::newConnection, this, &InstanceServer::accept);
}

InstanceServer::~InstanceServer() {
    server_.close();
    // Conversations stop together, then each waits for its own.
    const auto conversations = findChildren<QObject*>(QString(), Qt::FindDirectChildrenOnly);
    qDeleteAll(conversations);
}

Status InstanceServer::listen() {
    if (auto prepared = prepareRuntimeFolder(folder_); !prepared) return prepared;
    // We hold the folder's lock, so a socket of this name is a dead process's.
    QLocalServer::removeServer(toQString(socket_));
    if (!server_.listen(toQString(socket_)))
        return Error{ErrorKind::Io, fmt::format("Socket '{}' cannot be made: {}. Other commands cannot reach this one.",
                                                socket_.string(), server_.errorString().toStdString())};
    return {};
}

void InstanceServer::accept() {
    while (QLocalSocket* socket = server_.nextPendingConnection()) {
        const auto open = findChildren<QObject*>(QString(), Qt::FindDirectChildrenOnly).size();
        if (!isOurUser(*socket) || static_cast<std::size_t>(open) > mostConversations) {
            delete socket;
            continue;
        }
        new Conversation(*this, socket);
    }
}

std::optional<Answer> askHolder(const Paths& paths, const Request& request, const Reporter& reporter) {
    fs::path address = readHolderAddress(paths.dataFolder).socket;
    if (address.empty()) address = socketFile(paths);
    QLocalSocket socket;
    socket.connectToServer(toQString(address));
    if (!socket.waitForConnected(2000)) return std::nullopt;
    if (!isOurUser(socket)) return std::nullopt;
    socket.write(line({{"heteroscope", protocolVersion}, {"request", request.toJson()}}));

    bool cancelled = false;
    for (;;) {
        if (!cancelled && reporter.stop()) {
            socket.write(line({{"cancel", true}}));
            cancelled = true;
        }
        while (socket.canReadLine()) {
            const QByteArray text = socket.readLine();
            const json message = json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
            if (!message.is_object()) continue;
            if (const auto found = message.find("answer"); found != message.end())
                return Answer{found->value("exit", exit_status::failed), found->value("document", json::object())};
            if (const auto found = message.find("message"); found != message.end() && found->is_string())
                reporter.message(found->get<std::string>());
            if (const auto found = message.find("progress"); found != message.end() && found->is_object())
                reporter.progress(found->value("text", std::string()), found->value("done", std::size_t{0}),
                                  found->value("total", std::size_t{0}));
        }
        const bool lost = socket.state() != QLocalSocket::ConnectedState && !socket.canReadLine();
        if (lost || socket.bytesAvailable() > longestAnswer)
            return refused(exit_status::failed,
                           Error{ErrorKind::Io, "The program that holds the data folder ended before it answered. What it "
                                                "had finished is in the history; 'heteroscope queue' shows what is left."});
        socket.bytesToWrite() > 0 ? socket.waitForBytesWritten(50) : socket.waitForReadyRead(50);
    }
}

namespace {

std::vector<JobId> unfinishedJobs(const Engine& engine) {
    std::vector<JobId> ids;
    for (const auto& job : engine.snapshots())
        if (!isFinal(job.state)) ids.push_back(job.id);
    return ids;
}

/// Runs `work` on a thread of its own while this thread's event loop serves other processes.
void whileServing(const std::function<void()>& work) {
    QEventLoop loop;
    std::thread worker([&] {
        work();
        QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection);
    });
    loop.exec();
    worker.join();
}

// Others may have handed over jobs while ours ran: they are not left in the lurch.
void stayForOthers(Holder& holder, const InstanceServer& server, const Reporter& reporter) {
    bool said = false;
    while (!reporter.stop()) {
        const auto ids = holder.engine().paused() ? std::vector<JobId>{} : unfinishedJobs(holder.engine());
        if (ids.empty() && server.openRequests() == 0) return;
        if (!std::exchange(said, true)) reporter.message("Staying until the jobs that other commands handed over have ended.");
        whileServing([&] {
            if (!ids.empty()) holder.engine().wait(ids, reporter.stop);
            else std::this_thread::sleep_for(std::chrono::milliseconds(50));
        });
    }
}

std::optional<Error> cannotBeHere(const Paths& paths, const Request& request) {
    if (request.kind == Request::Kind::Submit)
        return Error{ErrorKind::InvalidInput, fmt::format("No program is open on '{}' that could take jobs. Start 'heteroscope' "
                                                          "first, or use 'heteroscope run'.",
                                                          paths.dataFolder.string())};
    if (request.kind == Request::Kind::Queue && request.action == "pause")
        return Error{ErrorKind::InvalidInput, "No program is open, so there is no queue to pause."};
    return std::nullopt;
}

void performHere(const Paths& paths, std::optional<DataLock> lock, const Request& request, const Reporter& reporter,
                 Answer& answer, const std::function<void(const Answer&)>& deliver) {
    std::optional<ExitDeadline> deadline;  // made first: it watches over the end of all that follows
    Holder holder({paths, "mct", false});
    holder.open();
    for (const auto& notice : holder.notices()) reporter.message(notice.what + (notice.fix.empty() ? "" : " " + notice.fix));
    if (const auto left = holder.leftJobs().size(); left > 0 && request.kind != Request::Kind::Queue)
        reporter.message(fmt::format("{} jobs wait that an earlier session left; 'heteroscope queue' lists them.", left));
    struct Closing {
        std::optional<ExitDeadline>& deadline;
        const Answer& answer;
        ~Closing() { deadline.emplace(longestClosing, answer.exitStatus); }
    };
    InstanceServer server(paths, [&](const Request& other, const Reporter& to) { return carryOut(other, holder, to); });
    const Closing closing{deadline, answer};
    if (lock) {
        if (const auto listening = server.listen()) lock->announce(socketFile(paths));
        else reporter.message(listening.error().message);
    }
    whileServing([&] { answer = carryOut(request, holder, reporter); });
    deliver(answer);
    stayForOthers(holder, server, reporter);
}

}  // namespace

Answer perform(const Paths& paths, const Request& request, const Reporter& reporter,
               const std::function<void(const Answer&)>& deliver) {
    const auto give = [&](Answer answer) {
        deliver(answer);
        return answer;
    };
    QElapsedTimer waited;
    waited.start();
    for (;;) {
        auto lock = DataLock::tryTake(paths.dataFolder);
        if (!lock) reporter.message(lock.error().message);
        if (!lock || *lock) {
            if (const auto error = cannotBeHere(paths, request)) return give(refused(exit_status::badInput, *error));
            Answer answer;
            performHere(paths, lock ? std::move(*lock) : std::nullopt, request, reporter, answer, deliver);
            return answer;
        }
        if (auto answer = askHolder(paths, request, reporter)) return give(std::move(*answer));
        // Its holder is starting or ending: the one will listen soon, the other give the lock back.
        if (reporter.stop()) return give({exit_status::interrupted, nlohmann::json::object()});
        if (waited.hasExpired(15'000))
            return give(refused(exit_status::failed,
                                notReachable(paths, readHolderAddress(paths.dataFolder).process, "does not answer")));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace heteroscope
