#include "devices/opencl/build_log.h"

#include <QTest>

using namespace heteroscope::opencl;

class TestBuildLog : public QObject {
    Q_OBJECT

private slots:
    void findsTheFirstError_data() {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<int>("line");
        QTest::addColumn<QByteArray>("message");
        QTest::newRow("PoCL") << QByteArray("warning: /a/b.cl:1:2: unused\nerror: /a/b.cl:2:7: use of undeclared identifier 'y'\nerror: /a/b.cl:9:9: z\n"
                                            "Device pthread failed to build the program")
                              << QByteArray("/a/b.cl") << 2 << QByteArray("use of undeclared identifier 'y'");
        QTest::newRow("PoCL, colons and quotes in the name") << QByteArray("error: /a/it's 1:2 \"x\".cl:31:7: message: with: colons")
                                                             << QByteArray("/a/it's 1:2 \"x\".cl") << 31 << QByteArray("message: with: colons");
        QTest::newRow("PoCL's own temporary file") << QByteArray("error: /root/.cache/pocl/kcache/tempfile_QQ.cl:1:10: 'nope.h' file not found")
                                                   << QByteArray("/home/me/mine.cl") << 1 << QByteArray("'nope.h' file not found");
        QTest::newRow("PoCL, at the linker") << QByteArray("Error(s) while linking: \nCannot find symbol foo in kernel library\nDevice x failed to build the program")
                                             << QByteArray("") << 0 << QByteArray("Error(s) while linking: Cannot find symbol foo in kernel library");
        QTest::newRow("clang") << QByteArray("/a/b.cl:3:5: warning: w\n  code\n/a/b.cl:7:12: error: expected ';' after expression\n  x = 1\n       ^\n1 error generated.")
                               << QByteArray("/a/b.cl") << 7 << QByteArray("expected ';' after expression");
        QTest::newRow("NVIDIA") << QByteArray("<kernel>:4:3: error: use of undeclared identifier 'q'\n  q = 2;\n  ^\n")
                                << QByteArray("/home/me/mine.cl") << 4 << QByteArray("use of undeclared identifier 'q'");
        QTest::newRow("NVIDIA, older") << QByteArray(":4:3: error: unknown type name 'foo'") << QByteArray("/home/me/mine.cl") << 4
                                       << QByteArray("unknown type name 'foo'");
        QTest::newRow("Intel and Mesa number the sources") << QByteArray("1:12:3: error: expected expression") << QByteArray("/home/me/mine.cl") << 12
                                                           << QByteArray("expected expression");
        QTest::newRow("AMD's EDG") << QByteArray("\"/tmp/OCL1234.cl\", line 5: error: identifier \"y\" is undefined")
                                   << QByteArray("/home/me/mine.cl") << 5 << QByteArray("identifier \"y\" is undefined");
        QTest::newRow("EDG with brackets") << QByteArray("b.cl(8): error: expected a \";\"") << QByteArray("b.cl") << 8 << QByteArray("expected a \";\"");
        QTest::newRow("header not found") << QByteArray("/a/b.cl:2:10: fatal error: 'x.h' file not found") << QByteArray("/a/b.cl") << 2
                                          << QByteArray("'x.h' file not found");
        QTest::newRow("no place") << QByteArray("error: linking failed\nmore") << QByteArray("") << 0 << QByteArray("linking failed");
        QTest::newRow("blank") << QByteArray("\n \n") << QByteArray("") << 0 << QByteArray("");
        QTest::newRow("a name that looks like a place") << QByteArray("a:1:2: error: b.cl:4:1: warning: w\na:1:2: error: b.cl:9:3: error: e") << QByteArray("a:1:2: error: b.cl")
                                                        << 9 << QByteArray("e");
        QTest::newRow("absurd line number") << QByteArray("b.cl:99999999999999999999:1: error: x") << QByteArray("") << 0
                                            << QByteArray("b.cl:99999999999999999999:1: error: x");
    }

    void findsTheFirstError() {
        QFETCH(QByteArray, log);
        const bool odd = QByteArray(QTest::currentDataTag()).startsWith("a name");
        const LogPlace place = firstError(log.toStdString(), odd ? "a:1:2: error: b.cl" : "/home/me/mine.cl");
        QTEST(QByteArray::fromStdString(place.file), "file");
        QTEST(place.line, "line");
        QTEST(QByteArray::fromStdString(place.message), "message");
    }

    void survivesAVeryLongLine() {
        const std::string name(2'000'000, 'a');
        const LogPlace place = firstError("error: " + name + ":3:4: bad", "mine.cl");
        QCOMPARE(place.line, 3);
        QCOMPARE(place.file.size(), name.size());
    }

    void showsTheUsersFolderAndValidText() {
        const std::string log = readableLog("\n/tmp/heteroscope_0/abc/x.h:1:1: error: \xFF bad \xC3\xA4\n\n", {{{"/tmp/heteroscope_0/abc", "/home/me/in c"}}, "mine.cl", 1});
        QCOMPARE(QByteArray::fromStdString(log), QByteArray("/home/me/in c/x.h:1:1: error: \xEF\xBF\xBD bad \xC3\xA4"));
    }

    void showsTheUsersFileWhereTheCompilerHasItsOwnName() {
        const LogNames names{{}, "/home/me/mine.cl", 2};
        const auto shown = [&](const char* log) { return QByteArray::fromStdString(readableLog(log, names)); };
        // NVIDIA counts our lines, too
        QCOMPARE(shown("<kernel>:5:10: error: expected ';'\n x[0] = y\n      ^\n"), QByteArray("/home/me/mine.cl:3:10: error: expected ';'\n x[0] = y\n      ^"));
        QCOMPARE(shown("<kernel>:1:9: error: macro name"), QByteArray("(build options):9: error: macro name"));
        QCOMPARE(shown("1:12:3: error: x"), QByteArray("/home/me/mine.cl:10:3: error: x"));
        QCOMPARE(shown("error: /root/.cache/pocl/kcache/tempfile_x.cl:1:9: macro name"), QByteArray("error: (build options):9: macro name"));
        QCOMPARE(shown("/home/me/other.h:5:1: error: x"), QByteArray("/home/me/other.h:5:1: error: x"));
        QCOMPARE(shown("ptxas info    : 12:30 used"), QByteArray("ptxas info    : 12:30 used"));
        QCOMPARE(shown("(): Warning: Function a is a kernel, so overriding noinline attribute. The function may be inlined when called."), QByteArray());
    }
};

QTEST_GUILESS_MAIN(TestBuildLog)
#include "tst_build_log.moc"
