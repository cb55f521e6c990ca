#include "tests/support/qt_compare.h"
#include "tests/devices/sync_device.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

using namespace heteroscope;

namespace {

void write(const QString& path, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char* const storeValue = "__kernel void store(__global int* out) { out[0] = VALUE; }\n";

/// Builds, runs `store` on one int and gives what it wrote; a text when anything failed.
QString valueOf(Device& device, ProgramSource source) {
    const Result<Program> program = buildNow(device, std::move(source));
    if (!program) return QString::fromStdString(program.error().message);
    const Pages out(4096);
    const BufferId buffer = device.allocate(out.bytes().first(4));
    const Result<CommandTimes> ran = launchNow(device, {program->id, "store", {BufferArgument{buffer}}, range1(1)});
    const Result<CommandTimes> back = downloadNow(device, buffer);
    device.release(buffer);
    if (!ran) return QString::fromStdString(ran.error().message);
    if (!back) return QString::fromStdString(back.error().message);
    return QString::number(*out.as<int>());
}

}  // namespace

/// Every case on every device there is.
class TestOpenClBuild : public QObject {
    Q_OBJECT

private:
    std::vector<std::shared_ptr<Device>> devices_;

private slots:
    void initTestCase() {
        devices_ = openDevices();
        QCOMPARE(devices_.size(), std::size_t{2});  // PoCL's pthread and basic
    }

    void saysFileLineAndWhy() {
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("__kernel void a(__global int* x) {\n  int y = 1;\n  x[0] = y\n}\n", "/home/me/kernels/mine.cl"));
            QVERIFY(!built);
            const Error& error = built.error();
            QCOMPARE(error.kind, ErrorKind::BuildFailed);
            QCOMPARE(error.file, std::string("/home/me/kernels/mine.cl"));
            QCOMPARE(error.line, 3);
            QVERIFY2(holds(error.message, "/home/me/kernels/mine.cl, line 3") && holds(error.message, device->info().id) && holds(error.message, "expected ';'"),
                     error.message.c_str());
            QVERIFY2(holds(error.log, "/home/me/kernels/mine.cl:3:") && holds(error.log, "expected ';'"), error.log.c_str());
        }
    }

    void namesTheUsersFileWhateverItsName_data() {
        QTest::addColumn<QByteArray>("file");
        for (const char* name : {"/home/me/my kernels/a b.cl", "/home/me/\"quoted\".cl", "/home/me/b\\n.cl", "/home/me/\xC3\xA4\xE4\xB8\xAD.cl",
                                 "it's %s 50%.cl", "x -g -cl-opt.cl", "a:1:2: error: b.cl", ""})
            QTest::newRow(name) << QByteArray(name);
    }

    void namesTheUsersFileWhateverItsName() {
        QFETCH(QByteArray, file);
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("\r\n\r\n__kernel void a(__global int* x) { x[0] = y; }", file.toStdString()));
            QVERIFY(!built);
            QCOMPARE(built.error().line, 3);
            QCOMPARE(QByteArray::fromStdString(built.error().file), file);
        }
    }

    void keepsWarnings() {
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("__kernel void a(__global int* x) {\n int unused;\n x[0] == 1;\n x[0] = 2; }", "w.cl"));
            QVERIFY2(bool(built), built ? "" : built.error().message.c_str());
            QVERIFY2(holds(built->log, "w.cl:3:"), built->log.c_str());
        }
    }

    void undefinedFunctionSaysWhich() {
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("int foo(int);\n__kernel void a(__global int* x) { x[0] = foo(1); }"));
            QVERIFY(!built);
            QVERIFY2(holds(built.error().message, "foo"), built.error().message.c_str());
            QVERIFY(!built.error().log.empty());
        }
    }

    void windowsTextGivesTheSameResult() {
        for (const auto& device : devices_)
            QCOMPARE(valueOf(*device, sourceOf("\xEF\xBB\xBF#define VALUE 40 + \\\r\n 2\r\n__kernel void store(__global int* out) {\r\n out[0] = VALUE; }")), QStringLiteral("42"));
    }

    void headerThatIsMissingIsNamed() {
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("\n#include \"nope_42.h\"\n__kernel void a(__global int* x) { x[0] = 1; }"));
            QVERIFY(!built);
            QVERIFY2(holds(built.error().message, "nope_42.h"), built.error().message.c_str());
            QCOMPARE(built.error().line, 2);
        }
    }

    void errorInAHeaderIsShownThere() {
        QTemporaryDir folder;
        const QString odd = folder.filePath(QStringLiteral("my in-g c"));
        write(odd + QStringLiteral("/broken.h"), "int f(void) {\n return 1\n}\n");
        for (const auto& device : devices_) {
            const Result<Program> built =
                buildNow(*device, sourceOf("#include \"broken.h\"\n__kernel void a(__global int* x) { x[0] = f(); }", "mine.cl", {}, {odd.toStdString()}));
            QVERIFY(!built);
            QCOMPARE(QString::fromStdString(built.error().file), odd + QStringLiteral("/broken.h"));
            QCOMPARE(built.error().line, 2);
            QVERIFY(!holds(built.error().log, "heteroscope_"));
        }
    }

    void changedHeaderIsSeenAndDeletedOneMissed() {
        for (const auto& device : devices_) {
            QTemporaryDir folder;
            const QString header = folder.filePath(QStringLiteral("value.h"));
            // "# include" is not found by drivers that look for "#include" alone before they use their own cache.
            const ProgramSource source = sourceOf(std::string("# include \"value.h\"\n") + storeValue, folder.filePath(QStringLiteral("mine.cl")).toStdString());
            write(header, "#define VALUE 1\n");
            QCOMPARE(valueOf(*device, source), QStringLiteral("1"));
            write(header, "#define VALUE 2\n");
            QCOMPARE(valueOf(*device, source), QStringLiteral("2"));
            QVERIFY(QFile::remove(header));
            const Result<Program> built = buildNow(*device, source);
            QVERIFY(!built);
            QVERIFY2(holds(built.error().message, "value.h"), built.error().message.c_str());
            write(header, "#define VALUE 3\n");
            QCOMPARE(valueOf(*device, source), QStringLiteral("3"));
        }
    }

    void computedIncludeIsNeverStale() {
        for (const auto& device : devices_) {
            QTemporaryDir folder;
            const QString header = folder.filePath(QStringLiteral("value.h"));
            const ProgramSource source =
                sourceOf(std::string("#define FILE \"value.h\"\n#include FILE\n") + storeValue, folder.filePath(QStringLiteral("mine.cl")).toStdString());
            write(header, "#define VALUE 1\n");
            QCOMPARE(valueOf(*device, source), QStringLiteral("1"));
            write(header, "#define VALUE 2\n");
            QCOMPARE(valueOf(*device, source), QStringLiteral("2"));
        }
    }

    void sameSourceIsBuiltOnce() {
        for (const auto& device : devices_) {
            const ProgramSource source = sourceOf(storeValue, "once.cl", {"-D", "VALUE=1"});
            const Result<Program> first = buildNow(*device, source), second = buildNow(*device, source);
            QVERIFY(first && second);
            QCOMPARE(second->id, first->id);
            const Result<Program> other = buildNow(*device, sourceOf(storeValue, "once.cl", {"-DVALUE=2"}));
            QVERIFY(other && other->id != first->id);
        }
    }

    void includeFoldersMayHaveAnyName_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"x-g", "x -cl-opt", "in c", "\xC3\xA4\xE4\xB8\xAD", "it's \"so\"", "-Dx", "a;b$(c)"})
            QTest::newRow(name) << QString::fromUtf8(name);
    }

    void includeFoldersMayHaveAnyName() {
        QFETCH(QString, name);
        QTemporaryDir home;
        const QString folder = home.filePath(name);
        write(folder + QStringLiteral("/value.h"), "#include \"sub/other.h\"\n#define VALUE OTHER\n");
        write(folder + QStringLiteral("/sub/other.h"), "#include \"../up.h\"\n#define OTHER UP\n");
        write(folder + QStringLiteral("/up.h"), "#define UP 7\n");
        for (const auto& device : devices_) {
            const std::string text = std::string("#include <value.h>\n") + storeValue;
            QCOMPARE(valueOf(*device, sourceOf(text, "mine.cl", {}, {folder.toStdString()})), QStringLiteral("7"));
            QCOMPARE(valueOf(*device, sourceOf(text, "mine.cl", {"-I", folder.toStdString()})), QStringLiteral("7"));
            QCOMPARE(valueOf(*device, sourceOf(text, "mine.cl", {"-I" + folder.toStdString()})), QStringLiteral("7"));
        }
    }

    void sourceBesideItsHeaderNeedsNoFolder() {
        QTemporaryDir home;
        const QString folder = home.filePath(QStringLiteral("my -g kernels"));
        write(folder + QStringLiteral("/value.h"), "#define VALUE 8\n");
        for (const auto& device : devices_)
            QCOMPARE(valueOf(*device, sourceOf(std::string("#include \"value.h\"\n") + storeValue, (folder + QStringLiteral("/mine.cl")).toStdString())), QStringLiteral("8"));
    }

    void definitionsMayHoldAnything_data() {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("value");
        QTest::newRow("blanks") << QStringLiteral("-DVALUE=1 + 2 * 3") << QStringLiteral("7");
        QTest::newRow("negative") << QStringLiteral("-DVALUE=-5") << QStringLiteral("-5");
        QTest::newRow("quotes") << QStringLiteral("-DVALUE=sizeof(\"a b -g\")") << QStringLiteral("7");
        QTest::newRow("character") << QStringLiteral("-DVALUE='A'") << QStringLiteral("65");
        QTest::newRow("plain") << QStringLiteral("-DVALUE=9") << QStringLiteral("9");
        QTest::newRow("without a value") << QStringLiteral("-DVALUE") << QStringLiteral("1");
    }

    void definitionsMayHoldAnything() {
        QFETCH(QString, option);
        for (const auto& device : devices_) QTEST(valueOf(*device, sourceOf(storeValue, "mine.cl", {option.toStdString()})), "value");
    }

    void offendingOptionIsNamed() {
        QTemporaryDir home;
        const QString folder = home.filePath(QStringLiteral("in c"));
        QDir().mkpath(folder);
        for (const auto& device : devices_) {
            const Result<Program> built =
                buildNow(*device, sourceOf(storeValue, "mine.cl", {"-cl-fast-relaxed-math", "-D", "VALUE=1", "-cl-nonsense", "-w"}, {folder.toStdString()}));
            QVERIFY(!built);
            QCOMPARE(built.error().kind, ErrorKind::BuildFailed);
            QVERIFY2(holds(built.error().message, "'-cl-nonsense'") && holds(built.error().message, "CL_INVALID_BUILD_OPTIONS") && !holds(built.error().message, "relaxed"),
                     built.error().message.c_str());
        }
    }

    void refusesWhatIsNoOpenCl() {
        for (const auto& device : devices_) {
            ProgramSource cuda = sourceOf("__global__ void a() {}", "mine.cu");
            cuda.language = Language::CudaCpp;
            const Result<Program> built = buildNow(*device, cuda);
            QVERIFY(!built);
            QCOMPARE(built.error().kind, ErrorKind::Unsupported);
            QVERIFY(!buildNow(*device, sourceOf("")));
        }
    }

    void argumentsComeFromTheCompiledProgram() {
        const char* text =
            "typedef struct { int a; float b; } Pair;\n"
            "#define ARG __constant int* c\n"
            "// kernel void not_one(int x) {}\n"
            "#ifdef NEVER\n__kernel void twin(int x) {}\n#endif\n"
            "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void a(__global const float* restrict x, uint n, unsigned short s, float3 v, Pair p,\n"
            "    __local int* l, ARG, read_only image2d_t i, sampler_t m) { if (n > 100000u) ((__global float*)x)[0] = v.x; }\n"
            "kernel void b() {}\n";
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf(text));
            QVERIFY2(bool(built), built ? "" : built.error().log.c_str());
            QCOMPARE(built->entries.size(), std::size_t{2});
            const EntryInfo& entry = built->entries[0].name == "a" ? built->entries[0] : built->entries[1];
            QCOMPARE(entry.requiredLocal, (std::array<std::size_t, 3>{8, 4, 1}));
            QVERIFY(entry.maxWorkGroupSize > 0);
            std::vector<std::string> names, types;
            std::vector<AddressSpace> spaces;
            for (const ArgumentInfo& argument : entry.arguments) {
                names.push_back(argument.name);
                types.push_back(argument.type);
                spaces.push_back(argument.space);
            }
            using S = AddressSpace;
            QCOMPARE(names, (std::vector<std::string>{"x", "n", "s", "v", "p", "l", "c", "i", "m"}));
            QCOMPARE(types, (std::vector<std::string>{"float*", "uint", "ushort", "float3", "Pair", "int*", "int*", "image2d_t", "sampler_t"}));
            QVERIFY((std::vector<S>(spaces.begin(), spaces.begin() + 7) == std::vector<S>{S::Global, S::Private, S::Private, S::Private, S::Private, S::Local, S::Constant}));
            QVERIFY(entry.arguments[7].isImage && entry.arguments[8].isSampler);
        }
    }

    void doublesBuildWhereTheDeviceHasThem() {
        for (const auto& device : devices_) {
            const Result<Program> built = buildNow(*device, sourceOf("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n__kernel void a(__global double* x) { x[0] = 1.0; }"));
            QCOMPARE(bool(built), device->info().hasDouble);
            const Result<Program> half = buildNow(*device, sourceOf("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n__kernel void a(__global half* x) { half h = x[0]; x[1] = h + h; }"));
            QCOMPARE(bool(half), device->info().hasHalf);
            if (!half) QVERIFY(!half.error().log.empty() && half.error().line > 0);
        }
    }

    void manyBuildsAtOnceAllAnswer() {
        std::vector<std::future<QString>> values;
        for (int i = 0; i < 8; ++i)
            values.push_back(std::async(std::launch::async, [this, i] {
                return valueOf(*devices_[static_cast<std::size_t>(i) % devices_.size()], sourceOf(storeValue, "many.cl", {"-DVALUE=" + std::to_string(100 + i / 2)}));
            }));
        for (int i = 0; i < 8; ++i) QCOMPARE(values[static_cast<std::size_t>(i)].get(), QString::number(100 + i / 2));
    }

    void aBuildThatTakesTooLongIsLeftBehind() {
        const auto hasty = openDevices({true, std::chrono::nanoseconds(1)});
        for (const auto& device : hasty) {
            const Result<Program> built = buildNow(*device, sourceOf("__kernel void slow(__global int* x) { x[0] = 1; }", "slow.cl"));
            QVERIFY(!built);
            QCOMPARE(built.error().kind, ErrorKind::TimedOut);
            QVERIFY2(holds(built.error().message, "slow.cl") && holds(built.error().message, device->info().id), built.error().message.c_str());
            const Pages page(4096);
            QVERIFY(uploadNow(*device, device->allocate(page.bytes())));  // the device goes on
        }
        // PoCL compiles one after the other: once this is built, those left behind are through.
        for (const auto& device : devices_) QCOMPARE(valueOf(*device, sourceOf(storeValue, "after.cl", {"-DVALUE=77"})), QStringLiteral("77"));
    }

    void closingAnswersWhatIsNotBuiltYet() {
        std::atomic<int> answers{0}, cancelled{0};
        {
            const auto closing = openDevices();
            for (int i = 0; i < 6; ++i)
                closing[0]->build(sourceOf(storeValue, "late.cl", {"-DVALUE=" + std::to_string(1000 + i)}), [&](Result<Program> built) {
                    ++answers;
                    if (!built && built.error().kind == ErrorKind::Cancelled) ++cancelled;
                });
        }
        QCOMPARE(answers.load(), 6);
        QVERIFY(cancelled.load() >= 1);
    }
};

QTEST_GUILESS_MAIN(TestOpenClBuild)
#include "tst_opencl_build.moc"
