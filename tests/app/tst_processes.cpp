// Several processes on one data folder: one holds it, the others hand it their work or raise its window.
#include "program_process.h"

#include "app/data_lock.h"

#include <QDir>
#include <QElapsedTimer>
#include <QLocalSocket>
#include <QTest>

#include <csignal>
#include <sys/stat.h>
#include <sys/types.h>

using namespace heteroscope;

class ProcessesTest : public QObject {
    Q_OBJECT
private slots:
    void oneProcessLocksAFolder();
    void commandsHandTheirJobsToTheWindow();
    void submitReturnsAndQueueIsSteered();
    void aSecondWindowRaisesTheFirst();
    void interruptCancelsAndSays130();
    void interruptCancelsWhatTheHolderRuns();
    void theWindowEndsSoon();
    void twoCommandsAtOnceBothEndWell();
    void strangersAreRefused_data();
    void strangersAreRefused();
    void aReadOnlyFolderStillRuns();
};

namespace {

QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }

// Some seconds on any machine; many short jobs, so that an interrupt is felt at once.
QStringList longRun() { return words("run mandelbrot -p width=1024 -p height=1024 -p iterations=400 --count 400"); }

}  // namespace

void ProcessesTest::oneProcessLocksAFolder() {
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath(QStringLiteral("new/data")).toStdString();
    {
        auto first = DataLock::tryTake(path);
        QVERIFY(first && first->has_value());
        (*first)->announce("/run/some.sock");
        const auto second = DataLock::tryTake(path);
        QVERIFY(second && !second->has_value());
        QCOMPARE(readHolderAddress(path).socket, std::filesystem::path("/run/some.sock"));
        QCOMPARE(readHolderAddress(path).process, static_cast<long>(QCoreApplication::applicationPid()));
    }
    const auto third = DataLock::tryTake(path);
    QVERIFY(third && third->has_value());
    QVERIFY(!DataLock::tryTake("/proc/no/such/folder"));
}

void ProcessesTest::commandsHandTheirJobsToTheWindow() {
    ProgramRunner program;
    const auto window = program.startWindow();
    QCOMPARE(window->state(), QProcess::Running);
    const auto run = program.json(words("run square -p n=1000 --check --count 3"));
    VERIFY_ENDED(run, 0);
    QCOMPARE(run.document["jobs"].size(), std::size_t{3});
    const auto refused = program.json(words("run square -p n=0"));
    VERIFY_ENDED(refused, 2);
    const auto compared = program.json(words("compare") << QStringLiteral(PROJECT_DIR "/resources/workloads/square-chunks.workload.json") << words("--policies fifo,mct"));
    VERIFY_ENDED(compared, 0);
    QCOMPARE(compared.document["runs"].size(), std::size_t{2});
    // Reading works beside it, and sees what was committed.
    QCOMPARE(program.json(words("history list --where kernel=square")).document["jobs"].size(), std::size_t{3});
    QCOMPARE(window->state(), QProcess::Running);
    QVERIFY(interruptAndWait(*window));
    QCOMPARE(window->exitCode(), 130);
}

void ProcessesTest::submitReturnsAndQueueIsSteered() {
    ProgramRunner program;
    const auto window = program.startWindow();
    VERIFY_ENDED(program.run(words("queue pause")), 0);
    const auto submitted = program.json(words("submit square -p n=1000 --count 5"));
    VERIFY_ENDED(submitted, 0);
    QCOMPARE(submitted.document["jobs"].size(), std::size_t{5});
    auto queue = program.json(words("queue list"));
    QCOMPARE(queue.document["paused"], nlohmann::json(true));
    QCOMPARE(queue.document["jobs"].size(), std::size_t{5});

    const auto dropped = QString::fromStdString(queue.document["jobs"][0]["id"].dump());
    VERIFY_ENDED(program.run(words("queue drop") << dropped), 0);
    QCOMPARE(program.json(words("queue")).document["jobs"].size(), std::size_t{4});
    VERIFY_ENDED(program.run(words("queue drop") << dropped), 2);

    VERIFY_ENDED(program.run(words("queue resume")), 0);
    const auto done = [&] { return program.json(words("history list --where state=succeeded")).document["jobs"].size() == 4; };
    QTRY_VERIFY_WITH_TIMEOUT(done(), 20'000);
    QCOMPARE(program.json(words("history list --where state=cancelled")).document["jobs"].size(), std::size_t{1});
    QVERIFY(interruptAndWait(*window));
}

void ProcessesTest::aSecondWindowRaisesTheFirst() {
    ProgramRunner program;
    const auto window = program.startWindow();
    QElapsedTimer waited;
    waited.start();
    const auto second = program.run({QStringLiteral(PROJECT_DIR "/resources/workloads/square-chunks.workload.json")});
    VERIFY_ENDED(second, 0);
    QVERIFY(waited.elapsed() < 10'000);
    QVERIFY2(second.messages.contains("raised"), second.messages.constData());
    QCOMPARE(window->state(), QProcess::Running);
    QVERIFY(interruptAndWait(*window));
}

void ProcessesTest::interruptCancelsAndSays130() {
    ProgramRunner program;
    const auto run = program.start(longRun() << QStringLiteral("--json"));
    const auto running = [&] { return !program.json(words("history list --where state=succeeded")).document["jobs"].empty(); };
    QTRY_VERIFY_WITH_TIMEOUT(running() || run->state() != QProcess::Running, 30'000);
    QCOMPARE(run->state(), QProcess::Running);
    QVERIFY(interruptAndWait(*run));
    QCOMPARE(run->exitStatus(), QProcess::NormalExit);
    QCOMPARE(run->exitCode(), 130);
    const auto document = nlohmann::json::parse(run->readAllStandardOutput().toStdString(), nullptr, false);
    QCOMPARE(document["jobs"].size(), std::size_t{400});
    std::size_t cancelled = 0;
    for (const auto& job : document["jobs"]) cancelled += job["state"] == "cancelled" ? 1 : 0;
    QVERIFY(cancelled > 0);
    QCOMPARE(program.json(words("history list --where state=cancelled --limit 1000")).document["jobs"].size(), cancelled);
}

void ProcessesTest::interruptCancelsWhatTheHolderRuns() {
    ProgramRunner program;
    const auto window = program.startWindow();
    const auto run = program.start(longRun() << QStringLiteral("--json"));
    const auto queued = [&] { return program.json(words("queue")).document["jobs"].size() > 300; };
    QTRY_VERIFY_WITH_TIMEOUT(queued(), 30'000);
    QVERIFY(interruptAndWait(*run));
    QCOMPARE(run->exitCode(), 130);
    QVERIFY(program.json(words("queue")).document["jobs"].empty());
    // A client that is killed has its jobs cancelled too.
    const auto killed = program.start(longRun() << QStringLiteral("--json"));
    QTRY_VERIFY_WITH_TIMEOUT(queued(), 30'000);
    killed->kill();
    QVERIFY(killed->waitForFinished());
    QTRY_VERIFY_WITH_TIMEOUT(program.json(words("queue")).document["jobs"].empty(), 15'000);
    QVERIFY(interruptAndWait(*window));
}

void ProcessesTest::theWindowEndsSoon() {
    ProgramRunner program;
    const auto window = program.startWindow();
    VERIFY_ENDED(program.json(words("submit mandelbrot -p width=1024 -p height=1024 -p iterations=400 --count 400")), 0);
    QElapsedTimer waited;
    waited.start();
    QVERIFY(interruptAndWait(*window, 10'000));
    QVERIFY2(waited.elapsed() < 8'000, qPrintable(QString::number(waited.elapsed())));
    QCOMPARE(window->exitCode(), 130);
    // What waited is offered again.
    QVERIFY(!program.json(words("queue")).document["left"].empty());
}

void ProcessesTest::twoCommandsAtOnceBothEndWell() {
    ProgramRunner program;
    const auto first = program.start(words("run saxpy -p n=500000 --count 40 --json"));
    const auto second = program.start(words("run square -p n=500000 --count 40 --json"));
    QVERIFY(first->waitForFinished(60'000));
    QVERIFY(second->waitForFinished(60'000));
    for (const auto* process : {first.get(), second.get()}) {
        QVERIFY2(process->exitStatus() == QProcess::NormalExit && process->exitCode() == 0, const_cast<QProcess*>(process)->readAllStandardError().constData());
    }
    QCOMPARE(program.json(words("history list --where state=succeeded --limit 100")).document["jobs"].size(), std::size_t{80});
}

void ProcessesTest::strangersAreRefused_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("no JSON") << QByteArray("GET / HTTP/1.1\r\n");
    QTest::newRow("an array") << QByteArray("[1,2,3]\n");
    QTest::newRow("another version") << QByteArray("{\"heteroscope\":99,\"request\":{\"kind\":\"run\"}}\n");
    QTest::newRow("an unknown request") << QByteArray("{\"heteroscope\":1,\"request\":{\"kind\":\"format-disk\"}}\n");
    QTest::newRow("a wrong type") << QByteArray("{\"heteroscope\":1,\"request\":{\"kind\":\"run\",\"count\":\"many\"}}\n");
    QTest::newRow("deep nesting") << QByteArray("[").repeated(100'000) + '\n';
}

void ProcessesTest::strangersAreRefused() {
    QFETCH(QByteArray, line);
    ProgramRunner program;
    const auto window = program.startWindow();
    // The socket is there a moment before its address is written down.
    QTRY_VERIFY(!readHolderAddress(program.dataFolder().toStdString()).socket.empty());
    const auto address = readHolderAddress(program.dataFolder().toStdString());
    struct stat info {};
    QCOMPARE(::stat(address.socket.parent_path().c_str(), &info), 0);
    QCOMPARE(info.st_mode & 077u, 0u);

    QLocalSocket socket;
    socket.connectToServer(QString::fromStdString(address.socket.string()));
    QVERIFY(socket.waitForConnected());
    socket.write(line);
    QVERIFY(socket.waitForDisconnected(10'000) || socket.state() == QLocalSocket::UnconnectedState);
    const auto answer = nlohmann::json::parse(socket.readAll().toStdString(), nullptr, false);
    QCOMPARE(answer["answer"]["exit"], nlohmann::json(2));
    VERIFY_ENDED(program.run(words("run square -p n=10")), 0);
    QVERIFY(interruptAndWait(*window));
}

void ProcessesTest::aReadOnlyFolderStillRuns() {
    ProgramRunner program;
    // Root may write anywhere, so the folder lies where nobody can: in a file system that takes no files.
    const auto finished = program.run({QStringLiteral("--data-dir"), QStringLiteral("/proc/heteroscope"), QStringLiteral("run"), QStringLiteral("square"), QStringLiteral("-p"), QStringLiteral("n=64"), QStringLiteral("--json")});
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.messages.contains("/proc/heteroscope"));
    QCOMPARE(finished.document["jobs"][0]["state"], nlohmann::json("succeeded"));
}

QTEST_GUILESS_MAIN(ProcessesTest)
#include "tst_processes.moc"
