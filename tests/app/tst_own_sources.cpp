// A person's own .cl file from the command line: it builds before its arguments are checked, runs, and saves what it made.
#include "program_process.h"

#include <QTest>

#include <cstring>

using namespace heteroscope;

class OwnSourcesTest : public QObject {
    Q_OBJECT
private slots:
    void runsAndSaves();
    void savesByPosition();
    void onlyKernelNeedsNoEntry();
    void localMemoryAndOptions();
    void includesLieBesideTheFileOrWhereNamed();
    void blanksAndUmlautsInPaths();
    void crlfAndByteOrderMark();
    void printfStaysOutOfTheDocument();
    void brokenSourceIsABuildFailureAtItsLine();
    void brokenSourceComesBeforeBadArguments();
    void refusesBadCalls_data();
    void refusesBadCalls();

private:
    ProgramRunner program_;
};

namespace {

QStringList words(const QString& text) { return text.split(QLatin1Char(' '), Qt::SkipEmptyParts); }

const QByteArray twice = R"(// doubles and adds
kernel void twice(global const float* in, global float* out, const float more) {
    const size_t i = get_global_id(0);
    out[i] = 2.0f * in[i] + more;
}
)";

/// The float values of a NumPy file, format 1.0.
std::vector<float> readFloats(const QString& file) {
    QFile npy(file);
    if (!npy.open(QIODevice::ReadOnly)) return {};
    const QByteArray bytes = npy.readAll();
    if (!bytes.startsWith("\x93NUMPY\x01") || bytes.size() < 10) return {};
    const auto header = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
    const QByteArray data = bytes.mid(10 + header);
    std::vector<float> values(static_cast<std::size_t>(data.size()) / sizeof(float));
    std::memcpy(values.data(), data.constData(), values.size() * sizeof(float));
    return values;
}

}  // namespace

void OwnSourcesTest::runsAndSaves() {
    const auto file = program_.write(QStringLiteral("twice.cl"), twice);
    const auto saved = program_.path(QStringLiteral("out.npy"));
    const auto finished = program_.json(words(QStringLiteral("run %1 --entry twice --global 5 --arg buffer:float:5:iota --arg buffer:float:5:zeros:write "
                                                             "--arg float:0.5 --save out=%2").arg(file, saved)));
    VERIFY_ENDED(finished, 0);
    QCOMPARE(finished.document["jobs"][0]["state"], nlohmann::json("succeeded"));
    QCOMPARE(finished.document["jobs"][0]["check"], nlohmann::json("none"));
    QCOMPARE(readFloats(saved), (std::vector<float>{0.5f, 2.5f, 4.5f, 6.5f, 8.5f}));
}

void OwnSourcesTest::savesByPosition() {
    const auto file = program_.write(QStringLiteral("twice.cl"), twice);
    const auto finished = program_.run(words(QStringLiteral("run %1 --entry twice --global 3 --local 3 --arg buffer:float:3:values(1,2,3) "
                                                            "--arg buffer:float:3:zeros:write --arg float:0 --save 1=byposition.npy").arg(file)));
    VERIFY_ENDED(finished, 0);
    QCOMPARE(readFloats(program_.path(QStringLiteral("byposition.npy"))), (std::vector<float>{2, 4, 6}));
}

void OwnSourcesTest::onlyKernelNeedsNoEntry() {
    const auto file = program_.write(QStringLiteral("twice.cl"), twice);
    VERIFY_ENDED(program_.run(words(QStringLiteral("run %1 --global 4 --arg buffer:float:4 --arg buffer:float:4:zeros:write --arg float:1").arg(file))), 0);
    const auto two = program_.write(QStringLiteral("two.cl"), twice + QByteArray("kernel void other(global int* a) { a[0] = 1; }\n"));
    const auto finished = program_.run(words(QStringLiteral("run %1 --global 4").arg(two)));
    VERIFY_ENDED(finished, 2);
    QVERIFY(finished.messages.contains("twice") && finished.messages.contains("other"));
}

void OwnSourcesTest::localMemoryAndOptions() {
    const auto file = program_.write(QStringLiteral("sum.cl"), R"(kernel void sum(global const float* in, global float* out, local float* part) {
    const uint l = get_local_id(0);
    part[l] = in[get_global_id(0)] * SCALE;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) { float s = 0; for (uint i = 0; i < get_local_size(0); ++i) s += part[i]; out[get_group_id(0)] = s; }
})");
    const auto saved = program_.path(QStringLiteral("sum.npy"));
    const auto finished = program_.run(words(QStringLiteral("run %1 --entry sum --global 16 --local 4 --option -DSCALE=3 --arg buffer:float:16:value(1) "
                                                            "--arg buffer:float:4:zeros:write --arg local:16 --save out=%2").arg(file, saved)));
    VERIFY_ENDED(finished, 0);
    QCOMPARE(readFloats(saved), (std::vector<float>{12, 12, 12, 12}));
}

void OwnSourcesTest::includesLieBesideTheFileOrWhereNamed() {
    QVERIFY(QDir().mkpath(program_.path(QStringLiteral("inc dir"))));
    program_.write(QStringLiteral("inc dir/far.h"), "#define FAR 10.0f\n");
    program_.write(QStringLiteral("near.h"), "#define NEAR 1.0f\n");
    const auto file = program_.write(QStringLiteral("includes.cl"), "#include \"near.h\"\n#include \"far.h\"\nkernel void k(global float* a) { a[get_global_id(0)] = NEAR + FAR; }\n");
    const auto saved = program_.path(QStringLiteral("includes.npy"));
    auto call = words(QStringLiteral("run %1 --entry k --global 2 --arg buffer:float:2:zeros:write --save a=%2 --include").arg(file, saved));
    VERIFY_ENDED(program_.run(call << program_.path(QStringLiteral("inc dir"))), 0);
    QCOMPARE(readFloats(saved), (std::vector<float>{11, 11}));
}

void OwnSourcesTest::blanksAndUmlautsInPaths() {
    QVERIFY(QDir().mkpath(program_.path(QStringLiteral("x -cl-opt größe"))));
    const auto file = program_.write(QStringLiteral("x -cl-opt größe/mein kern.cl"), twice);
    const auto saved = program_.path(QStringLiteral("größe aus.npy"));
    const auto finished = program_.run({QStringLiteral("run"), file, QStringLiteral("--entry"), QStringLiteral("twice"), QStringLiteral("--global"), QStringLiteral("2"),
                                        QStringLiteral("--arg"), QStringLiteral("buffer:float:2:value(4)"), QStringLiteral("--arg"), QStringLiteral("buffer:float:2:zeros:write"),
                                        QStringLiteral("--arg"), QStringLiteral("float:0"), QStringLiteral("--save"), QStringLiteral("out=") + saved});
    VERIFY_ENDED(finished, 0);
    QCOMPARE(readFloats(saved), (std::vector<float>{8, 8}));
}

void OwnSourcesTest::crlfAndByteOrderMark() {
    QByteArray text = "\xEF\xBB\xBF" + twice;
    text.replace("\n", "\r\n");
    const auto file = program_.write(QStringLiteral("crlf.cl"), text);
    VERIFY_ENDED(program_.run(words(QStringLiteral("run %1 --entry twice --global 4 --arg buffer:float:4 --arg buffer:float:4:zeros:write --arg float:1").arg(file))), 0);
}

void OwnSourcesTest::printfStaysOutOfTheDocument() {
    const auto file = program_.write(QStringLiteral("talk.cl"), "kernel void talk(global int* a) { a[0] = 1; printf(\"hello from the kernel\\n\"); }\n");
    const auto finished = program_.json(words(QStringLiteral("run %1 --entry talk --global 1 --arg buffer:int:1:zeros:write").arg(file)));
    VERIFY_ENDED(finished, 0);
    QVERIFY(finished.isDocument());
    QVERIFY(!finished.answer.contains("hello from the kernel") || finished.document["jobs"][0]["log"].is_string());
    QCOMPARE(finished.answer.count('\n'), 1);
}

void OwnSourcesTest::brokenSourceIsABuildFailureAtItsLine() {
    const auto file = program_.write(QStringLiteral("broken.cl"), "kernel void k(global float* a) {\n    a[0] = 1.0f\n}\n");
    const auto finished = program_.json(words(QStringLiteral("run %1 --entry k --global 1 --arg buffer:float:1").arg(file)));
    VERIFY_ENDED(finished, 1);
    QVERIFY(finished.isDocument());
    const auto& job = finished.document["jobs"][0];
    QCOMPARE(job["state"], nlohmann::json("failed"));
    QCOMPARE(job["error"]["kind"], nlohmann::json("build-failed"));
    QCOMPARE(job["error"]["file"], nlohmann::json(file.toStdString()));
    QCOMPARE(job["error"]["line"], nlohmann::json(2));
    QVERIFY(!job["error"]["log"].get<std::string>().empty());
    QVERIFY(finished.messages.contains("broken.cl:2"));
}

void OwnSourcesTest::brokenSourceComesBeforeBadArguments() {
    const auto file = program_.write(QStringLiteral("broken.cl"), "kernel void k(global float* a) {\n    a[0] = 1.0f\n}\n");
    VERIFY_ENDED(program_.run(words(QStringLiteral("run %1 --entry nothing --global 1 --arg nonsense").arg(file))), 1);
}

void OwnSourcesTest::refusesBadCalls_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* call, const char* says) { QTest::newRow(call) << call << says; };
    row("--entry none --global 4", "twice");
    row("--entry twice", "--global");
    row("--entry twice --global 4 --arg buffer:float:4", "3");
    row("--entry twice --global 4 --arg buffer:floaty:4", "floaty");
    row("--entry twice --global 0", "0");
    row("--entry twice --global 4,x", "--global");
    row("--entry twice --global 1000 --local 64 --arg buffer:float:1000 --arg buffer:float:1000:zeros:write --arg float:1", "64");
    row("--entry twice --global 4 --arg buffer:float:4 --arg buffer:float:4:zeros:write --arg float:x", "x");
    row("--entry twice --global 4 --arg buffer:float:4 --arg buffer:float:4:zeros:write --arg float:1 --save 7=a.npy", "7");
    row("--entry twice --global 4 --arg buffer:float:4 --arg buffer:float:4:zeros:write --arg float:1 --save more=a.npy", "no buffer");
    row("--entry twice --global 4 -p n=5", "--arg");
    row("--entry twice --global 4 --arg buffer:float:1000000000000000 --arg buffer:float:4:zeros:write --arg float:1", "GiB");
}

void OwnSourcesTest::refusesBadCalls() {
    QFETCH(QString, call);
    QFETCH(QString, says);
    const auto file = program_.write(QStringLiteral("twice.cl"), twice);
    const auto finished = program_.run(QStringList{QStringLiteral("run"), file} + words(call));
    VERIFY_ENDED(finished, 2);
    QVERIFY2(finished.messages.contains(says.toUtf8()), finished.messages.constData());
}

QTEST_GUILESS_MAIN(OwnSourcesTest)
#include "tst_own_sources.moc"
