#include "app/session.h"

#include "app/exit_deadline.h"
#include "app/request_runner.h"
#include "app/settings.h"

#include <fmt/format.h>

#include <QFileInfo>
#include <QPointer>

namespace heteroscope {
namespace {

constexpr auto telemetryInterval = std::chrono::seconds(1);
constexpr auto longestClosing = std::chrono::seconds(5);

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

}  // namespace

Session::Session(Paths paths, std::string policy, QObject* parent)
    : Services(parent), paths_(std::move(paths)), policy_(std::move(policy)) {
    workers_.setMaxThreadCount(4);
    retry_.setInterval(1000);
    connect(&retry_, &QTimer::timeout, this, &Session::takeFolder);
}

Session::~Session() { shutdown(0); }

void Session::onWindow(std::function<void()> then) {
    QMetaObject::invokeMethod(this, std::move(then), Qt::QueuedConnection);
}

void Session::start() { takeFolder(); }

void Session::takeFolder() {
    auto taken = DataLock::tryTake(paths_.dataFolder);
    if (taken && !*taken) {
        if (!std::exchange(saidHeld_, true)) {
            const long process = readHolderAddress(paths_.dataFolder).process;
            emit startFailed(tr("A command%1 is using the data folder '%2'. This window goes on by itself when it has ended.")
                                 .arg(process > 0 ? tr(" (process %1)").arg(process) : QString(), dataFolder()));
            retry_.start();
        }
        return;
    }
    retry_.stop();
    if (taken) {
        lock_ = std::move(*taken);
    } else {
        emit noticeRaised(text(taken.error().message), tr("Jobs run, but are not kept."));
    }
    holder_ = std::make_unique<Holder>(Holder::Options{paths_, policy_, false});
    starter_ = std::thread([this] { open(); });
}

void Session::open() {
    holder_->open();
    auto left = holder_->leftJobs();
    onWindow([this, left = std::move(left)]() mutable {
        leftJobs_ = std::move(left);
        beginWork();
    });
    holder_->ensureDevices();
    onWindow([this] { takeDevices(true); });
}

void Session::beginWork() {
    if (closed_) return;
    started_ = true;
    server_ = std::make_unique<InstanceServer>(
        paths_, [this](const Request& request, const Reporter& reporter) {
            Answer answer = carryOut(request, *holder_, reporter);
            if (request.kind == Request::Kind::Queue) refreshLeftJobs();
            return answer;
        });
    server_->setHasWindow(true);
    connect(server_.get(), &InstanceServer::raiseRequested, this, &Session::filesRequested);
    if (lock_) {
        if (const Status listening = server_->listen()) lock_->announce(socketFile(paths_));
        else emit noticeRaised(text(listening.error().message), {});
    }
    if (History* history = holder_->history())
        history->setOnProblem([this](std::optional<Error> error) {
            if (!error) return;
            onWindow([this, message = text(error->message)] {
                emit noticeRaised(message, tr("Jobs go on; their rows are written when the folder can be written again."));
            });
        });
    emit started();
    for (const auto& notice : holder_->notices()) emit noticeRaised(text(notice.what), text(notice.fix));
    if (!leftJobs_.empty()) emit leftJobsChanged();
    observing_ = holder_->engine().observe([this](const EngineUpdate& update) {
        onWindow([this, update] { if (!closed_) emit updated(update); });
    });
}

void Session::takeDevices(bool whole) {
    if (closed_) return;
    devices_.clear();
    std::vector<std::weak_ptr<Device>> watched;
    for (const auto& device : holder_->devices()) {
        devices_.push_back(device->info());
        watched.push_back(device);
    }
    problems_ = holder_->problems();
    discovering_ = !whole;
    if (!sampler_) {
        sampler_ = std::make_unique<TelemetrySampler>();
        sampler_->setDevices(std::move(watched));
        sampler_->start(telemetryInterval, [this](const std::vector<TelemetryFrame>& frames) {
            onWindow([this, frames] { if (!closed_) emit telemetryTaken(frames); });
        });
    } else {
        sampler_->setDevices(std::move(watched));
    }
    emit devicesChanged();
}

void Session::shutdown(int exitStatus) {
    if (std::exchange(closed_, true)) return;
    const ExitDeadline deadline(longestClosing, exitStatus);
    retry_.stop();
    if (started_) settings::setPolicy(holder_->engine().policy());
    if (started_) holder_->cancelComparison();
    server_.reset();  // stops what other commands wait for
    observing_.reset();
    sampler_.reset();
    if (starter_.joinable()) starter_.join();
    workers_.waitForDone();
    holder_.reset();
}

Engine* Session::engine() { return started_ && holder_ ? &holder_->engine() : nullptr; }
HistoryReader* Session::history() { return started_ && holder_ ? &holder_->reader() : nullptr; }

std::shared_ptr<const KernelCatalogue> Session::kernels() {
    static const auto none = std::make_shared<const KernelCatalogue>();
    return started_ && holder_ ? holder_->kernels() : none;
}

QString Session::dataFolder() { return text(paths_.dataFolder.string()); }

QStringList Session::sampleWorkloads() {
    QStringList files;
    for (const auto& file : paths_.sampleWorkloads()) files.append(text(file.string()));
    return files;
}

template <class T>
void Session::ask(QObject* context, std::function<Result<T>()> work, std::function<void(Result<T>)> done) {
    const QPointer<QObject> alive(context);  // read on the window's thread only
    if (!started_ || closed_) {
        onWindow([alive, done] {
            if (alive) done(Error{ErrorKind::Unsupported, "The program is still starting; try again in a moment."});
        });
        return;
    }
    workers_.start([this, alive, work = std::move(work), done = std::move(done)] {
        auto result = std::make_shared<Result<T>>(work());
        onWindow([this, alive, done, result] { if (alive && !closed_) done(std::move(*result)); });
    });
}

void Session::submit(std::vector<JobSpec> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) {
    ask<std::vector<JobId>>(context, [this, jobs = std::move(jobs)] { return holder_->submit(jobs); }, std::move(done));
}

void Session::loadWorkload(QString file, QObject* context, std::function<void(Result<Workload>)> done) {
    ask<Workload>(context, [this, file] { return readWorkload(file.toStdString(), *holder_->kernels()); }, std::move(done));
}

void Session::loadOwnSource(OwnSource source, QObject* context, std::function<void(Result<KernelPtr>)> done) {
    ask<KernelPtr>(context, [source = std::move(source)] { return makeOwnKernel(source); }, std::move(done));
}

void Session::inspectSource(QString file, QStringList options, QStringList includes, QObject* context,
                            std::function<void(Result<Program>)> done) {
    OwnSource source;
    source.file = file.toStdString();
    for (const auto& option : options) source.options.push_back(option.toStdString());
    for (const auto& folder : includes) source.includes.emplace_back(folder.toStdString());
    ask<Program>(context,
                 [this, source]() -> Result<Program> {
                     const auto program = bareSource(source);
                     if (!program) return program.error();
                     return holder_->inspect(*program);
                 },
                 std::move(done));
}

void Session::runAgain(std::vector<JobId> jobs, QObject* context, std::function<void(Result<std::vector<JobId>>)> done) {
    ask<std::vector<JobId>>(context, [this, jobs = std::move(jobs)] { return holder_->runAgain(jobs); }, std::move(done));
}

void Session::compare(ComparisonRequest request, QObject* context, std::function<void(ComparisonProgress)> progress,
                      std::function<void(Result<Comparison>)> done) {
    const QPointer<QObject> alive(context);
    const auto report = [this, alive, progress = std::move(progress)](const ComparisonProgress& now) {
        onWindow([this, alive, progress, now] { if (alive && !closed_ && progress) progress(now); });
    };
    ask<Comparison>(context, [this, request = std::move(request), report] { return holder_->compare(request, {}, report); },
                    std::move(done));
}

void Session::cancelComparison() {
    if (started_) holder_->cancelComparison();
}

bool Session::comparing() { return started_ && holder_->comparing(); }

void Session::renameComparison(std::int64_t id, QString name) {
    if (started_ && holder_->history()) holder_->history()->renameComparison(id, name.toStdString());
}

void Session::deleteComparison(std::int64_t id) {
    if (started_ && holder_->history()) holder_->history()->deleteComparison(id);
}

void Session::deleteJobs(std::vector<JobId> jobs) {
    if (started_ && holder_->history()) holder_->history()->deleteJobs(std::move(jobs));
}

void Session::refreshLeftJobs() {
    onWindow([this, left = holder_->leftJobs()]() mutable {
        leftJobs_ = std::move(left);
        emit leftJobsChanged();
    });
}

void Session::resumeLeftJobs() {
    if (!started_ || closed_) return;
    workers_.start([this] {
        const auto resumed = holder_->resumeLeftJobs();
        refreshLeftJobs();
        if (resumed) return;
        onWindow([this, message = text(resumed.error().message)] { emit noticeRaised(tr("Jobs left behind could not be resumed: %1").arg(message), {}); });
    });
}

void Session::dropLeftJobs() {
    if (!started_ || closed_) return;
    workers_.start([this] {
        holder_->dropLeftJobs();
        refreshLeftJobs();
    });
}

void Session::rescan() {
    if (!started_ || closed_ || std::exchange(discovering_, true)) return;
    emit devicesChanged();
    workers_.start([this] {
        holder_->rescan();
        onWindow([this] { takeDevices(true); });
    });
}

}  // namespace heteroscope
