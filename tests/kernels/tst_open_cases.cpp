// Bare .cl files of the shapes that published kernels have (double behind a typedef, local pointers, macros from the
// command line, east const, headers …), run as a person's own source on every device, with values known beforehand.
#include "device_run.h"
#include "devices/discovery.h"
#include "scheduler/kernel/own_source.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <numeric>

using namespace heteroscope;
using namespace heteroscope::test;

namespace {

using Texts = std::vector<std::string>;
using Sizes = std::vector<std::uint64_t>;

const std::filesystem::path dataFolder = TEST_DATA_DIR;

/// A .cl file, what it is called with, and nothing more.
struct Own {
    std::filesystem::path file;
    std::string entry;
    Sizes global;
    Sizes local;
    Texts arguments;
    Texts options = {};
    std::vector<std::filesystem::path> includes = {};

    Result<KernelPtr> kernel() const {
        OwnSource source;
        source.file = file.is_absolute() ? file : dataFolder / file;
        source.entry = entry;
        source.global = global;
        source.local = local;
        source.options = options;
        source.includes = includes;
        for (const std::string& text : arguments) {
            auto argument = parseArgument(text, source.arguments.size());
            if (!argument) return argument.error();
            source.arguments.push_back(std::move(*argument));
        }
        return makeOwnKernel(source);
    }
};

Result<DeviceRun> runOwn(Device& device, const Own& own) {
    const auto kernel = own.kernel();
    return kernel ? runOn(device, *kernel, {}) : kernel.error();
}

std::string list(int first, int last) {
    std::string text = "values(";
    for (int i = first; i <= last; ++i) text += std::to_string(i) + (i < last ? "," : ")");
    return text;
}

}  // namespace

class OpenCasesTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        discovery_ = discoverDevices();
        QVERIFY2(discovery_.devices.size() >= 2, "POCL_DEVICES=\"pthread basic\" gives two");
    }
    void cleanupTestCase() { discovery_.devices.clear(); }

    void featuresSwappedWithTwoKernelsInOneFile() {
        gives<float>({"swap_features.cl",
                      "swap_features",
                      {256},
                      {64},
                      {"buffer:float:12:iota:read", "buffer:float:12:zeros:write", "int:4", "int:3"}},
                     1, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
        gives<int>({"swap_features.cl",
                    "count_points",
                    {8},
                    {},
                    {"buffer:float:12:iota:read", "buffer:int:1:zeros:write", "int:4"}},
                   1, {4});
    }
    void gemmWithDoubleBehindATypedef() {
        gives<double>({"gemm_typedef.cl",
                       "gemm",
                       {32, 8},
                       {32, 8},
                       {"buffer:double:4:values(1,2,3,4):read", "buffer:double:4:values(1,0,0,1):read",
                        "buffer:double:4:value(1):read-write", "double:2", "double:3", "int:2", "int:2", "int:2"}},
                      2, {5, 7, 9, 11});
    }
    void convolutionOfOnesLeavesTheBorder() {
        gives<float>({"convolve_3x3.cl",
                      "convolve",
                      {32, 8},
                      {32, 8},
                      {"buffer:float:25:value(1):read", "buffer:float:25:value(-3):read-write", "int:5", "int:5"}},
                     1, {-3,  -3, -3, -3,  -3,  -3,  0.5, 0.5, 0.5, -3, -3, 0.5, 0.5,
                         0.5, -3, -3, 0.5, 0.5, 0.5, -3,  -3,  -3,  -3, -3, -3});
    }
    void sumInALocalPointerWithATypeFromAMacro() {
        gives<float>({"sum_in_local.cl",
                      "sum_in_local",
                      {2048},
                      {256},
                      {"buffer:float:4096:value(1):read", "buffer:float:8:zeros:write", "local:1024", "uint:4096"},
                      {"-D", "FPTYPE=float"}},
                     1, std::vector<float>(8, 512.0f));
    }
    void sumWithoutItsMacroSaysWhichNameIsMissing() {
        const Own own{"sum_in_local.cl",
                      "sum_in_local",
                      {2048},
                      {256},
                      {"buffer:float:4096:value(1):read", "buffer:float:8:zeros:write", "local:1024", "uint:4096"}};
        const Error error = refused(own);
        QVERIFY(error.kind == ErrorKind::BuildFailed);
        QVERIFY2(error.log.find("FPTYPE") != std::string::npos, error.log.c_str());
        QCOMPARE(error.file, (dataFolder / "sum_in_local.cl").string());
        QCOMPARE(error.line, 2);
    }
    void sparseRowsWithAnIfdefAmongTheParameters() {
        gives<float>({"csr_product.cl",
                      "csr_rows",
                      {64},
                      {},
                      {"buffer:float:5:" + list(1, 5) + ":read", "buffer:float:3:values(1,10,100):read",
                       "buffer:int:5:values(0,2,1,0,2):read", "buffer:int:4:values(0,2,3,5):read", "int:3",
                       "buffer:float:3:zeros:write"}},
                     5, {201, 30, 504});
    }
    void tiledProductWithTwoLocalPointers() {
        gives<float>({"tiled_product.cl",
                      "tiled_product",
                      {48, 64},
                      {16, 16},
                      {"buffer:float:3072:zeros:write", "buffer:float:2048:value(1):read",
                       "buffer:float:1536:value(2):read", "local:1024", "local:1024", "int:32", "int:48", "int:64"},
                      {"-DBLOCK_SIZE=16"}},
                     0, std::vector<float>(3072, 64.0f));
    }
    void gameOfLifeWithALocalHaloOfChars() {
        // .O......    ........
        // ..O.....    O.O.....
        // OOO.....  → .OO.....
        // ........    .O......
        gives<char>({"game_of_life.cl",
                     "next_generation",
                     {8, 8},
                     {4, 4},
                     {"buffer:char:64:values(" + board({{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}) + "):read",
                      "buffer:char:64:zeros:write", "uint:8", "uint:8", "local:36"}},
                    1, cells({{0, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 3}}));
    }
    void escapeOfPointsWithEastConst() {
        gives<int>({"escape_points.cl",
                    "escape",
                    {4},
                    {},
                    {"buffer:float:4:values(0,2,0.25,-1):read", "buffer:float:4:values(0,2,0,0):read",
                     "buffer:int:4:zeros:write", "int:50"}},
                   2, {-1, 0, -1, -1});
    }
    void floatSumByCompareAndExchange() {
        gives<float>({"atomic_float_sum.cl",
                      "sum_all",
                      {1024},
                      {128},
                      {"buffer:float4:1024:value(1):read", "buffer:float:1:zeros:read-write", "uint:1024"},
                      {"-D", "VECTOR_SIZE=4", "-D", "WORK_GROUP_SIZE=128"}},
                     1, {4096});
    }
    void eachLetterBecomesTheNextOne() {
        const std::string text = "GdkknVnqkc";
        std::string values;
        for (char letter : text) values += (values.empty() ? "" : ",") + std::to_string(int{letter});
        gives<char>({"next_letter.cl",
                     "next_letter",
                     {10},
                     {},
                     {"buffer:char:10:values(" + values + "):read", "buffer:char:10:zeros:write"}},
                    1, {'H', 'e', 'l', 'l', 'o', 'W', 'o', 'r', 'l', 'd'});
    }

    void aStructByValueIsBytes() {
        // char 7, 7 bytes of padding, double 0.5, int -3, 4 bytes of padding
        gives<double>({"struct_by_value.cl",
                       "apply",
                       {1},
                       {},
                       {"bytes:0700000000000000"
                        "000000000000e03f"
                        "fdffffff00000000",
                        "buffer:double:4:zeros:write"}},
                      1, {7, 0.5, -3, 24});
    }
    void vectorsByValue() {
        gives<float>({"vectors_by_value.cl",
                      "vectors",
                      {1},
                      {},
                      {"float4:1,2.5,-3,4", "int3:-5,6,7", "uchar2:8,255", "buffer:float:9:zeros:write"}},
                     3, {1, 2.5, -3, 4, -5, 6, 7, 8, 255});
    }
    void scalarsHaveTheirOwnWidth() {
        gives<double>({"scalar_widths.cl",
                       "widths",
                       {1},
                       {},
                       {"char:-128", "uchar:255", "short:-32768", "ushort:65535", "int:-2147483648", "uint:4294967295",
                        "long:-9007199254740993", "ulong:18446744073709551615", "float:0.1", "double:0.1",
                        "buffer:double:10:zeros:write"}},
                      10,
                      {-128, 255, -32768, 65535, -2147483648.0, 4294967295.0, static_cast<double>(-9007199254740993LL),
                       18446744073709551615.0, static_cast<double>(0.1f), 0.1});
    }
    void aScalarOutsideItsTypeIsRefused_data() {
        QTest::addColumn<QString>("argument");
        QTest::newRow("char") << "char:128";
        QTest::newRow("uchar") << "uchar:-1";
        QTest::newRow("short") << "short:32768";
        QTest::newRow("uint") << "uint:4294967296";
        QTest::newRow("long") << "long:9223372036854775808";
        QTest::newRow("fraction") << "int:1.5";
        QTest::newRow("too few components") << "float4:1,2,3";
    }
    void aScalarOutsideItsTypeIsRefused() {
        QFETCH(QString, argument);
        const auto parsed = parseArgument(argument.toStdString(), 0);
        QVERIFY(!parsed);
        QVERIFY(parsed.error().kind == ErrorKind::InvalidInput);
    }
    void aScalarOfAnotherWidthIsRefused() {
        const Error error = refused(
            {"escape_points.cl",
             "escape",
             {4},
             {},
             {"buffer:float:4:zeros:read", "buffer:float:4:zeros:read", "buffer:int:4:zeros:write", "long:50"}});
        QVERIFY2(error.kind == ErrorKind::InvalidInput, error.message.c_str());
        QVERIFY2(
            error.message.find("4 bytes") != std::string::npos && error.message.find("8 bytes") != std::string::npos,
            error.message.c_str());
    }
    void boolIsNoKernelArgumentAndTheCompilerSaysWhere() {
        const Error error = refused({"bool_argument.cl", "flagged", {1}, {}, {"buffer:int:1:zeros:write", "bool:1"}});
        QVERIFY2(error.kind == ErrorKind::BuildFailed, error.message.c_str());
        QCOMPARE(error.file, (dataFolder / "bool_argument.cl").string());
        QCOMPARE(error.line, 4);
    }
    void denormalsAreKept() {
        // 4e-45 is three times the smallest float: half of it is 1.5 of it, rounded to the even 2.
        gives<float>({"halves.cl",
                      "halves",
                      {3},
                      {},
                      {"buffer:float:3:values(4e-45,1e-39,-1e-40):read", "buffer:float:3:zeros:write"}},
                     1, {2.8e-45f, 5e-40f, -5e-41f});
    }
    void aConstantPointerAndAProgramWideConstant() {
        gives<float>({"constant_weights.cl",
                      "weigh",
                      {4},
                      {},
                      {"buffer:float:2:values(1,10):read", "buffer:float:5:" + list(1, 5) + ":read",
                       "buffer:float:4:zeros:write", "int:2"}},
                     2, {121, 132, 143, 154});
    }
    void severalLocalPointersDoNotOverlap() {
        // Each takes its right neighbour's value, that one's place in the group, 100 and 1000.
        gives<int>({"several_locals.cl",
                    "rotate_group",
                    {8},
                    {4},
                    {"buffer:int:8:" + list(1, 8) + ":read-write", "local:4", "local:16", "local:32"}},
                   0, {1103, 1105, 1107, 1101, 1107, 1109, 1111, 1105});
    }
    void aRequiredWorkGroupSizeIsUsed() {
        gives<int>({"required_group.cl", "group_sizes", {16, 4}, {}, {"buffer:int:64:zeros:write"}}, 0,
                   std::vector<int>(64, 82));
    }
    void aWorkGroupSizeAgainstTheRequiredOneIsRefused() {
        const Error error =
            refused({"required_group.cl", "group_sizes", {16, 4}, {4, 4}, {"buffer:int:64:zeros:write"}});
        QVERIFY(error.kind == ErrorKind::InvalidInput);
        QVERIFY2(error.message.find("8") != std::string::npos, error.message.c_str());
    }
    void aSizeThatDoesNotFitTheRequiredOneIsRefused() {
        const Error error = refused({"required_group.cl", "group_sizes", {12, 4}, {}, {"buffer:int:64:zeros:write"}});
        QVERIFY(error.kind == ErrorKind::InvalidInput);
        QVERIFY2(error.message.find("12") != std::string::npos && error.message.find("8") != std::string::npos,
                 error.message.c_str());
    }
    void headersBesideTheFileAndInAFolder() {
        gives<int>(
            {"with_header.cl", "with_header", {3}, {}, {"buffer:int:3:zeros:write"}, {}, {dataFolder / "include"}}, 0,
            {42, 43, 44});
    }
    void aHeaderThatIsNotThereIsNamed() {
        const Error error = refused({"with_header.cl", "with_header", {3}, {}, {"buffer:int:3:zeros:write"}});
        QVERIFY(error.kind == ErrorKind::BuildFailed);
        QVERIFY2(error.log.find("inner.h") != std::string::npos, error.log.c_str());
        QCOMPARE(error.line, 2);
    }
    void windowsLineEndsByteOrderMarkAndContinuation_data() {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QByteArray>("before");
        QTest::addColumn<QByteArray>("lineEnd");
        QTest::newRow("LF") << "plain" << QByteArray() << QByteArray("\n");
        QTest::newRow("CRLF") << "crlf" << QByteArray() << QByteArray("\r\n");
        QTest::newRow("CRLF and byte-order mark") << "mark" << QByteArray("\xef\xbb\xbf") << QByteArray("\r\n");
        QTest::newRow("blanks and more in the path")
            << QStringLiteral("ein Ordner, größer -g -cl-opt") << QByteArray() << QByteArray("\r\n");
    }
    void windowsLineEndsByteOrderMarkAndContinuation() {
        QFETCH(QString, folder);
        QFETCH(QByteArray, before);
        QFETCH(QByteArray, lineEnd);
        const QList<QByteArray> lines{"#define SUM(a, b) \\",
                                      "    ((a) + (b))",
                                      "__kernel void add(__global int *out)",
                                      "{",
                                      "    out[get_global_id(0)] = SUM(40, 2);",
                                      "}"};
        QTemporaryDir place;
        const QString path = write(place, folder, before + lines.join(lineEnd));  // no newline at the end
        const Own own{path.toStdString(), "add", {2}, {}, {"buffer:int:2:zeros:write"}};
        gives<int>(own, 0, {42, 42});

        const QString broken = write(place, folder, before + lines.join(lineEnd).replace("out[get", "aus[get"));
        const Error error = refused({broken.toStdString(), "add", {2}, {}, {"buffer:int:2:zeros:write"}});
        QVERIFY(error.kind == ErrorKind::BuildFailed);
        QCOMPARE(error.line, 5);
        QCOMPARE(QString::fromStdString(error.file), broken);
    }
    void anEntryThatIsNotThereIsRefused() {
        QVERIFY(refused({"halves.cl", "thirds", {3}, {}, {"buffer:float:3:zeros:read", "buffer:float:3:zeros:write"}})
                    .kind == ErrorKind::InvalidInput);
    }
    void aWrongNumberOfArgumentsIsRefused() {
        const Error error = refused({"halves.cl", "halves", {3}, {}, {"buffer:float:3:zeros:read"}});
        QVERIFY(error.kind == ErrorKind::InvalidInput);
        QVERIFY2(error.message.find('1') != std::string::npos && error.message.find('2') != std::string::npos,
                 error.message.c_str());
    }
    void anUnevenGlobalSizeIsRefusedWithBothNumbers() {
        const auto kernel =
            Own{"halves.cl", "halves", {1000}, {64}, {"buffer:float:1000:zeros:read", "buffer:float:1000:zeros:write"}}
                .kernel();
        QVERIFY(bool(kernel));
        const auto plan = planLaunch(*kernel, {});
        QVERIFY(!plan);
        for (const char* number : {"1000", "64", "960", "1024"}) {
            QVERIFY2(plan.error().message.find(number) != std::string::npos, plan.error().message.c_str());
        }
    }

private:
    /// Runs on every device and compares one argument's elements, bit by bit equal.
    template <class T>
    void gives(const Own& own, std::size_t argument, const std::vector<T>& expected) {
        for (const auto& device : discovery_.devices) {
            const auto run = runOwn(*device, own);
            QVERIFY2(bool(run), run ? "" : (device->info().id + ": " + run.error().message + run.error().log).c_str());
            QCOMPARE(run->arguments[argument].template afterAs<T>(), expected);
        }
    }
    /// What the first device says to something that has to be refused.
    Error refused(const Own& own) {
        const auto run = runOwn(*discovery_.devices.front(), own);
        return run ? Error{ErrorKind::CheckFailed, "it ran"} : run.error();
    }

    using Cells = std::vector<std::pair<int, int>>;
    static std::vector<char> cells(const Cells& alive) {
        std::vector<char> all(64);
        for (const auto& [x, y] : alive) all[static_cast<std::size_t>(y * 8 + x)] = 1;
        return all;
    }
    static std::string board(const Cells& alive) {
        std::string text;
        for (char cell : cells(alive)) text += (text.empty() ? "" : ",") + std::to_string(int{cell});
        return text;
    }
    static QString write(const QTemporaryDir& place, const QString& folder, const QByteArray& text) {
        static int number = 0;  // each its own file: none may be answered from what was built of another
        QDir(place.path()).mkpath(folder);
        QFile file(place.filePath(folder + QStringLiteral("/own %1.cl").arg(++number)));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("cannot write %s", qPrintable(file.fileName()));
        return file.fileName();
    }

    Discovery discovery_;
};

QTEST_GUILESS_MAIN(OpenCasesTest)
#include "tst_open_cases.moc"
