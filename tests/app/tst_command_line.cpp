// The command line as a person or a script meets it: documents, exit statuses, refusals. Each case calls the program.
#include "program_process.h"

#include <QTest>

using namespace heteroscope;

class CommandLineTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void devicesListsBothDevices();
    void noPlatformIsSaidWithARemedy();
    void kernelsAndPoliciesAreDocuments();
    void monitorPrintsALineASample();
    void runChecksOnEachDevice_data();
    void runChecksOnEachDevice();
    void countRunsThatManyJobs();
    void refusesBadInput_data();
    void refusesBadInput();
    void refusalsAreDocumentsToo();
    void workloadRunsTheChunks();
    void comparesForReal();
    void cyclicWorkloadNamesTheCycle();
    void historyKeepsWhatRan();
    void historyExports();
    void doctorSeesAHealthyFolder();
    void doctorSeesADamagedHistory();
    void aDamagedHistoryIsKeptAside();

private:
    ProgramRunner program_;
};

namespace {

QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }

}  // namespace

void CommandLineTest::initTestCase() { QVERIFY(!qEnvironmentVariableIsEmpty("HETEROSCOPE_BIN")); }

void CommandLineTest::devicesListsBothDevices() {
    const auto finished = program_.json(words("devices"));
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.isDocument());
    const auto& devices = finished.document["devices"];
    QCOMPARE(devices.size(), std::size_t{2});
    QCOMPARE(devices[0]["id"], nlohmann::json("cpu-0"));
    QCOMPARE(devices[1]["id"], nlohmann::json("cpu-1"));
    for (const auto& device : devices) {
        QCOMPARE(device["kind"], nlohmann::json("cpu"));
        QCOMPARE(device["runtimes"][0]["api"], nlohmann::json("opencl"));
        QVERIFY(device["memory_bytes"].get<double>() > 0);
    }
    QVERIFY(finished.document["problems"].is_array());
}

void CommandLineTest::noPlatformIsSaidWithARemedy() {
    ProgramRunner bare;
    const QString vendors = bare.path(QStringLiteral("no-vendors"));
    QVERIFY(QDir().mkpath(vendors));
    bare.environment.insert(QStringLiteral("OCL_ICD_VENDORS"), vendors);
    const auto devices = bare.json(words("devices"));
    VERIFY_ENDED(devices, 0);
    QVERIFY(devices.document["devices"].empty());
    QVERIFY(!devices.document["problems"].empty());
    QVERIFY(!devices.document["problems"][0]["fix"].get<std::string>().empty());
    VERIFY_ENDED(bare.run(words("doctor")), 1);
    const auto run = bare.json(words("run square -p n=16"));
    VERIFY_ENDED(run, 1);
    QVERIFY(run.isDocument());
    QCOMPARE(run.document["error"]["kind"], nlohmann::json("unsupported"));
}

void CommandLineTest::kernelsAndPoliciesAreDocuments() {
    const auto kernels = program_.json(words("kernels"));
    VERIFY_ENDED(kernels, 0);
    QStringList ids;
    for (const auto& kernel : kernels.document["kernels"]) ids.append(QString::fromStdString(kernel["id"]));
    for (const char* id : {"square", "vector-add", "saxpy", "matmul", "reduction", "transpose", "stencil", "mandelbrot", "black-scholes", "histogram"})
        QVERIFY2(ids.contains(QString::fromLatin1(id)), id);
    const auto policies = program_.json(words("policies"));
    VERIFY_ENDED(policies, 0);
    QStringList names;
    for (const auto& policy : policies.document["policies"]) {
        names.append(QString::fromStdString(policy["id"]));
        QVERIFY(!policy["description"].get<std::string>().empty());
        QVERIFY(policy["options"].is_array());
    }
    for (const char* name : {"round-robin", "fifo", "priority", "sjf", "least-loaded", "mct"})
        QVERIFY2(names.contains(QString::fromLatin1(name)), name);
}

void CommandLineTest::monitorPrintsALineASample() {
    const auto finished = program_.json(words("monitor --interval 0.1 --count 2"));
    VERIFY_ENDED(finished, 0);
    const auto lines = finished.answer.trimmed().split('\n');
    QVERIFY(lines.size() >= 2);
    for (const auto& line : lines) {
        const auto sample = nlohmann::json::parse(line.toStdString(), nullptr, false);
        QVERIFY2(sample.is_object(), line.constData());
        QVERIFY(sample["time"].is_string() && sample["device"].is_string());
        for (const auto& [name, metric] : sample["metrics"].items())
            for (const char* key : {"state", "value", "unit", "source", "age_s"}) QVERIFY2(metric.contains(key), name.c_str());
    }
}

void CommandLineTest::runChecksOnEachDevice_data() {
    QTest::addColumn<QString>("device");
    QTest::newRow("first") << "cpu-0";
    QTest::newRow("second") << "cpu-1";
}

void CommandLineTest::runChecksOnEachDevice() {
    QFETCH(QString, device);
    const auto finished = program_.json(words("run square -p n=4097 --check --device") << device);
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.isDocument());
    QCOMPARE(finished.document["jobs"].size(), std::size_t{1});
    const auto& job = finished.document["jobs"][0];
    QCOMPARE(job["kernel"], nlohmann::json("square"));
    QCOMPARE(job["device"], nlohmann::json(device.toStdString()));
    QCOMPARE(job["runtime"], nlohmann::json("opencl"));
    QCOMPARE(job["state"], nlohmann::json("succeeded"));
    QCOMPARE(job["check"], nlohmann::json("passed"));
    QVERIFY(job["error"].is_null());
    QVERIFY(job["run_s"].get<double>() > 0);
    for (const char* key : {"wait_s", "stage_in_s", "stage_out_s"}) QVERIFY2(job[key].get<double>() >= 0, key);
}

void CommandLineTest::countRunsThatManyJobs() {
    const auto finished = program_.json(words("run saxpy -p n=1000 --count 25 --policy round-robin"));
    VERIFY_ENDED(finished, 0);
    QCOMPARE(finished.document["jobs"].size(), std::size_t{25});
    QSet<QString> devices;
    for (const auto& job : finished.document["jobs"]) {
        QCOMPARE(job["state"], nlohmann::json("succeeded"));
        devices.insert(QString::fromStdString(job["device"]));
    }
    QCOMPARE(devices.size(), 2);
}

void CommandLineTest::refusesBadInput_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* line, const char* says) { QTest::newRow(line) << line << says; };
    row("devcies", "neither a file nor a command");
    row("run", "KERNEL");
    row("run sqare", "Did you mean 'square'");
    row("run square -p m=4", "m");
    row("run square -p n=many", "not a number");
    row("run square -p n", "NAME=VALUE");
    row("run square -p n=0", "0");
    row("run square -p n=-5", "-5");
    row("run square -p n=1.5", "1.5");
    row("run square -p n=1e30", "n");
    row("run square --device gpu-9", "cpu-0, cpu-1");
    row("run square --runtime cuda", "opencl");
    row("run square --runtime metal", "metal");
    row("run square --policy psychic", "mct");
    row("run square --count 0", "--count");
    row("run square --no-such-option", "--no-such-option");
    row("run square --save nothing=x.npy", "nothing");
    row("run square --global 5", "-p");
    row("run missing.cl --entry a --global 1", "no such file");
    row("workload missing.workload.json", "no such file");
    row("compare missing.json --policies fifo", "no such file");
    row("monitor --interval 0", "--interval");
    row("history list --where state=happy", "succeeded");
    row("history list --where colour=red", "kernel");
    row("history list --where since=yesterday", "2026-11-26");
    row("history list --where state", "KEY=VALUE");
    row("history show 123456789", "123456789");
    row("history delete", "--all");
    row("queue drop", "--all");
    row("queue drop 123456789", "123456789");
    row("submit square", "No program is open");
    row("--json", "--json");
    row("calibrate", "neither a file nor a command");
}

void CommandLineTest::refusesBadInput() {
    QFETCH(QString, line);
    QFETCH(QString, says);
    const auto finished = program_.run(line.split(QLatin1Char(' ')));
    VERIFY_ENDED(finished, 2);
    QVERIFY2(finished.messages.contains(says.toUtf8()), finished.messages.constData());
    QVERIFY2(finished.answer.isEmpty(), finished.answer.constData());
}

void CommandLineTest::refusalsAreDocumentsToo() {
    const auto finished = program_.json(words("run square -p n=0"));
    VERIFY_ENDED(finished, 2);
    QVERIFY(finished.isDocument());
    QVERIFY(finished.document["jobs"].empty());
    QCOMPARE(finished.document["error"]["kind"], nlohmann::json("invalid-input"));
    const auto simulate = program_.json(words("compare") << QStringLiteral(PROJECT_DIR "/resources/workloads/square-chunks.workload.json") << words("--policies fifo --simulate"));
    VERIFY_ENDED(simulate, 2);
    QCOMPARE(simulate.document["error"]["kind"], nlohmann::json("unsupported"));
}

void CommandLineTest::workloadRunsTheChunks() {
    const auto finished = program_.json({QStringLiteral("workload"), QStringLiteral(PROJECT_DIR "/resources/workloads/square-chunks.workload.json"), QStringLiteral("--check")});
    VERIFY_ENDED(finished, 0);
    QCOMPARE(finished.document["jobs"].size(), std::size_t{16});
    QSet<QString> devices;
    for (const auto& job : finished.document["jobs"]) {
        QCOMPARE(job["state"], nlohmann::json("succeeded"));
        QCOMPARE(job["check"], nlohmann::json("passed"));
        devices.insert(QString::fromStdString(job["device"]));
    }
    QCOMPARE(devices.size(), 2);
}

void CommandLineTest::comparesForReal() {
    const auto finished = program_.json(words("compare") << QStringLiteral(PROJECT_DIR "/resources/workloads/square-chunks.workload.json") << words("--policies fifo,mct --live --repeat 2"));
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.isDocument());
    QCOMPARE(finished.document["mode"], nlohmann::json("live"));
    QCOMPARE(finished.document["jobs"], nlohmann::json(16));
    QCOMPARE(finished.document["runs"].size(), std::size_t{4});
    double best = 1e9;
    for (const auto& run : finished.document["runs"]) {
        QVERIFY(run["makespan_s"].get<double>() > 0);
        QCOMPARE(run["schedule"].size(), std::size_t{16});
        best = std::min(best, run["ratio_to_best"].get<double>());
        for (const char* key : {"policy", "seed", "ratio_to_lower_bound", "metrics"}) QVERIFY2(run.contains(key), key);
    }
    QCOMPARE(best, 1.0);
    QVERIFY(finished.document["lower_bound_s"].get<double>() > 0);

    const auto id = QString::number(finished.document["id"].get<int>());
    const auto stored = program_.json(words("history comparisons"));
    QVERIFY(!stored.document["comparisons"].empty());
    const auto against = program_.json(words("history compare") << id << id);
    VERIFY_ENDED(against, 0);
    QCOMPARE(against.document["policies"].size(), std::size_t{2});
    QCOMPARE(against.document["policies"][0]["difference"], nlohmann::json(0.0));
}

void CommandLineTest::cyclicWorkloadNamesTheCycle() {
    const auto file = program_.write(QStringLiteral("cycle.workload.json"), R"({ "format": "heteroscope-workload", "version": 1, "name": "cycle", "jobs": [
        { "id": "a", "kernel": "square", "after": ["c"] }, { "id": "b", "kernel": "square", "after": ["a"] }, { "id": "c", "kernel": "square", "after": ["b"] } ] })");
    const auto finished = program_.run({QStringLiteral("workload"), file});
    VERIFY_ENDED(finished, 2);
    QVERIFY2(finished.messages.contains("→"), finished.messages.constData());
}

void CommandLineTest::historyKeepsWhatRan() {
    ProgramRunner own;
    VERIFY_ENDED(own.json(words("history list")), 0);
    const auto run = own.json(words("run transpose -p rows=33 -p cols=65 --check"));
    VERIFY_ENDED(run, 0);
    const auto id = run.document["jobs"][0]["id"];
    VERIFY_ENDED(own.json(words("run saxpy -p n=100 --count 3")), 0);

    const auto all = own.json(words("history list"));
    QCOMPARE(all.document["jobs"].size(), std::size_t{4});
    const auto some = own.json(words("history list --where kernel=transpose --where state=succeeded --where state=failed"));
    QCOMPARE(some.document["jobs"].size(), std::size_t{1});
    QCOMPARE(some.document["jobs"][0]["id"], id);
    QCOMPARE(some.document["jobs"][0]["check"], nlohmann::json("passed"));
    QVERIFY(own.json(words("history list --where until=2020-01-01")).document["jobs"].empty());
    QCOMPARE(own.json(words("history list --limit 2")).document["jobs"].size(), std::size_t{2});

    const auto shown = own.json(words("history show") << QString::fromStdString(id.dump()));
    VERIFY_ENDED(shown, 0);
    const auto& job = shown.document["job"];
    QCOMPARE(job["kernel"], nlohmann::json("transpose"));
    QVERIFY(job["decision"]["candidates"].size() == 2);
    QVERIFY(!job["decision"]["explanation"].get<std::string>().empty());

    VERIFY_ENDED(own.json(words("history delete --where kernel=saxpy")), 0);
    QCOMPARE(own.json(words("history list")).document["jobs"].size(), std::size_t{1});
}

void CommandLineTest::historyExports() {
    ProgramRunner own;
    VERIFY_ENDED(own.json(words("run square -p n=64 --count 2")), 0);
    const auto csv = own.run(words("history export"));
    VERIFY_ENDED(csv, 0);
    QCOMPARE(csv.answer.trimmed().split('\n').size(), 3);  // a header and two jobs
    const auto json = own.json(words("history export"));
    VERIFY_ENDED(json, 0);
    QVERIFY(json.isDocument());
    const auto file = own.path(QStringLiteral("jobs über all.csv"));
    VERIFY_ENDED(own.run(words("history export") << file), 0);
    QVERIFY(QFile(file).size() > 0);
    VERIFY_ENDED(own.run(words("history export jobs.xlsx")), 2);
}

void CommandLineTest::doctorSeesAHealthyFolder() {
    ProgramRunner own;
    VERIFY_ENDED(own.json(words("run square -p n=64")), 0);
    const auto finished = own.json(words("doctor"));
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.document["problems"].empty());
}

void CommandLineTest::doctorSeesADamagedHistory() {
    ProgramRunner own;
    QVERIFY(QDir().mkpath(own.dataFolder()));
    own.write(QStringLiteral("data/history.db"), QByteArray("this is no database, and never was one\n").repeated(500));
    const auto finished = own.json(words("doctor"));
    VERIFY_ENDED(finished, 1);
    QCOMPARE(finished.document["problems"].size(), std::size_t{1});
    QVERIFY(!finished.document["problems"][0]["fix"].get<std::string>().empty());
}

void CommandLineTest::aDamagedHistoryIsKeptAside() {
    ProgramRunner own;
    QVERIFY(QDir().mkpath(own.dataFolder()));
    const QByteArray junk = QByteArray("junk").repeated(5000);
    own.write(QStringLiteral("data/history.db"), junk);
    const auto finished = own.json(words("run square -p n=64"));
    VERIFY_ENDED(finished, 0);
    QVERIFY2(finished.messages.contains("kept"), finished.messages.constData());
    bool kept = false;
    for (const auto& entry : QDir(own.dataFolder()).entryInfoList(QDir::Files)) kept = kept || entry.size() == junk.size();
    QVERIFY(kept);
    QCOMPARE(own.json(words("history list")).document["jobs"].size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(CommandLineTest)
#include "tst_command_line.moc"
