// kernel.json as people write it: what is read, what is warned of, and what every kind of mistake is answered with.
#include "scheduler/kernel/kernel.h"
#include "scheduler/kernel/launch_plan.h"

#include <QElapsedTimer>
#include <QtTest>

#include <fstream>

using namespace heteroscope;

namespace {

#define VERIFY_SAYS(result, part)                                                                       \
    do {                                                                                                \
        const auto said = (result);                                                                     \
        QVERIFY(!said);                                                                                 \
        QVERIFY2(said.error().message.find(part) != std::string::npos, said.error().message.c_str());   \
    } while (false)

const std::string good = R"json({ "format": "heteroscope-kernel", "version": 1, "id": "axpy", "title": "AXPY", "description": "y = a*x + y",
  "parameters": { "n": { "default": 1000, "min": 1, "max": 100000 }, "a": { "default": 2.5 }, "steps": { "default": 3.0 } },
  "arguments": [
    { "name": "n", "kind": "scalar", "type": "uint", "value": "n" },
    { "name": "a", "kind": "scalar", "type": "float", "value": "a" },
    { "name": "v", "kind": "scalar", "type": "float4", "value": [1, "n/2", 3, 4] },
    { "name": "s", "kind": "scalar", "type": "bytes", "hex": "01 ff" },
    { "name": "x", "kind": "buffer", "type": "float", "count": "n", "access": "read", "fill": "uniform(0,1)", "constant": true },
    { "name": "y", "kind": "buffer", "type": "float", "count": "2*n", "access": "read-write", "fill": "iota" },
    { "name": "tile", "kind": "local", "type": "float", "count": 256 } ],
  "range": { "global": ["n"], "local": [64], "guarded": true },
  "work": { "flops": "2*n", "bytes": "12*n" },
  "split": { "dimension": 0, "extent": "n", "divide": { "x": 1, "y": 2 }, "halo": { "x": 1 } },
  "variants": [ { "language": "opencl-c", "file": "axpy.cl", "entry": "axpy", "options": ["-DA=1"], "include": ["inc"] },
                { "language": "cuda", "file": "axpy.cu", "entry": "axpy" } ],
  "reference": "saxpy", "check": { "relative": 1e-4 } })json";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    if (at == std::string::npos) qFatal("the test's own text has no %s", what.c_str());
    return text.replace(at, what.size(), by);
}

}  // namespace

class KernelPackageTest : public QObject {
    Q_OBJECT

    QTemporaryDir root_;
    std::vector<std::string> warnings_;

    std::filesystem::path folder() const { return std::filesystem::path(root_.path().toStdString()) / "mit Leerzeichen ü" / "axpy"; }

    Result<KernelPtr> load(const std::string& json) {
        std::filesystem::create_directories(folder());
        std::ofstream(folder() / "kernel.json", std::ios::binary) << json;
        std::ofstream(folder() / "axpy.cl", std::ios::binary) << "\xEF\xBB\xBF__kernel void axpy() {}\r\n// \xC3\xBC\r\n";
        std::ofstream(folder() / "axpy.cu", std::ios::binary) << "extern \"C\" __global__ void axpy() {}\n";
        warnings_.clear();
        return loadKernelPackage(folder(), warnings_);
    }

private slots:
    void everythingIsRead() {
        const auto loaded = load(good);
        QVERIFY2(bool(loaded), loaded ? "" : loaded.error().message.c_str());
        const Kernel& kernel = **loaded;
        QVERIFY2(warnings_.empty(), warnings_.empty() ? "" : warnings_[0].c_str());
        QCOMPARE(kernel.id, std::string("axpy"));
        QCOMPARE(kernel.parameters.size(), std::size_t{3});
        QCOMPARE(kernel.parameters[0].name, std::string("n"));  // in the order written, not sorted
        QCOMPARE(kernel.parameters[1].name, std::string("a"));
        QVERIFY(kernel.parameters[0].integral);
        QVERIFY(!kernel.parameters[1].integral);
        QVERIFY(!kernel.parameters[2].integral);  // 3.0
        QCOMPARE(kernel.arguments.size(), std::size_t{7});
        QCOMPARE(kernel.arguments[2].values, (std::vector<std::string>{"1", "n/2", "3", "4"}));
        QCOMPARE(kernel.arguments[3].raw, (std::vector<std::byte>{std::byte{1}, std::byte{255}}));
        QVERIFY(kernel.arguments[4].constant);
        QVERIFY(kernel.arguments[5].access == Access::ReadWrite);
        QVERIFY(kernel.arguments[6].kind == KernelArgument::Kind::Local);
        QVERIFY(kernel.range.guarded);
        QCOMPARE(kernel.split->divide.at("y"), std::string("2"));
        QCOMPARE(kernel.relativeTolerance, 1e-4);
        QCOMPARE(kernel.absoluteTolerance, 1e-6);
        const KernelVariant* variant = kernel.variant(Language::OpenClC);
        QVERIFY(variant);
        QCOMPARE(variant->source.text, std::string("__kernel void axpy() {}\n// \xC3\xBC\n"));
        QCOMPARE(variant->source.file, (folder() / "axpy.cl").string());
        QCOMPARE(variant->source.includeDirs, (std::vector<std::string>{folder().string(), (folder() / "inc").string()}));
        QVERIFY(kernel.variant(Language::CudaCpp));
    }

    void byteOrderMarkAndCarriageReturns() {
        std::string text = "\xEF\xBB\xBF";
        for (const char c : good) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
        QVERIFY(bool(load(text)));
    }

    void unknownFieldsAreNamed() {
        std::string text = replaced(good, R"("title")", R"("titel": 1, "title")");
        text = replaced(text, R"("access": "read",)", R"("acces": "read",)");
        QVERIFY(bool(load(text)));
        QCOMPARE(warnings_.size(), std::size_t{2});
        QVERIFY2(warnings_[0].find("unknown field \"titel\"; did you mean \"title\"?") != std::string::npos, warnings_[0].c_str());
        QVERIFY2(warnings_[1].find("/arguments/4: unknown field \"acces\"; did you mean \"access\"?") != std::string::npos, warnings_[1].c_str());
    }

    void mistakes_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("by");
        QTest::addColumn<QString>("says");
        int number = 0;
        const auto row = [&](const char* what, const char* by, const char* says) {
            QTest::addRow("%d %s", ++number, says) << QString::fromUtf8(what) << QString::fromUtf8(by) << QString::fromUtf8(says);
        };
        row(R"("version": 1)", R"("version": 2)", "/version: found 2; version 1 is expected");
        row(R"("version": 1,)", "", "missing \"version\"");
        row("heteroscope-kernel", "heteroscope-workload", "not a kernel package: \"format\" is \"heteroscope-workload\"");
        row(R"("format": "heteroscope-kernel",)", "", "not a kernel package: missing \"format\"");
        row(R"("id": "axpy")", R"("id": "../axpy")", "/id: found \"../axpy\"");
        row(R"("id": "axpy")", R"("id": 5)", "/id: found 5");
        row(R"("default": 1000)", R"("default": "1000")", "/parameters/n/default: found \"1000\"; a number is expected");
        row(R"("default": 1000)", R"("default": 0)", "a number from min to max");
        row(R"("min": 1)", R"("min": 200000)", "min 200000 is above max 100000");
        row(R"("default": 2.5)", R"("default": 2.5, "type": "int")", "has a fraction");
        row(R"("default": 2.5)", R"("default": 2.5, "type": "integer")", "int or float is expected");
        row(R"("default": 2.5)", R"("default": 1e999)", "not valid JSON");
        row(R"("a": {)", R"("min": {)", "min");
        row(R"("a": {)", R"("a b": {)", "/parameters/a b: a parameter's name");
        row(R"("type": "uint")", R"("type": "uint32")", "/arguments/0/type: found \"uint32\"");
        row(R"("value": "n")", R"("value": "m")", "unknown name \"m\"");
        row(R"("value": "n")", R"("valve": "n")", "/arguments/0: missing \"value\"");
        row(R"([1, "n/2", 3, 4])", R"([1, 2])", "2 values found; float4 takes 4");
        row(R"([1, "n/2", 3, 4])", R"([1, 2, {}, 4])", "/arguments/2/value/2: found an object");
        row(R"("01 ff")", R"("01 f")", "3 hexadecimal digits");
        row(R"("01 ff")", R"("01 fg")", "is not hexadecimal");
        row(R"("kind": "buffer")", R"("kind": "bufer")", "/arguments/4/kind: found \"bufer\"; scalar, buffer or local");
        row(R"("count": "n")", R"("count": true)", "");
        row(R"("count": "n")", R"("count": [5])", "/arguments/4/count: found a list of 1");
        row(R"("access": "read",)", R"("access": "readwrite",)", "/arguments/4/access: found \"readwrite\"; read, write or read-write");
        row(R"("name": "x")", R"("name": "n")", "a second argument \"n\"");
        row(R"("global": ["n"])", R"("global": [])", "/range/global: found a list of 0; a list of 1 to 3 sizes");
        row(R"("global": ["n"])", R"("global": "n")", "/range/global: found \"n\"; a list of 1 to 3 sizes");
        row(R"("local": [64])", R"("local": [8, 8])", "2 sizes found; as many as in global, 1");
        row(R"("guarded": true)", R"("guarded": "yes")", "/range/guarded: found \"yes\"; true or false");
        row(R"("flops": "2*n")", R"("flops": "2*size")", "/work/flops: expression \"2*size\": unknown name \"size\"");
        row(R"("dimension": 0)", R"("dimension": 1)", "/split/dimension: found 1");
        row(R"("extent": "n")", R"("extent": "m")", "no parameter \"m\"");
        row(R"("divide": { "x": 1)", R"("divide": { "z": 1)", "no buffer \"z\"; known: x, y");
        row(R"("halo": { "x": 1 })", R"("merge": { "x": "sum" })", "is divided already");
        row(R"("language": "cuda")", R"("language": "opencl-c")", "a second variant in opencl-c");
        row(R"("language": "cuda")", R"("language": "metal")", "/variants/1/language: found \"metal\"; opencl-c or cuda");
        row(R"("file": "axpy.cl")", R"("file": "missing.cl")", "missing.cl: no such file");
        row(R"("file": "axpy.cl")", R"("file": "../axpy")", "is a folder");
        row(R"("relative": 1e-4)", R"("relative": -1)", "a tolerance from 0");
        row(R"("title": "AXPY")", R"("id": "again")", "\"id\" stands twice");
        row(R"("version": 1,)", R"("version": 1,,)", "not valid JSON: line 1, column");
    }
    void mistakes() {
        QFETCH(QString, what);
        QFETCH(QString, by);
        QFETCH(QString, says);
        const auto loaded = load(replaced(good, what.toStdString(), by.toStdString()));
        if (says.isEmpty()) {  // true is the number 1 in an expression
            QVERIFY(bool(loaded));
            return;
        }
        VERIFY_SAYS(loaded, says.toStdString());
        VERIFY_SAYS(loaded, "kernel.json");
        QVERIFY(loaded.error().kind == ErrorKind::InvalidInput);
    }

    void malformedJsonHasItsPlace() {
        const auto loaded = load("{\n  \"format\": \"heteroscope-kernel\",\n  \"id\" 5 }");
        VERIFY_SAYS(loaded, "line 3, column 8");
        QCOMPARE(loaded.error().line, 3);
        QVERIFY(QString::fromStdString(loaded.error().file).endsWith(QStringLiteral("kernel.json")));
    }

    void foreignFiles() {
        VERIFY_SAYS(load(""), "the file is empty");
        VERIFY_SAYS(load(" \n "), "the file is empty");
        VERIFY_SAYS(load("[1, 2, 3]"), "not a kernel package: found a list of 3");
        VERIFY_SAYS(load("{}"), "not a kernel package: missing \"format\"");
        VERIFY_SAYS(load("null"), "not a kernel package");
        VERIFY_SAYS(load("{\"nodes\": [], \"edges\": []}"), "not a kernel package: missing");
        VERIFY_SAYS(load(std::string("\x7F" "ELF\0\0", 6)), "is a binary file");
        VERIFY_SAYS(load(std::string("\xFF\xFE{\0", 4)), "is UTF-16");
        VERIFY_SAYS(load(std::string(10'000, '[')), "nested deeper than 64");
        VERIFY_SAYS(load("{\"a\": \"" + std::string(100'000, 'x')), "not valid JSON");
        QVERIFY(load("{\"a\": \"" + std::string(100'000, 'x')).error().message.size() < 1000);
        std::filesystem::remove(folder() / "kernel.json");
        VERIFY_SAYS(loadKernelPackage(folder(), warnings_), "no such file");
        std::filesystem::create_directory(folder() / "kernel.json");
        VERIFY_SAYS(loadKernelPackage(folder(), warnings_), "is a folder");
        std::filesystem::remove(folder() / "kernel.json");
    }

    void hugeFileIsRefusedAtOnce() {
        std::string text = "{\"values\": [";
        while (text.size() < 50'000'000) text += "1.25, 3.5, ";
        QElapsedTimer timer;
        const auto loaded = load(text + "0]}");
        timer.start();
        VERIFY_SAYS(loadKernelPackage(folder(), warnings_), "47.7\u2009MiB, 1.00\u2009MiB is the most");
        QVERIFY(timer.elapsed() < 1000);
    }

    void laterFolderHidesEarlier() {
        const std::filesystem::path base = root_.path().toStdString();
        const auto put = [&](const std::string& place, const std::string& json) {
            std::filesystem::create_directories(base / place);
            std::ofstream(base / place / "kernel.json") << json;
            std::ofstream(base / place / "axpy.cl") << "x";
            std::ofstream(base / place / "axpy.cu") << "x";
        };
        put("installed/axpy", good);
        put("installed/other", replaced(good, R"("id": "axpy")", R"("id": "other")"));
        put("installed/twice", replaced(good, R"("id": "axpy")", R"("id": "other")"));
        put("installed/broken", "{");
        put("user/mine", replaced(good, "AXPY", "mine"));
        std::filesystem::create_directories(base / "installed/no-package");
        const auto catalogue = KernelCatalogue::load({base / "installed", base / "user", base / "not there"});
        QCOMPARE(catalogue.kernels().size(), std::size_t{2});
        QCOMPARE(catalogue.find("axpy")->title, std::string("mine"));
        QVERIFY(catalogue.find("other"));
        QVERIFY(!catalogue.find("nothing"));
        QVERIFY(!catalogue.find(""));
        QCOMPARE(catalogue.problems().size(), std::size_t{2});
        QVERIFY(catalogue.problems()[0].message.find("broken") != std::string::npos);
        QVERIFY2(catalogue.problems()[1].message.find("id \"other\" is taken by") != std::string::npos, catalogue.problems()[1].message.c_str());
    }

    void parametersAreResolved() {
        const auto kernel = *load(good);
        QCOMPARE(kernel->resolve({{"n", 7}})->at("n"), 7.0);
        QCOMPARE(kernel->resolve({})->at("a"), 2.5);
        VERIFY_SAYS(kernel->resolve({{"n", 0}}), "parameter n = 0: 1 to 100000 is allowed");
        VERIFY_SAYS(kernel->resolve({{"n", 1e9}}), "parameter n = 1000000000: 1 to 100000 is allowed");
        VERIFY_SAYS(kernel->resolve({{"n", 1.5}}), "parameter n = 1.5: a whole number is expected");
        VERIFY_SAYS(kernel->resolve({{"n", std::numeric_limits<double>::quiet_NaN()}}), "not a finite number");
        VERIFY_SAYS(kernel->resolve({{"step", 1}}), "unknown parameter \"step\"; did you mean \"steps\"?");
        VERIFY_SAYS(kernel->resolve({{"completely", 1}}), "known: n, a, steps");
        QCOMPARE(kernel->resolve({{"a", 0.5}})->at("a"), 0.5);
    }

    /// Every package that ships loads without a word and can be planned with its defaults.
    void shippedPackages() {
        const auto catalogue = KernelCatalogue::load({std::filesystem::path(PROJECT_DIR) / "kernels"});
        for (const Error& problem : catalogue.problems()) qWarning("%s", problem.message.c_str());
        QVERIFY(catalogue.problems().empty());
        QVERIFY2(catalogue.warnings().empty(), catalogue.warnings().empty() ? "" : catalogue.warnings()[0].c_str());
        QVERIFY(catalogue.kernels().size() >= 10);
        for (const KernelPtr& kernel : catalogue.kernels()) {
            const auto plan = planLaunch(kernel, {});
            QVERIFY2(bool(plan), plan ? "" : plan.error().message.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(KernelPackageTest)
#include "tst_kernel_package.moc"
