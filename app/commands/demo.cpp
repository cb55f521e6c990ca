// demo: the whole program without a window. Runs the sample workload for real under several policies, stores the
// comparison in history, and draws every page into a folder.
#include "app/commands/commands.h"

#include "app/interrupt.h"
#include "app/session.h"
#include "app/settings.h"
#include "ui/main_window.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QImage>
#include <QTemporaryDir>
#include <QTimer>

#include <array>
#include <unistd.h>

namespace heteroscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array pageNames{"monitor", "queue", "compare", "history", "devices"};
const std::vector<std::string> demoPolicies{"mct", "sjf", "least-loaded", "fifo", "round-robin"};

/// Runs the event loop until `holds` or a Ctrl+C or the limit. Was it in time?
bool spinUntil(const std::function<bool()>& holds, int limitMs) {
    QElapsedTimer waited;
    waited.start();
    QEventLoop loop;
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, &loop, [&] { if (holds() || interrupted() || waited.hasExpired(limitMs)) loop.quit(); });
    poll.start(20);
    if (!holds()) loop.exec();
    return holds();
}

void spinFor(int ms) {
    spinUntil([] { return false; }, ms);
}

/// Writes the window's pages as PNG, in both looks and both sizes.
class Painter {
public:
    Painter(QApplication& application, MainWindow& window, fs::path folder)
        : application_(application), window_(window), folder_(std::move(folder)) {}

    Status draw(int page) {
        window_.showPage(page);
        for (const bool dark : {false, true}) {
            Theme::apply(application_, dark ? Theme::Mode::Dark : Theme::Mode::Light);
            const std::string name = fmt::format("{}-{}", pageNames.at(static_cast<std::size_t>(page)), dark ? "dark" : "light");
            if (auto saved = save(QSize(1280, 800), 1, name); !saved) return saved;
            if (auto saved = save(QSize(1280, 720), 2, name + "@2x"); !saved) return saved;
        }
        return {};
    }

    const std::vector<std::string>& files() const { return files_; }

private:
    Status save(QSize size, int scale, const std::string& name) {
        window_.resize(size);
        spinFor(250);  // layouts and charts settle
        QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(scale);
        image.fill(Theme::color(Token::Window));
        window_.render(&image);
        const fs::path file = folder_ / (name + ".png");
        if (!image.save(QString::fromStdString(file.string())))
            return Error{ErrorKind::Io, fmt::format("Picture '{}' cannot be written; is the disk full or the folder read-only?", file.string())};
        files_.push_back(file.string());
        return {};
    }

    QApplication& application_;
    MainWindow& window_;
    fs::path folder_;
    std::vector<std::string> files_;
};

/// Everything that one demo needs while it goes on.
struct Demo {
    Invocation& invocation;
    Output& output;
    fs::path folder;
    std::string workload;
    json document{{"devices", json::array()}, {"comparison", nullptr}, {"pictures", json::array()}};

    int fail(const Error& error) {
        document["error"] = document::error(error);
        if (output.json) output.document(document);
        output.message(describeError(error));
        return interrupted() ? exit_status::interrupted : exit_status::failed;
    }
};

std::string sampleWorkload(const Paths& paths) {
    const auto files = paths.sampleWorkloads();
    for (const auto& file : files)
        if (file.filename() == "first-steps.workload.json") return file.string();
    return files.empty() ? std::string() : files.front().string();
}

Result<fs::path> pictureFolder(const std::string& asked) {
    const fs::path folder = fs::absolute(asked);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || ::access(folder.c_str(), W_OK | X_OK) != 0)
        return Error{ErrorKind::Io, fmt::format("Folder '{}' cannot be written; name another one with --output.", folder.string())};
    return folder;
}

Status startSession(Session& session, Demo& demo) {
    session.start();
    if (!spinUntil([&] { return session.engine() && !session.discovering(); }, 60'000))
        return Error{ErrorKind::TimedOut, "The devices did not answer within a minute; 'heteroscope doctor' may know why."};
    demo.output.print("Devices\n");
    for (const auto& device : session.devices()) {
        demo.document["devices"].push_back(document::device(device));
        demo.output.print(fmt::format("  {}  {}  ({})\n", device.id, device.name, device.runtimes.empty() ? "" : device.runtimes.front().version));
    }
    for (const auto& problem : session.problems()) demo.output.message(problem.what + ". " + problem.fix);
    if (session.devices().empty()) return noDeviceError(session.problems());
    return {};
}

Result<Comparison> compareHere(Session& session, QObject& context, Demo& demo, const Workload& workload) {
    ComparisonRequest request;
    request.name = workload.name;
    request.jobs = workload.jobSpecs();
    request.policies = demoPolicies;
    std::optional<Result<Comparison>> answer;
    session.compare(std::move(request), &context,
                    [&](const ComparisonProgress& progress) { demo.output.progress(progress.phase, progress.done, progress.total); },
                    [&](Result<Comparison> result) { answer = std::move(result); });
    while (!answer) {
        spinUntil([&] { return answer.has_value(); }, 60'000);
        if (interrupted()) session.cancelComparison();
    }
    demo.output.endProgress();
    if (interrupted()) return Error{ErrorKind::Cancelled, "Interrupted."};
    return std::move(*answer);
}

std::vector<JobId> submitLive(Session& session, QObject& context, const Workload& workload) {
    std::optional<Result<std::vector<JobId>>> answer;
    session.submit(workload.jobSpecs(), &context, [&](Result<std::vector<JobId>> ids) { answer = std::move(ids); });
    spinUntil([&] { return answer.has_value(); }, 30'000);
    return answer && *answer ? **answer : std::vector<JobId>{};
}

std::size_t endedOf(Session& session, const std::vector<JobId>& jobs) {
    std::size_t ended = 0;
    for (const JobId job : jobs) ended += isFinal(session.engine()->snapshot(job).state) ? 1 : 0;
    return ended;
}

/// Runs the workload in the window's own queue, round after round while pictures are taken of it at work.
Status drawPages(Session& session, MainWindow& window, Painter& painter, const Workload& workload, std::int64_t comparison) {
    std::vector<JobId> jobs;
    const auto keepBusy = [&] {
        if (jobs.empty() || endedOf(session, jobs) * 2 > jobs.size()) {
            const auto more = submitLive(session, window, workload);
            jobs.insert(jobs.end(), more.begin(), more.end());
        }
    };
    // Some seconds of work, so that the charts have something to show.
    for (int round = 0; round < 12 && !interrupted(); ++round) {
        keepBusy();
        spinFor(500);
    }
    if (auto drawn = painter.draw(MainWindow::MonitorIndex); !drawn) return drawn;
    keepBusy();
    if (!jobs.empty()) window.showJob(jobs[jobs.size() / 2]);
    if (auto drawn = painter.draw(MainWindow::QueueIndex); !drawn) return drawn;
    spinUntil([&] { return endedOf(session, jobs) == jobs.size(); }, 60'000);

    if (comparison > 0 && !window.pages().isEmpty()) emit window.pages().first()->openComparisonRequested(comparison);
    spinFor(500);
    for (const int page : {MainWindow::CompareIndex, MainWindow::HistoryIndex, MainWindow::DevicesIndex})
        if (auto drawn = painter.draw(page); !drawn) return drawn;
    return {};
}

int runDemo(Demo& demo, QApplication& application, const Paths& paths) {
    Session session(paths, "mct");
    MainWindow window(session);
    window.resize(1280, 800);
    Theme::apply(application, Theme::Mode::Light);
    window.show();
    const auto closed = [&](int status) {
        window.hide();
        session.shutdown(status);
        return status;
    };
    if (auto started = startSession(session, demo); !started) return closed(demo.fail(started.error()));
    const auto workload = readWorkload(demo.workload, *session.kernels());
    if (!workload) return closed(demo.fail(workload.error()));

    demo.output.print(fmt::format("\n“{}”, {} jobs, under {} policies, for real\n", workload->name, workload->jobs.size(), demoPolicies.size()));
    const auto comparison = compareHere(session, window, demo, *workload);
    if (!comparison) return closed(demo.fail(comparison.error()));
    if (demo.document["comparison"].is_null()) {
        demo.document["comparison"] = document::comparison(*comparison);
        printComparison(demo.output, demo.document["comparison"]);
        if (comparison->id > 0)
            demo.output.print(fmt::format("Stored as comparison {} in {}\n", comparison->id, paths.dataFolder.string()));
    }

    demo.output.message("Drawing the pages…");
    Painter painter(application, window, demo.folder);
    const Status drawn = drawPages(session, window, painter, *workload, comparison->id);
    demo.document["pictures"] = painter.files();
    if (!drawn) return closed(demo.fail(drawn.error()));
    if (interrupted()) return closed(demo.fail({ErrorKind::Cancelled, "Interrupted."}));
    if (demo.output.json) demo.output.document(demo.document);
    demo.output.print(fmt::format("\n{} pictures of the pages are in {}\n", painter.files().size(), demo.folder.string()));
    const bool failed = std::ranges::any_of(comparison->runs, [](const PolicyRun& run) { return run.failed > 0; });
    return closed(failed ? exit_status::failed : exit_status::done);
}

/// Another process has the data folder: the comparison that is kept runs there.
std::optional<int> compareAtHolder(Demo& demo) {
    demo.output.message("Another Heteroscope has this data folder; it runs and keeps the comparison. The pages are drawn from a folder of their own.");
    Request request;
    request.kind = Request::Kind::Compare;
    request.target = demo.workload;
    request.policies = demoPolicies;
    const bool documentWanted = std::exchange(demo.output.json, false);
    const int status = performAndPrint(demo.invocation, request, [&](const nlohmann::json& document) {
        demo.document["comparison"] = document;
        demo.output.json = documentWanted;
        printComparison(demo.output, document);
    });
    demo.output.json = documentWanted;
    return status == exit_status::done ? std::nullopt : std::optional(status);
}

int demo(Invocation& invocation, const std::string& output) {
    Demo demo{invocation, *invocation.output, {}, sampleWorkload(invocation.paths())};
    if (demo.workload.empty())
        return demo.fail({ErrorKind::Io, "The sample workloads were not found. Set HETEROSCOPE_DATA to the folder that holds them, or install the program again."});
    auto folder = pictureFolder(output);
    if (!folder) return demo.fail(folder.error());
    demo.folder = std::move(*folder);

    Paths paths = invocation.paths();
    QTemporaryDir apart;
    const auto isHeld = [&] {
        const auto lock = DataLock::tryTake(paths.dataFolder);
        return lock && !*lock;
    };
    if (isHeld()) {
        if (const auto status = compareAtHolder(demo)) return *status;
        paths.dataFolder = apart.path().toStdString();
    }
    // Nothing appears on a screen, even where there is one.
    if (::getenv("QT_QPA_PLATFORM") == nullptr) ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
    int argc = 1;
    std::array<char*, 2> argv{const_cast<char*>("heteroscope"), nullptr};
    QApplication application(argc, argv.data());
    settings::prepare();
    return runDemo(demo, application, paths);
}

}  // namespace

void addDemoCommand(CLI::App& app, Invocation& invocation) {
    const auto output = std::make_shared<std::string>("heteroscope-demo");
    CLI::App* command = app.add_subcommand("demo", "Finds the devices, runs a mixed workload under several policies, draws every page");
    command->add_option("--output", *output, "Folder for the pictures")->type_name("DIR")->capture_default_str();
    command->callback([&invocation, output] { invocation.action = [&invocation, output] { return demo(invocation, *output); }; });
}

}  // namespace heteroscope
