// Workload files: what is read, the order that shared data implies, what mistakes are answered with, and that what is
// written reads back the same.
#include "scheduler/kernel/launch_plan.h"
#include "scheduler/workload/workload.h"

#include <nlohmann/json.hpp>

#include <QElapsedTimer>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <set>

using namespace heteroscope;

namespace {

#define VERIFY_SAYS(result, part)                                                                       \
    do {                                                                                                \
        const auto& said = (result);                                                                    \
        QVERIFY(!said);                                                                                 \
        QVERIFY2(said.error().message.find(part) != std::string::npos, said.error().message.c_str());   \
    } while (false)

#define VERIFY_READ(result) QVERIFY2(bool(result), (result) ? "" : (result).error().message.c_str())

const KernelCatalogue& shipped() {
    static const KernelCatalogue catalogue = KernelCatalogue::load({std::filesystem::path(PROJECT_DIR) / "kernels"});
    return catalogue;
}

std::string document(const std::string& jobs, const std::string& before = "") {
    return R"({ "format": "heteroscope-workload", "version": 1, "name": "w", )" + before + R"("jobs": [)" + jobs + "] }";
}

Result<Workload> parse(const std::string& jobs, const std::string& before = "") {
    return parseWorkload(document(jobs, before), PROJECT_DIR, shipped());
}

/// "t2<t1 t3<t1,t2": who waits for whom, by id.
std::string orderOf(const Workload& workload) {
    std::string text;
    for (const WorkloadJob& job : workload.jobs) {
        if (job.after.empty()) continue;
        std::set<std::string> names;
        for (const WorkloadEdge& edge : job.after) names.insert(workload.jobs[edge.job].id);
        text += (text.empty() ? "" : " ") + job.id + "<";
        for (const std::string& name : names) text += (text.back() == '<' ? "" : ",") + name;
    }
    return text;
}

/// A chunk of m: read as x, written as y, or both as x.
std::string square(const char* id, int first, int count, const std::string& access = "read") {
    const nlohmann::json binding{{"data", "m"}, {"access", access}, {"first", first}, {"count", count}};
    const nlohmann::json job{{"id", id}, {"kernel", "square"}, {"parameters", {{"n", count}}}, {"data", {{access == "write" ? "y" : "x", binding}}}};
    return job.dump();
}

/// An abstract job j<number> after j<after>; -1: after none.
std::string chained(int number, int after) {
    nlohmann::json job{{"id", "j" + std::to_string(number)}, {"cost_s", {{"P", 1}}}};
    if (after >= 0) job["after"] = {"j" + std::to_string(after)};
    return job.dump();
}

const std::string m100 = R"("data": {"m": {"type": "float", "count": 100, "fill": "iota"}}, )";

}  // namespace

class WorkloadTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path path(const std::string& name) const { return std::filesystem::path(folder_.path().toStdString()) / name; }

private slots:
    void initTestCase() {
        QVERIFY(shipped().find("matmul"));
        std::ofstream(path("mine.cl"), std::ios::binary) << "\xEF\xBB\xBFkernel void diagonal(global float* m, local float* t, int n) {\r\n}\r\n";
    }

    void platformCostsAndEdges() {
        const auto workload = readWorkload(std::filesystem::path(PROJECT_DIR) / "resources/workloads/topcuoglu-2002.workload.json", shipped());
        VERIFY_READ(workload);
        QCOMPARE(workload->jobs.size(), std::size_t{10});
        QCOMPARE(workload->devices.size(), std::size_t{3});
        QVERIFY(!workload->runnable());
        QVERIFY(workload->warnings.empty());
        QCOMPARE(workload->jobs[9].costSeconds.at("P2"), 7.0);
        QCOMPARE(workload->jobs[7].after.size(), std::size_t{3});
        QCOMPARE(workload->jobs[7].after[1].transferSeconds, 27.0);
        QCOMPARE(workload->jobs[7].after[1].job, std::size_t{3});
    }

    void platform() {
        const auto workload = parse(R"({"cost_s": {"P1": 1}, "arrival_s": 2.5, "priority": -3, "group": "g", "timeout_s": 9})", R"("platform": { "devices": [ { "id": "P1" }, { "id": "P2", "kind": "gpu",
            "memory_bytes": 8589934592, "idle_W": 30, "busy_W": 250 } ], "links": [ { "from": "*", "to": "P2", "latency_us": 10, "bandwidth_GBps": 12 } ] }, )");
        VERIFY_READ(workload);
        QVERIFY(workload->devices[1].kind == DeviceKind::Gpu);
        QCOMPARE(*workload->devices[1].memoryBytes, std::uint64_t{8589934592});
        QCOMPARE(*workload->devices[1].busyWatts, 250.0);
        QVERIFY(!workload->devices[0].idleWatts);
        QCOMPARE(workload->links[0].bandwidthGBps, 12.0);
        QCOMPARE(workload->jobs[0].id, std::string("t1"));
        QCOMPARE(workload->jobs[0].priority, -3);
        const auto specs = workload->jobSpecs();
        QCOMPARE(specs[0].arrival.count(), 2500000000);
        QCOMPARE(specs[0].timeout.count(), 9000000000);
        QCOMPARE(specs[0].group, std::string("g"));
    }

    void inputsBindOutputs() {
        const auto workload = parse(R"({"id": "t2", "kernel": "square", "parameters": {"n": 4096}, "inputs": {"x": "t1.c"}},
            {"id": "t1", "kernel": "matmul", "parameters": {"n": 64}, "seed": 5},
            {"id": "t3", "kernel": "transpose", "parameters": {"rows": 64, "cols": 64}, "inputs": {"in": "t1.c"}})");
        VERIFY_READ(workload);
        QVERIFY(workload->runnable());
        QCOMPARE(orderOf(*workload), std::string("t2<t1 t3<t1"));
        const DataBinding& output = workload->jobs[1].bindings.at("c");
        const DataBinding& input = workload->jobs[0].bindings.at("x");
        QCOMPARE(output.data, input.data);
        QCOMPARE(workload->jobs[2].bindings.at("in").data, input.data);
        QCOMPARE(output.data->name(), std::string("t1.c"));
        QCOMPARE(output.data->count(), std::uint64_t{4096});
        QCOMPARE(output.data->seed(), std::uint64_t{5});
        QVERIFY(output.access == Access::Write);
        QVERIFY(input.access == Access::Read);
        QVERIFY(!input.newVersion);
    }

    /// saxpy's y is read and written: who takes it works on a copy, and that copy is what later jobs take.
    void inputsOfReadWriteArgumentsMakeVersions() {
        const auto workload = parse(R"({"id": "a", "kernel": "saxpy", "parameters": {"n": 100}},
            {"id": "b", "kernel": "saxpy", "parameters": {"n": 100}, "inputs": {"y": "a.y"}},
            {"id": "c", "kernel": "square", "parameters": {"n": 100}, "inputs": {"x": "a.y"}},
            {"id": "d", "kernel": "square", "parameters": {"n": 100}, "inputs": {"x": "b.y"}})");
        VERIFY_READ(workload);
        QCOMPARE(orderOf(*workload), std::string("b<a c<a d<b"));
        const DataBinding& b = workload->jobs[1].bindings.at("y");
        QVERIFY(b.newVersion);
        QCOMPARE(b.data->name(), std::string("a.y"));
        QCOMPARE(b.data->fill(), std::string("iota"));
        QVERIFY(b.version);
        QCOMPARE(b.version->name(), std::string("b.y"));
        QCOMPARE(workload->jobs[3].bindings.at("x").data, b.version);
        QCOMPARE(workload->jobs[2].bindings.at("x").data, b.data);
        const auto specs = workload->jobSpecs();
        QCOMPARE(specs[3].bindings.at("x").data, specs[1].bindings.at("y").version);
        QVERIFY(specs[3].bindings.at("x").data != b.version);
    }

    /// A fill over parameters must mean the same where the parameters are gone.
    void outputsKeepTheirFill() {
        const auto workload = parse(R"({"id": "a", "kernel": "histogram", "parameters": {"n": 100}}, {"id": "b", "kernel": "histogram", "parameters": {"n": 50}, "inputs": {"counts": "a.counts"}})");
        VERIFY_READ(workload);
        QCOMPARE(workload->jobs[0].bindings.at("counts").data->fill(), std::string("zeros"));
    }

    void chunksRunSideBySide() {
        const auto workload = parse(square("a", 0, 50, "read-write") + "," + square("b", 50, 50, "read-write"), m100);
        VERIFY_READ(workload);
        QCOMPARE(orderOf(*workload), std::string());
        QCOMPARE(workload->jobs[0].bindings.at("x").data, workload->jobs[1].bindings.at("x").data);
    }

    void overlapImpliesOrder_data() {
        QTest::addColumn<QString>("jobs");
        QTest::addColumn<QString>("order");
        const auto row = [](const char* name, std::initializer_list<std::string> jobs, const char* order) {
            std::string text;
            for (const std::string& job : jobs) text += (text.empty() ? "" : ", ") + job;
            QTest::newRow(name) << QString::fromStdString(text) << QString::fromLatin1(order);
        };
        row("readers are free", {square("a", 0, 60), square("b", 40, 60)}, "");
        row("write, read", {square("a", 0, 60, "write"), square("b", 40, 60)}, "b<a");
        row("read, write", {square("a", 0, 60), square("b", 40, 60, "write")}, "b<a");
        row("write, write", {square("a", 0, 60, "write"), square("b", 40, 60, "write")}, "b<a");
        row("touching", {square("a", 0, 50, "write"), square("b", 50, 50, "write")}, "");
        row("one element", {square("a", 0, 51, "write"), square("b", 50, 50)}, "b<a");
        row("inside", {square("a", 0, 100, "write"), square("b", 20, 1)}, "b<a");
        row("around", {square("a", 20, 1), square("b", 0, 100, "write")}, "b<a");
        row("halves, whole, halves", {square("a", 0, 50, "write"), square("b", 50, 50, "write"), square("c", 0, 100, "read-write"), square("d", 0, 50), square("e", 50, 50)},
            "c<a,b d<c e<c");
        row("covered writer is forgotten", {square("a", 0, 50, "write"), square("b", 0, 100, "write"), square("c", 0, 50)}, "b<a c<b");
        row("remains of a writer are not", {square("a", 0, 100, "write"), square("b", 40, 20, "write"), square("c", 0, 100)}, "b<a c<a,b");
        row("readers between writers", {square("w", 0, 100, "write"), square("r", 0, 30), square("s", 70, 30), square("v", 20, 60, "write")}, "r<w s<w v<r,s,w");
        row("many gaps", {square("a", 10, 10, "write"), square("b", 40, 10, "write"), square("c", 0, 100), square("d", 25, 5, "write"), square("e", 10, 10, "write")},
            "c<a,b d<c e<a,c");
    }
    void overlapImpliesOrder() {
        QFETCH(QString, jobs);
        QFETCH(QString, order);
        const auto workload = parse(jobs.toStdString(), m100);
        VERIFY_READ(workload);
        QCOMPARE(QString::fromStdString(orderOf(*workload)), order);
        // The same for jobs that come without a file.
        auto specs = workload->jobSpecs();
        for (JobSpec& spec : specs) spec.after.clear();
        addImpliedDependencies(specs);
        std::string again;
        for (const JobSpec& spec : specs) {
            if (spec.after.empty()) continue;
            std::set<std::string> names;
            for (const JobId id : spec.after) names.insert(specs[id - 1].label);
            again += (again.empty() ? "" : " ") + spec.label + "<";
            for (const std::string& name : names) again += (again.back() == '<' ? "" : ",") + name;
        }
        QCOMPARE(QString::fromStdString(again), order);
    }

    /// Against the plain definition, on many random jobs: every conflicting pair is ordered, no other one is.
    void overlapAgainstDefinition() {
        std::uint64_t state = 12345;
        const auto random = [&](std::uint64_t below) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return (state >> 33U) % below;
        };
        for (int round = 0; round < 50; ++round) {
            auto data = std::make_shared<Data>("m", ElementType{}, 40, "zeros", 1, "");
            std::vector<JobSpec> jobs(30);
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                jobs[i].id = i + 1;
                DataBinding binding{data, static_cast<Access>(random(3)), random(40), {}, false};
                binding.count = 1 + random(40 - binding.first);
                jobs[i].bindings["x"] = binding;
            }
            addImpliedDependencies(jobs);
            // reachable[i][j]: i runs after j
            std::vector<std::set<std::size_t>> reachable(jobs.size());
            for (std::size_t i = 0; i < jobs.size(); ++i)
                for (const JobId id : jobs[i].after) {
                    const std::size_t j = id - 1;
                    QVERIFY(j < i);
                    QVERIFY(conflict(jobs[i], jobs[j]));
                    reachable[i].insert(j);
                    reachable[i].insert(reachable[j].begin(), reachable[j].end());
                }
            for (std::size_t i = 0; i < jobs.size(); ++i)
                for (std::size_t j = 0; j < i; ++j)
                    if (conflict(jobs[i], jobs[j])) QVERIFY(reachable[i].contains(j));
        }
    }

    /// A stated edge against the order of the file turns the implied one round instead of making a cycle.
    void statedEdgesComeFirst() {
        std::string first = square("a", 0, 100, "write");
        first.insert(first.size() - 1, R"(, "after": ["b"])");
        const auto workload = parse(first + "," + square("b", 0, 100, "write"), m100);
        VERIFY_READ(workload);
        QCOMPARE(orderOf(*workload), std::string("a<b"));
        auto specs = workload->jobSpecs();
        addImpliedDependencies(specs);  // again: nothing new
        QCOMPARE(specs[0].after, (std::vector<JobId>{2}));
        QVERIFY(specs[1].after.empty());
        specs[0].after.push_back(4711);  // of an earlier batch: kept
        addImpliedDependencies(specs);
        QCOMPARE(specs[0].after, (std::vector<JobId>{2, 4711}));
    }

    void ownSource() {
        const auto workload = parseWorkload(document(R"~({ "id": "first", "source": { "file": "mine.cl", "entry": "diagonal", "options": ["-D", "BLOCK=16"], "include": ["inc"] },
              "arguments": [ { "data": "m", "access": "read-write" }, { "local_bytes": 1024 }, { "type": "int", "value": 32 },
                             { "type": "float4", "value": [1, 2, 3, 4] }, { "type": "bytes", "hex": "00ff" }, { "type": "float", "count": 8, "fill": "file(in.npy)" } ],
              "range": { "global": [16], "local": [16], "offset": [32] }, "save": { "arg5": "out.npy" } },
            { "source": { "file": "mine.cl", "entry": "diagonal" }, "arguments": [ { "data": "m", "access": "read", "first": 1000, "count": 24, "name": "part" } ], "range": { "global": [16] } })~",
            R"~("data": { "m": { "type": "float", "count": 1024, "fill": "file(m.npy)", "save": "result.npy" } }, )~"), path(""), shipped());
        VERIFY_READ(workload);
        QVERIFY2(workload->warnings.empty(), workload->warnings.empty() ? "" : workload->warnings[0].c_str());
        const WorkloadJob& job = workload->jobs[0];
        QCOMPARE(job.kernel->id, std::string("mine.cl:diagonal"));
        QCOMPARE(job.kernel->arguments.size(), std::size_t{6});
        QCOMPARE(job.kernel->arguments[5].fill, "file(" + path("in.npy").string() + ")");
        QCOMPARE(job.bindings.at("arg0").data, workload->data.at("m"));
        QVERIFY(job.bindings.at("arg0").access == Access::ReadWrite);
        QCOMPARE(workload->data.at("m")->savePath, path("result.npy"));
        QCOMPARE(workload->data.at("m")->fill(), "file(" + path("m.npy").string() + ")");
        QCOMPARE(job.save.at("arg5"), path("out.npy"));
        const auto plan = planLaunch(job.kernel, job.parameters);
        VERIFY_READ(plan);
        QCOMPARE(plan->arguments[0].count, std::uint64_t{1024});
        QCOMPARE(plan->localBytes, std::uint64_t{1024});
        QCOMPARE(plan->range.offset[0], std::size_t{32});
        QCOMPARE(plan->arguments[4].scalar.size(), std::size_t{2});
        QCOMPARE(workload->jobs[1].bindings.at("part").first, std::uint64_t{1000});
        QCOMPARE(orderOf(*workload), std::string("t2<first"));
        QCOMPARE(workload->jobSpecs()[0].bindings.at("arg0").data->savePath, path("result.npy"));
    }

    void mistakes_data() {
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("jobs");
        QTest::addColumn<QString>("says");
        int number = 0;
        const auto row = [&](const char* before, const std::string& jobs, const char* says) {
            QTest::addRow("%d %s", ++number, says) << QString::fromUtf8(before) << QString::fromStdString(jobs) << QString::fromUtf8(says);
        };
        const auto abstract = [](const char* more) { return std::string(R"({"id": "a", "cost_s": {"P1": 1})") + more + "}"; };
        const char* none = "";
        row(none, "", "/jobs: found a list of 0; at least one job");
        row(none, "5", "/jobs/0: found 5; a job");
        row(none, "{}", "/jobs/0: nothing to do");
        row(none, R"({"id": ""})", "\"id\" is empty");
        row(none, R"({"id": 5})", "/jobs/0/id: found 5");
        row(none, abstract("") + "," + abstract(""), "/jobs/1: a second job \"a\"; the first is /jobs/0");
        row(none, abstract(R"(, "after": ["a"])"), "the jobs wait for each other: a → a");
        row(none, R"({"id": "a", "cost_s": {"P": 1}, "after": ["c"]}, {"id": "b", "cost_s": {"P": 1}, "after": ["a"]}, {"id": "c", "cost_s": {"P": 1}, "after": ["b"]})",
            "/jobs/0: the jobs wait for each other: a → b → c → a");
        row(none, R"({"id": "a", "kernel": "square", "parameters": {"n": 8}, "inputs": {"x": "b.y"}}, {"id": "b", "kernel": "square", "parameters": {"n": 8}, "inputs": {"x": "a.y"}})",
            "the jobs wait for each other: a → b → a");
        row(none, abstract(R"(, "after": ["first"])") + R"(, {"id": "frist", "cost_s": {"P": 1}})", "/jobs/0/after/0: unknown job \"first\"; did you mean \"frist\"?");
        row(none, abstract(R"(, "after": [5])"), "/jobs/0/after/0: found 5");
        row(none, abstract(R"(, "after": "a")"), "/jobs/0/after: found \"a\"; a list of jobs");
        row(none, abstract(R"(, "after": [{"jobs": "a"}])"), "missing \"job\"");
        row(none, abstract(R"(, "after": [{"job": "b", "transfer_s": -1}])") + R"(, {"id": "b", "cost_s": {"P": 1}})", "/jobs/0/after/0/transfer_s: found -1; seconds from 0");
        row(none, abstract(R"(, "priority": 1.5)"), "/jobs/0/priority: found 1.5; a whole number");
        row(none, abstract(R"(, "priority": "high")"), "/jobs/0/priority: found \"high\"");
        row(none, abstract(R"(, "arrival_s": -1)"), "/jobs/0/arrival_s: found -1");
        row(none, abstract(R"(, "check": 1)"), "/jobs/0/check: found 1; true or false");
        row(none, abstract(R"(, "seed": -1)"), "/jobs/0/seed: found -1");
        row(none, abstract(R"(, "inputs": {"x": "a.y"})"), "has no meaning without");
        row(none, R"({"cost_s": 5})", "/jobs/0/cost_s: found 5");
        row(none, R"({"cost_s": {}})", "seconds for at least one device");
        row(none, R"({"cost_s": {"P": "5"}})", "/jobs/0/cost_s/P: found \"5\"; seconds from 0");
        row(none, R"({"kernel": "sqare"})", "/jobs/0/kernel: unknown kernel \"sqare\"; did you mean \"square\"?");
        row(none, R"({"kernel": 5})", "/jobs/0/kernel: found 5");
        row(none, R"({"kernel": "square", "parameters": {"m": 5}})", "/jobs/0: square: unknown parameter \"m\"");
        row(none, R"({"kernel": "square", "parameters": {"n": 0}})", "/jobs/0: square: parameter n = 0");
        row(none, R"({"kernel": "square", "parameters": {"n": "big"}})", "/jobs/0/parameters/n: found \"big\"");
        row(none, R"({"kernel": "square", "source": {}})", "has both");
        row(none, R"({"kernel": "square", "data": {"z": "m"}})", "square has no buffer \"z\"; known: x, y");
        row(none, R"({"kernel": "square", "data": {"x": "m"}})", "/jobs/0/data/x: unknown data \"m\"");
        row(none, R"({"kernel": "square", "inputs": {"x": "m"}})", "/jobs/0/inputs/x: unknown data \"m\"");
        row(none, R"({"kernel": "square", "inputs": {"x": "t9.y"}})", "/jobs/0/inputs/x: unknown job \"t9\"");
        row(none, R"({"kernel": "square", "save": {"z": "f"}})", "square has no buffer \"z\"");
        row(none, R"({"id": "a", "kernel": "square"}, {"kernel": "square", "inputs": {"x": "a.z"}})", "square has no buffer \"z\"");
        row(none, R"({"id": "a", "kernel": "square"}, {"kernel": "square", "inputs": {"x": "a.x"}})", "job \"a\" only reads \"x\"");
        row(none, R"({"id": "a", "kernel": "square"}, {"kernel": "square", "inputs": {"y": "a.y"}})", "argument \"y\" is only written");
        row(none, R"({"id": "a", "cost_s": {"P": 1}}, {"kernel": "square", "inputs": {"x": "a.y"}})", "job \"a\" has no kernel");
        row(none, R"({"id": "a", "kernel": "square", "parameters": {"n": 8}}, {"kernel": "square", "parameters": {"n": 9}, "inputs": {"x": "a.y"}})", "argument \"x\" takes 9 elements, data \"a.y\" gives 8");
        row(none, R"({"id": "a", "kernel": "histogram"}, {"kernel": "square", "parameters": {"n": 256}, "inputs": {"x": "a.counts"}})", "argument \"x\" takes float, data \"a.counts\" is uint");
        const char* m = R"("data": {"m": {"type": "float", "count": 100}}, )";
        row(m, R"({"kernel": "square", "parameters": {"n": 50}, "data": {"x": {"data": "m", "count": 40}}})", "argument \"x\" takes 50 elements, data \"m\" gives 40");
        row(m, R"({"kernel": "square", "parameters": {"n": 50}, "data": {"x": "m"}})", "argument \"x\" takes 50 elements, data \"m\" gives 100");
        row(m, R"({"kernel": "square", "data": {"x": {"data": "m", "first": 100}}})", "first 100: data \"m\" has 100 elements");
        row(m, R"({"kernel": "square", "data": {"x": {"data": "m", "first": 60, "count": 50}}})", "count 50 from 60: data \"m\" has 100 elements");
        row(m, R"({"kernel": "square", "data": {"x": {"data": "m", "first": 5, "count": 18446744073709551615}}})", "data \"m\" has 100 elements");
        row(m, R"({"kernel": "square", "data": {"x": {"data": "m", "count": 0}}})", "count 0");
        row(m, R"({"kernel": "square", "data": {"x": {"data": "m", "access": "rw"}}})", "/jobs/0/data/x/access: found \"rw\"; read, write or read-write");
        row(m, R"({"kernel": "square", "parameters": {"n": 100}, "data": {"y": {"data": "m", "access": "read"}}})", "argument \"y\" is write, bound with access read");
        row(m, R"({"kernel": "saxpy", "parameters": {"n": 100}, "data": {"y": {"data": "m", "access": "write"}}})", "argument \"y\" is read-write, bound with access write");
        row(m, R"({"kernel": "square", "parameters": {"n": 100}, "data": {"x": "m"}, "inputs": {"x": "m"}})", "bound to data already");
        row(R"("data": {"m": {"type": "float"}}, )", abstract(""), "/data/m: missing \"count\"");
        row(R"("data": {"m": {"type": "float", "count": 0}}, )", abstract(""), "/data/m/count: found 0");
        row(R"("data": {"m": {"type": "float", "count": -4}}, )", abstract(""), "/data/m/count: found -4");
        row(R"("data": {"m": {"type": "float", "count": 1e15}}, )", abstract(""), "beyond any memory");
        row(R"("data": {"m": {"type": "flaot", "count": 4}}, )", abstract(""), "/data/m/type: found \"flaot\"");
        row(R"("data": {"m": {"type": "float", "count": 4, "fill": "ones"}}, )", abstract(""), "/data/m/fill: fill \"ones\"");
        row(R"~("data": {"m": {"type": "float", "count": 4, "fill": "uniform(0,n)"}}, )~", abstract(""), "unknown name \"n\"");
        row(R"("platform": {}, )", abstract(""), "/platform: missing \"devices\"");
        row(R"("platform": {"devices": []}, )", abstract(""), "at least one device");
        row(R"("platform": {"devices": [{"id": "P1"}, {"id": "P1"}]}, )", abstract(""), "a second device \"P1\"");
        row(R"("platform": {"devices": [{"id": "P2"}]}, )", abstract(""), "/jobs/0/cost_s/P1: unknown device \"P1\"; did you mean \"P2\"?");
        row(R"("platform": {"devices": [{"id": "P1", "kind": "fpga"}]}, )", abstract(""), "cpu, gpu or accelerator");
        row(R"("platform": {"devices": [{"id": "P1"}], "links": [{"from": "P1", "to": "P7", "bandwidth_GBps": 1}]}, )", abstract(""), "/platform/links/0/to: unknown device \"P7\"");
        row(R"("platform": {"devices": [{"id": "P1"}], "links": [{"from": "*", "to": "*", "bandwidth_GBps": 0}]}, )", abstract(""), "a bandwidth above 0");
        row(none, R"({"source": {"file": "none.cl", "entry": "k"}, "range": {"global": [1]}})", "/jobs/0/source:");
        row(none, R"({"source": {"entry": "k"}, "range": {"global": [1]}})", "missing \"file\"");
        row(none, R"({"source": {"text": "x"}, "range": {"global": [1]}})", "missing \"entry\"");
        row(none, R"({"source": {"text": "x", "entry": "k"}})", "missing \"range\"");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [-1]}})", "cannot be negative");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1.5]}})", "whole number");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [10], "local": [4]}})", "the nearest that fit are 8 and 12");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1]}, "parameters": {"n": 1}})", "has no parameters");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1]}, "arguments": [{"type": "uchar", "value": 300}]})", "300 does not fit uchar");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1]}, "arguments": [{"type": "uchar"}]})", "cannot tell what it is");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1]}, "arguments": [{"data": "m"}]})", "/jobs/0/arguments/0/data: unknown data \"m\"");
        row(none, R"({"source": {"text": "x", "entry": "k"}, "range": {"global": [1]}, "arguments": [{"name": "a", "local_bytes": 4}, {"name": "a", "local_bytes": 4}]})", "two arguments are named \"a\"");
    }
    void mistakes() {
        QFETCH(QString, before);
        QFETCH(QString, jobs);
        QFETCH(QString, says);
        const auto workload = parse(jobs.toStdString(), before.toStdString());
        VERIFY_SAYS(workload, says.toStdString());
        QVERIFY(workload.error().kind == ErrorKind::InvalidInput);
    }

    void unknownFieldsAreNamed() {
        const auto workload = parse(R"({"cost_s": {"P": 1}, "prority": 3})", R"("colour": "red", )");
        VERIFY_READ(workload);
        QCOMPARE(workload->warnings.size(), std::size_t{2});
        QVERIFY2(workload->warnings[1].find("/jobs/0: unknown field \"prority\"; did you mean \"priority\"?") != std::string::npos, workload->warnings[1].c_str());
        // A file with a mistake in each of many jobs does not flood.
        std::string jobs;
        for (int i = 0; i < 5000; ++i) jobs += (i ? "," : "") + std::string(R"({"cost_s": {"P": 1}, "colour": 3})");
        QVERIFY(parse(jobs)->warnings.size() <= 100);
    }

    void foreignFiles() {
        const auto read = [&](const std::string& text) {
            std::ofstream(path("foreign ü.json"), std::ios::binary) << text;
            return readWorkload(path("foreign ü.json"), shipped());
        };
        VERIFY_SAYS(read(""), "foreign ü.json: the file is empty");
        VERIFY_SAYS(read("{}"), "not a workload file: missing \"format\"");
        VERIFY_SAYS(read("[]"), "not a workload file: found a list of 0");
        VERIFY_SAYS(read("{\"nodes\": [], \"connections\": {}}"), "not a workload file: missing \"format\"");
        VERIFY_SAYS(read("{\"format\": \"heteroscope-kernel\"}"), "\"format\" is \"heteroscope-kernel\"");
        VERIFY_SAYS(read("{\"format\": \"heteroscope-workload\", \"version\": 2, \"jobs\": []}"), "/version: found 2; version 1 is expected");
        VERIFY_SAYS(read("{\"format\": \"heteroscope-workload\", \"version\": 1}"), "missing \"jobs\"");
        VERIFY_SAYS(read("{\n\"format\": \"heteroscope-workload\"\n\"version\": 1}"), "line 3, column");
        QCOMPARE(read("{\n\"format\": \"heteroscope-workload\"\n\"version\": 1}").error().line, 3);
        VERIFY_SAYS(read("{\"format\": \"heteroscope-workload\", \"name\": \"\xC3\x28\"}"), "missing \"version\"");
        VERIFY_SAYS(readWorkload(path(""), shipped()), "is a folder");
        VERIFY_SAYS(readWorkload(path("none.json"), shipped()), "none.json: no such file");
        VERIFY_SAYS(readWorkload("/dev/zero", shipped()), "is not a regular file");
        std::string text = "\xEF\xBB\xBF" + document("\r\n{\"cost_s\": {\"P\": 1}}\r\n");
        VERIFY_READ(read(text));
    }

    void hugeForeignFileIsToldAtOnce() {
        std::string text = "{\"values\": [";
        while (text.size() < 50000000) text += "1.25, 3.5, ";
        std::ofstream(path("huge.json"), std::ios::binary) << text << "0]}";
        QElapsedTimer timer;
        timer.start();
        VERIFY_SAYS(readWorkload(path("huge.json"), shipped()), "not a workload file: missing \"format\"");
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void longChainIsNoProblem() {
        std::string jobs;
        constexpr int count = 20000;
        for (int i = 0; i < count; ++i) jobs += chained(i, i + 1) + ",";
        const auto chain = parse(jobs + chained(count, -1));
        VERIFY_READ(chain);
        QCOMPARE(chain->jobs[0].after[0].job, std::size_t{1});
        const auto cycle = parse(jobs + chained(count, 0));
        VERIFY_SAYS(cycle, "j0 → j20000 → j19999");
        VERIFY_SAYS(cycle, "more → j0");
        QVERIFY(cycle.error().message.size() < 1000);
    }

    void freshDataForEachCall() {
        const auto workload = parse(square("a", 0, 50) + "," + square("b", 50, 50), m100);
        const auto first = workload->jobSpecs();
        const auto second = workload->jobSpecs();
        QCOMPARE(first[0].bindings.at("x").data, first[1].bindings.at("x").data);
        QVERIFY(first[0].bindings.at("x").data != second[0].bindings.at("x").data);
        QCOMPARE(first[1].id, JobId{2});
        QCOMPARE(first[1].label, std::string("b"));
    }

    void writtenReadsBackTheSame_data() {
        QTest::addColumn<QString>("file");
        for (const char* name : {"first-steps", "square-chunks"}) QTest::newRow(name) << QString::fromLatin1(name);
    }
    void writtenReadsBackTheSame() {
        QFETCH(QString, file);
        const auto workload = readWorkload(std::filesystem::path(PROJECT_DIR) / "resources/workloads" / (file.toStdString() + ".workload.json"), shipped());
        VERIFY_READ(workload);
        QVERIFY(workload->runnable());
        QVERIFY(workload->warnings.empty());
        const auto specs = workload->jobSpecs();
        const std::string json = jobsToWorkloadJson(specs, workload->name);
        const auto again = parseWorkload(json, "/elsewhere", shipped());
        VERIFY_READ(again);
        QVERIFY2(again->warnings.empty(), again->warnings.empty() ? "" : again->warnings[0].c_str());
        QCOMPARE(again->name, workload->name);
        QCOMPARE(orderOf(*again), orderOf(*workload));
        QCOMPARE(again->jobs.size(), workload->jobs.size());
        for (std::size_t i = 0; i < specs.size(); ++i) compareJobs(again->jobs[i], workload->jobs[i]);
        // Who shared a datum shares one again.
        QCOMPARE(sharing(*again), sharing(*workload));
        QCOMPARE(jobsToWorkloadJson(again->jobSpecs(), workload->name), json);
    }

    void ownSourceRunsAgainWithoutItsFile() {
        auto workload = parseWorkload(document(R"({ "id": "first", "source": { "file": "mine.cl", "entry": "diagonal", "options": ["-D", "BLOCK=16"], "include": ["inc"] },
              "arguments": [ { "data": "m", "access": "read-write", "first": 4, "count": 1000 }, { "local_bytes": 1024 }, { "type": "ulong", "value": 18446744073709551615 },
                             { "type": "float4", "value": [1, 2.5, 3, 4] }, { "type": "bytes", "hex": "00ff" } ],
              "range": { "global": [16, 4], "local": [16, 2], "offset": [32, 0], "guarded": true }, "device": "cpu-1", "seed": 77, "keep_outputs": true, "priority": 3 })",
            R"("data": { "m": { "type": "float", "count": 1024, "fill": "iota", "save": "result.npy" } }, )"), path(""), shipped());
        VERIFY_READ(workload);
        const std::string json = jobsToWorkloadJson(workload->jobSpecs(), "one");
        QVERIFY(json.find('\n') == json.size() - 1);  // one line: history keeps one a job
        std::filesystem::rename(path("mine.cl"), path("gone.cl"));
        const auto again = parseWorkload(json, "/", shipped());
        std::filesystem::rename(path("gone.cl"), path("mine.cl"));
        VERIFY_READ(again);
        const Kernel& before = *workload->jobs[0].kernel;
        const Kernel& after = *again->jobs[0].kernel;
        QCOMPARE(after.id, before.id);
        QVERIFY(after.ownSource);
        QCOMPARE(after.variants[0].source.text, before.variants[0].source.text);
        QCOMPARE(after.variants[0].source.file, before.variants[0].source.file);
        QCOMPARE(after.variants[0].source.includeDirs, before.variants[0].source.includeDirs);
        QCOMPARE(after.variants[0].source.options, before.variants[0].source.options);
        QCOMPARE(after.range.global, before.range.global);
        QCOMPARE(after.range.local, before.range.local);
        QCOMPARE(after.range.offset, before.range.offset);
        QVERIFY(after.range.guarded);
        QCOMPARE(after.arguments[2].values, (std::vector<std::string>{"18446744073709551615"}));
        QCOMPARE(after.arguments[3].values, before.arguments[3].values);
        QCOMPARE(after.arguments[4].raw, before.arguments[4].raw);
        compareJobs(again->jobs[0], workload->jobs[0]);
        QCOMPARE(again->data.at("m")->savePath, path("result.npy"));
    }

    void parametersStayExact() {
        auto specs = parse(R"({"kernel": "saxpy", "parameters": {"n": 1073741824, "a": 0.1}})")->jobSpecs();
        for (const double a : {0.1, 1e-300, 1.0 / 3, -0.0, 123456789.123456789, 5e-324}) {
            specs[0].parameters["a"] = a;
            const auto again = parseWorkload(jobsToWorkloadJson(specs, ""), "/", shipped());
            VERIFY_READ(again);
            QVERIFY(again->jobs[0].parameters.at("a") == a);
            QCOMPARE(again->jobs[0].parameters.at("n"), 1073741824.0);
        }
    }

    /// The queue may hold two submissions of one file: same labels, same names of data, yet apart.
    void sameNamesStayApart() {
        const auto workload = parse(square("a", 0, 50) + "," + square("b", 0, 50, "write"), m100);
        auto specs = workload->jobSpecs();
        for (JobSpec spec : workload->jobSpecs()) {
            spec.id += 2;
            for (JobId& id : spec.after) id += 2;
            specs.push_back(spec);
        }
        JobSpec unnamed = specs[0];
        unnamed.id = 42;
        unnamed.label.clear();
        unnamed.after = {7};  // not among them
        specs.push_back(unnamed);
        const auto again = parseWorkload(jobsToWorkloadJson(specs, "queue"), "/", shipped());
        VERIFY_READ(again);
        QCOMPARE(again->data.size(), std::size_t{2});
        QCOMPARE(again->jobs[4].id, std::string("t42"));
        QVERIFY(again->jobs[0].bindings.at("x").data != again->jobs[2].bindings.at("x").data);
        QCOMPARE(again->jobs[2].bindings.at("x").data, again->jobs[3].bindings.at("y").data);
        QCOMPARE(again->jobs[3].after.size(), std::size_t{1});
        QCOMPARE(again->jobs[3].after[0].job, std::size_t{2});
    }

    void textThatIsNoUtf8IsWritten() {
        auto specs = parse(R"({"kernel": "square", "parameters": {"n": 4}})")->jobSpecs();
        specs[0].label = "caf\xE9";
        specs[0].save["y"] = "/tmp/\xFF.npy";
        VERIFY_READ(parseWorkload(jobsToWorkloadJson(specs, "\xE9"), "/", shipped()));
    }

    /// 100,000 jobs on one array, each of them reading and writing its part twice over.
    void manyJobsAreQuick() {
        auto data = std::make_shared<Data>("m", ElementType{}, 1000000, "zeros", 1, "");
        std::vector<JobSpec> jobs(100000);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            jobs[i].id = i + 1;
            jobs[i].kernel = shipped().find("square");
            jobs[i].bindings["x"] = {data, Access::ReadWrite, i % 50000 * 20, 20, false};
        }
        QElapsedTimer timer;
        timer.start();
        addImpliedDependencies(jobs);
        QCOMPARE(jobs[99999].after, (std::vector<JobId>{50000}));
        QVERIFY(jobs[49999].after.empty());
        QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
    }

private:
    static bool conflict(const JobSpec& a, const JobSpec& b) {
        const DataBinding& x = a.bindings.at("x");
        const DataBinding& y = b.bindings.at("x");
        return (x.access != Access::Read || y.access != Access::Read) && x.first < y.first + *y.count && y.first < x.first + *x.count;
    }

    static void compareJobs(const WorkloadJob& found, const WorkloadJob& expected) {
        QCOMPARE(found.id, expected.id);
        QCOMPARE(found.kernel->id, expected.kernel->id);
        QCOMPARE(found.parameters, expected.parameters);
        QCOMPARE(found.priority, expected.priority);
        QCOMPARE(found.device, expected.device);
        QCOMPARE(found.check, expected.check);
        QCOMPARE(found.seed, expected.seed);
        QCOMPARE(found.keepOutputs, expected.keepOutputs);
        QCOMPARE(found.save, expected.save);
        QCOMPARE(found.bindings.size(), expected.bindings.size());
        for (const auto& [name, binding] : expected.bindings) {
            const DataBinding& other = found.bindings.at(name);
            QCOMPARE(other.data->name(), binding.data->name());
            QVERIFY(other.data->type() == binding.data->type());
            QCOMPARE(other.data->count(), binding.data->count());
            QCOMPARE(other.data->fill(), binding.data->fill());
            QCOMPARE(other.data->seed(), binding.data->seed());
            QVERIFY(other.access == binding.access);
            QCOMPARE(other.first, binding.first);
            QCOMPARE(other.count.value_or(0), binding.count.value_or(0));
            QCOMPARE(other.newVersion, binding.newVersion);
            QCOMPARE(bool(other.version), bool(binding.version));
        }
    }

    /// For every binding, the first binding of the same datum: equal when the same ones share.
    static std::vector<std::string> sharing(const Workload& workload) {
        std::map<const Data*, std::string> first;
        std::vector<std::string> text;
        for (const WorkloadJob& job : workload.jobs)
            for (const auto& [name, binding] : job.bindings)
                for (const Data* data : {binding.data.get(), binding.version.get()})
                    if (data) text.push_back(first.try_emplace(data, job.id + "." + name).first->second);
        return text;
    }
};

QTEST_APPLESS_MAIN(WorkloadTest)
#include "tst_workload.moc"
