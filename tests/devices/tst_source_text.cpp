#include "tests/support/qt_compare.h"
#include "devices/opencl/include_scan.h"
#include "devices/opencl/folder_alias.h"
#include "devices/opencl/source_text.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace heteroscope;
using namespace heteroscope::opencl;

namespace {

void write(const QString& path, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

ProgramSource source(std::string text, std::vector<std::string> options = {}) {
    return {Language::OpenClC, std::move(text), "mine.cl", std::move(options), {}};
}

std::string compiledText(std::string text, std::vector<std::string> options = {}) {
    const Result<CompilerInput> input = prepareSource(source(std::move(text), std::move(options)));
    return input ? input->text : input.error().message;
}

}  // namespace

class TestSourceText : public QObject {
    Q_OBJECT

private slots:
    void takesWindowsText() {
        QCOMPARE(compiledText("\xEF\xBB\xBF#define A 1 + \\\r\n 2\r\nint x;"), std::string("#line 1 \"mine.cl\"\n#define A 1 + \\\n 2\nint x;\n"));
        QCOMPARE(compiledText("int x;\rint y;\r"), std::string("#line 1 \"mine.cl\"\nint x;\nint y;\n"));
    }

    void refusesWhatIsNoText_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("empty") << QByteArray("") << QStringLiteral("empty");
        QTest::newRow("blank") << QByteArray("\r\n \t\n") << QStringLiteral("empty");
        QTest::newRow("UTF-16") << QByteArray("\xFF\xFEk\0e\0", 6) << QStringLiteral("UTF-16");
        QTest::newRow("zero byte") << QByteArray("int x;\nint\0y;", 13) << QStringLiteral("line 2");
    }

    void refusesWhatIsNoText() {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        const Result<CompilerInput> input = prepareSource(source(text.toStdString()));
        QVERIFY(!input);
        QCOMPARE(input.error().kind, ErrorKind::InvalidInput);
        QVERIFY2(input.error().message.find(says.toStdString()) != std::string::npos, input.error().message.c_str());
        QCOMPARE(input.error().file, std::string("mine.cl"));
    }

    void quotesTheFileForTheLineDirective() {
        ProgramSource odd = source("int x;");
        odd.file = "a \"b\" \\ \xC3\xA4.cl";
        QCOMPARE(prepareSource(odd)->text, std::string("#line 1 \"a \\\"b\\\" \\\\ \xC3\xA4.cl\"\nint x;\n"));
    }

    void keepsPlainOptionsAndTurnsOthersIntoDefines() {
        const Result<CompilerInput> input =
            prepareSource(source("int x;", {"-D", "BLOCK=16", "-DNAME", "-cl-std=CL1.2", "-D", "MSG=\"a b\"", "-DNEG=-g", "-cl-fast-relaxed-math -w", "", "-D F(x)=x+1"}));
        QVERIFY(bool(input));
        QCOMPARE(input->options, (std::vector<std::string>{"-D BLOCK=16", "-D NAME", "-cl-std=CL1.2", "-cl-fast-relaxed-math", "-w"}));
        QCOMPARE(input->text, std::string("#define MSG \"a b\"\n#define NEG -g\n#define F(x) x+1\n#line 1 \"mine.cl\"\nint x;\n"));
    }

    void refusesOptionsThatSayNothing_data() {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("-D alone") << QStringList{QStringLiteral("-D")};
        QTest::newRow("-I alone") << QStringList{QStringLiteral("-I")};
        QTest::newRow("no name") << QStringList{QStringLiteral("-D"), QStringLiteral("1=2")};
        QTest::newRow("line break") << QStringList{QStringLiteral("-DA=1\n#error")};
    }

    void refusesOptionsThatSayNothing() {
        QFETCH(QStringList, options);
        std::vector<std::string> list;
        for (const QString& option : options) list.push_back(option.toStdString());
        const Result<CompilerInput> input = prepareSource(source("int x;", list));
        QVERIFY(!input);
        QCOMPARE(input.error().kind, ErrorKind::InvalidInput);
    }

    void givesOddFoldersAPlainName() {
        QTemporaryDir home;
        for (const char* name : {"x-g", "x -cl-opt", "\xC3\xA4\xC3\xB6", "it's \"so\""}) {
            const QString folder = home.filePath(QString::fromUtf8(name));
            QDir().mkpath(folder);
            const std::string given = plainName(folder.toStdString());
            QVERIFY2(isPlainName(given), given.c_str());
            QCOMPARE(QFileInfo(QString::fromStdString(given)).canonicalFilePath(), QFileInfo(folder).canonicalFilePath());
            QCOMPARE(plainName(folder.toStdString()), given);  // the same one, or a driver's cache never hits
        }
        QCOMPARE(plainName("/usr/include"), std::string("/usr/include"));
    }

    void keyFollowsEveryIncludedFile() {
        QTemporaryDir folder;
        const std::vector<std::string> folders{folder.path().toStdString()};
        const std::string text = "#include \"a.h\"\nint x;";
        const auto missing = includeClosure(text, folders);
        write(folder.filePath(QStringLiteral("a.h")), "# \\\n include /* why */ <sub/b.h>\n");
        write(folder.filePath(QStringLiteral("sub/b.h")), "#include \"c.h\"\n#define B 1\n");
        write(folder.filePath(QStringLiteral("sub/c.h")), "#define C 1\n");
        const auto first = includeClosure(text, folders);
        QVERIFY(missing && first);
        QVERIFY(*missing != *first);
        QCOMPARE(includeClosure(text, folders), first);
        write(folder.filePath(QStringLiteral("sub/c.h")), "#define C 2\n");
        const auto second = includeClosure(text, folders);
        QVERIFY(second && *second != *first);
        QVERIFY(QFile::remove(folder.filePath(QStringLiteral("sub/c.h"))));
        const auto third = includeClosure(text, folders);
        QVERIFY(third && *third != *second && *third != *first);
    }

    void headersThatIncludeEachOtherEnd() {
        QTemporaryDir folder;
        write(folder.filePath(QStringLiteral("a.h")), "#include \"b.h\"\n");
        write(folder.filePath(QStringLiteral("b.h")), "#include \"a.h\"\n#include \"b.h\"\n");
        QVERIFY(includeClosure("#include \"a.h\"\n", {folder.path().toStdString()}).has_value());
    }

    void onlyWhatIsKnownIsCached_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("known");
        QTest::newRow("none") << QByteArray("int x;") << true;
        QTest::newRow("computed") << QByteArray("#define F \"a.h\"\n#include F\n") << false;
        QTest::newRow("asked for") << QByteArray("#if __has_include(\"a.h\")\n#endif\n") << false;
        QTest::newRow("in a comment") << QByteArray("/*\n#include F\n*/\n// #include F\nint x;") << true;
        QTest::newRow("digraph") << QByteArray("%:include F\n") << false;
        QTest::newRow("comment mark in a string") << QByteArray("constant char s[] = \"/*\";\n#include F\n") << false;
        QTest::newRow("apostrophe in #error") << QByteArray("#if 0\n#error don't\n#endif\n#include F\n") << false;
    }

    void onlyWhatIsKnownIsCached() {
        QFETCH(QByteArray, text);
        QTEST(includeClosure(text.toStdString(), {}).has_value(), "known");
        QTEST(prepareSource(source(text.toStdString()))->key.has_value(), "known");
    }
};

QTEST_GUILESS_MAIN(TestSourceText)
#include "tst_source_text.moc"
