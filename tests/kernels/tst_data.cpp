// Host buffers, fills and array files: right values, same bytes for the same seed, and what hostile files bring.
#include "scheduler/kernel/data.h"
#include "scheduler/kernel/scalar.h"

#include <QtTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

using namespace heteroscope;

namespace {

#define VERIFY_SAYS(result, part)                                                                       \
    do {                                                                                                \
        const auto said = (result);                                                                     \
        QVERIFY(!said);                                                                                 \
        QVERIFY2(said.error().message.find(part) != std::string::npos, said.error().message.c_str());   \
    } while (false)

template <class T>
std::vector<T> filled(const char* typeName, std::size_t elements, const std::string& fill, std::uint64_t seed = 1,
                      std::uint64_t stream = 0, const Parameters& parameters = {}, const std::filesystem::path& base = {}) {
    const ElementType type = *ElementType::fromName(typeName);
    std::vector<T> values(elements * type.bytes() / sizeof(T));
    std::memset(values.data(), 0xAA, values.size() * sizeof(T));
    const Status status = fillBuffer(std::as_writable_bytes(std::span(values)), type, fill, seed, stream, parameters, base);
    if (!status) qFatal("%s", status.error().message.c_str());
    return values;
}

Status fillStatus(const char* typeName, std::size_t elements, const std::string& fill, const std::filesystem::path& base = {}) {
    const ElementType type = *ElementType::fromName(typeName);
    std::vector<std::byte> bytes(elements * type.bytes());
    return fillBuffer(bytes, type, fill, 1, 0, {}, base);
}

std::string npy(const std::string& header, const std::string& values, char major = 1) {
    std::string text("\x93NUMPY", 6);
    text += major;
    text += '\0';
    text += static_cast<char>(header.size() & 0xFF);
    text += static_cast<char>(header.size() >> 8);
    if (major > 1) text += std::string(2, '\0');
    return text + header + values;
}

std::string floats(std::initializer_list<float> values) {
    std::string text(values.size() * 4, '\0');
    std::memcpy(text.data(), values.begin(), text.size());
    return text;
}

}  // namespace

class DataTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path path(const char* name) const { return std::filesystem::path(folder_.path().toStdString()) / name; }
    std::filesystem::path write(const char* name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    Status read(const std::filesystem::path& file, const char* type, std::vector<float>& out) const {
        return readArrayFile(file, *ElementType::fromName(type), std::as_writable_bytes(std::span(out)));
    }

private slots:
    void elementTypes() {
        QCOMPARE(ElementType::fromName("float4")->bytes(), std::size_t{16});
        QCOMPARE(ElementType::fromName("int3")->bytes(), std::size_t{16});
        QCOMPARE(ElementType::fromName("double16")->bytes(), std::size_t{128});
        QCOMPARE(ElementType::fromName("half2")->bytes(), std::size_t{4});
        QCOMPARE(ElementType::fromName("uchar")->bytes(), std::size_t{1});
        QCOMPARE(ElementType::fromName("bytes")->bytes(), std::size_t{1});
        QCOMPARE(ElementType::fromName("size_t")->name(), std::string("ulong"));
        for (const char* name : {"", "float5", "float 4", "Float", "bytes4", "bool2", "4", "float44", "size_t4", "void"})
            QVERIFY2(!ElementType::fromName(name), name);
        for (const char* name : {"bool", "char16", "ushort8", "long2", "ulong3", "half", "double", "bytes"})
            QCOMPARE(ElementType::fromName(name)->name(), std::string(name));
    }

    void buffersAreWholePages() {
        const auto buffer = HostBuffer::make(10);
        QVERIFY(bool(buffer));
        QCOMPARE((*buffer)->bytes().size(), std::size_t{10});
        QCOMPARE(reinterpret_cast<std::uintptr_t>((*buffer)->bytes().data()) % 4096, std::uintptr_t{0});
        QVERIFY(bool(HostBuffer::make(0)));
    }

    void absurdBuffersAreRefused() {
        for (const std::uint64_t bytes : {std::uint64_t{1} << 50, ~std::uint64_t{0}, ~std::uint64_t{0} - 4096}) {
            const auto buffer = HostBuffer::make(bytes);
            VERIFY_SAYS(buffer, "iB");
            QVERIFY(buffer.error().kind == ErrorKind::OutOfMemory);
        }
    }

    void plainFills() {
        QCOMPARE(filled<float>("float", 3, "zeros"), (std::vector<float>{0, 0, 0}));
        QCOMPARE(filled<float>("float", 3, "iota"), (std::vector<float>{0, 1, 2}));
        QCOMPARE(filled<std::int32_t>("int", 3, "value(-7)"), (std::vector<std::int32_t>{-7, -7, -7}));
        QCOMPARE(filled<std::int32_t>("int", 3, "values(1, 2,-3)"), (std::vector<std::int32_t>{1, 2, -3}));
        QCOMPARE(filled<float>("float", 2, " value( n/4 ) ", 1, 0, {{"n", 6}}), (std::vector<float>{1.5F, 1.5F}));
        QCOMPARE(filled<std::int64_t>("long", 1, "value(9223372036854775807)"), (std::vector<std::int64_t>{INT64_MAX}));
        QCOMPARE(filled<float>("float", 2, "values(min(1,2),max(3,4))"), (std::vector<float>{1, 4}));
        QCOMPARE(filled<std::uint16_t>("half", 2, "values(1,-2)"), (std::vector<std::uint16_t>{0x3C00, 0xC000}));
        QVERIFY(std::isnan(filled<float>("float", 1, "value(nan)")[0]));
    }

    /// Integers wrap as their type does; a half begins again where it would be infinite.
    void longIota() {
        const auto small = filled<std::uint8_t>("uchar", 300, "iota");
        QCOMPARE(small[255], std::uint8_t{255});
        QCOMPARE(small[256], std::uint8_t{0});
        const auto halves = filled<std::uint16_t>("half", 70'000, "iota");
        for (const std::uint16_t half : halves) QVERIFY(std::isfinite(floatFromHalf(half)));
    }

    /// Vectors component by component; the fourth of a vector of 3 is padding.
    void vectors() {
        QCOMPARE(filled<float>("float4", 2, "iota"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
        QCOMPARE(filled<float>("float3", 2, "iota"), (std::vector<float>{0, 1, 2, 0, 3, 4, 5, 0}));
        QCOMPARE(filled<float>("float3", 2, "values(1,2,3,4,5,6)"), (std::vector<float>{1, 2, 3, 0, 4, 5, 6, 0}));
        QCOMPARE(filled<std::int32_t>("int2", 2, "value(5)"), (std::vector<std::int32_t>{5, 5, 5, 5}));
    }

    void uniformFloats() {
        const auto values = filled<float>("float", 100'000, "uniform(-2,3)");
        double sum = 0;
        for (const float value : values) {
            QVERIFY(value >= -2.0F && value <= 3.0F);
            sum += double(value);
        }
        QVERIFY2(std::abs(sum / 100'000 - 0.5) < 0.02, qPrintable(QString::number(sum)));
        QVERIFY(std::set<float>(values.begin(), values.end()).size() > 90'000);
    }

    void uniformIntegersReachBothBounds() {
        const auto values = filled<std::int32_t>("int", 10'000, "uniform(-2,3)");
        QCOMPARE(std::set<std::int32_t>(values.begin(), values.end()), (std::set<std::int32_t>{-2, -1, 0, 1, 2, 3}));
        const auto bytes = filled<std::uint8_t>("uchar", 100'000, "uniform(0,255)");
        QCOMPARE(std::set<std::uint8_t>(bytes.begin(), bytes.end()).size(), std::size_t{256});
        QCOMPARE(filled<std::int64_t>("long", 2, "uniform(9223372036854775807,9223372036854775807)"), (std::vector<std::int64_t>{INT64_MAX, INT64_MAX}));
        const auto all = filled<std::uint64_t>("ulong", 1000, "uniform(0,18446744073709551615)");
        QVERIFY(*std::max_element(all.begin(), all.end()) > (std::uint64_t{1} << 63));
    }

    /// The values themselves are fixed: a stored job must have the same data years later and elsewhere.
    void seededValuesAreFixed() {
        QCOMPARE(filled<float>("float", 4, "uniform(0,1)", 1, 0), filled<float>("float", 4, "uniform(0,1)", 1, 0));
        QVERIFY(filled<float>("float", 4, "uniform(0,1)", 1, 0) != filled<float>("float", 4, "uniform(0,1)", 2, 0));
        QVERIFY(filled<float>("float", 4, "uniform(0,1)", 1, 0) != filled<float>("float", 4, "uniform(0,1)", 1, 1));
        QCOMPARE(filled<std::uint32_t>("uint", 3, "uniform(0,4294967295)", 1, 0), (std::vector<std::uint32_t>{1858625311U, 1828076284U, 2317859148U}));
    }

    /// A large buffer is made by several threads: the same bytes as a small one has at its start.
    void partsDoNotShow() {
        const auto small = filled<float>("float", 1000, "uniform(0,1)", 5, 9);
        const auto large = filled<float>("float", 20'000'000, "uniform(0,1)", 5, 9);
        QVERIFY(std::equal(small.begin(), small.end(), large.begin()));
        const auto tail = filled<float>("float", 19'999'999, "uniform(0,1)", 5, 9);
        QVERIFY(std::equal(tail.begin(), tail.end(), large.begin()));
    }

    void wrongFills_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("fill");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* type, const char* fill, const char* says) {
            QTest::newRow(fill) << QString::fromLatin1(type) << QString::fromLatin1(fill) << QString::fromLatin1(says);
        };
        row("float", "", "zeros, iota");
        row("float", "random", "uniform(a,b)");
        row("float", "zeros()", "zeros, iota");
        row("float", "uniform", "uniform(a,b)");
        row("float", "uniform(1)", "two bounds");
        row("float", "uniform(1,2,3)", "two bounds");
        row("float", "uniform(2,1)", "ascending");
        row("int", "uniform(2,1)", "lower bound 2 above upper bound 1");
        row("float", "uniform(0,inf)", "finite");
        row("float", "uniform(0,1e39)", "does not fit float");
        row("double", "uniform(-1e308,1e308)", "finite");
        row("uchar", "uniform(0,300)", "300 does not fit uchar (0 to 255)");
        row("uchar", "value(-1)", "does not fit uchar");
        row("int", "value(1.5)", "no whole number");
        row("float", "value(n)", "unknown name \"n\"");
        row("float", "value()", "empty");
        row("float", "values(1,2,3)", "gives 3 values, the buffer takes 2");
        row("float", "uniform(0,1", "closing parenthesis");
    }
    void wrongFills() {
        QFETCH(QString, type);
        QFETCH(QString, fill);
        QFETCH(QString, says);
        VERIFY_SAYS(fillStatus(type.toLatin1().constData(), 2, fill.toStdString()), says.toStdString());
        VERIFY_SAYS(checkFill(fill.toStdString(), *ElementType::fromName(type.toStdString()), 2, {}), says.toStdString());
    }

    void fillsWithoutParameters() {
        QCOMPARE(*fillWithNumbers("uniform(0,n)", {{"n", 5}}), std::string("uniform(0,5)"));
        QCOMPARE(*fillWithNumbers("value(18446744073709551615)", {}), std::string("value(18446744073709551615)"));
        QCOMPARE(*fillWithNumbers("iota", {{"n", 5}}), std::string("iota"));
        QCOMPARE(*fillWithNumbers("file(a,b)", {}), std::string("file(a,b)"));
    }

    void numpyRoundTrip_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : {"bool", "char", "uchar", "short", "uint", "long", "ulong", "half", "float", "double", "float2", "int3", "double3", "uchar16", "bytes"})
            QTest::newRow(type) << QString::fromLatin1(type);
    }
    void numpyRoundTrip() {
        QFETCH(QString, type);
        const ElementType element = *ElementType::fromName(type.toStdString());
        for (const std::size_t count : {1U, 7U, 1000U}) {
            std::vector<std::byte> bytes(count * element.bytes());
            QVERIFY(bool(fillBuffer(bytes, element, type == QStringLiteral("bool") ? "uniform(0,1)" : "iota", 1, 0, {}, {})));
            QVERIFY(bool(writeNpy(path("round trip ü.npy"), element, bytes)));
            std::vector<std::byte> back(bytes.size(), std::byte{0x55});
            const Status status = readArrayFile(path("round trip ü.npy"), element, back);
            QVERIFY2(bool(status), status ? "" : status.error().message.c_str());
            QVERIFY(bytes == back);
        }
        QVERIFY(!std::filesystem::exists(path("round trip ü.npy.part")));
    }

    /// What NumPy itself would write, byte for byte.
    void numpyHeader() {
        const std::vector<float> values{1.5F};
        QVERIFY(bool(writeNpy(path("one.npy"), *ElementType::fromName("float"), std::as_bytes(std::span(values)))));
        std::ifstream file(path("one.npy"), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
        header.resize(117, ' ');
        QCOMPARE(QByteArray::fromStdString(bytes), QByteArray::fromStdString(npy(header + "\n", floats({1.5F}))));
    }

    void numpyVersions() {
        std::vector<float> out(2);
        for (const char version : {'\1', '\2', '\3'}) {
            const auto file = write("v.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", floats({1, 2}), version));
            const Status status = read(file, "float", out);
            QVERIFY2(bool(status), status ? "" : status.error().message.c_str());
            QCOMPARE(out, (std::vector<float>{1, 2}));
        }
        const auto matrix = write("m.npy", npy("{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 1)}", floats({3, 4})));
        QVERIFY(bool(read(matrix, "float", out)));
        QCOMPARE(out, (std::vector<float>{3, 4}));
    }

    void wrongNumpyFiles_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& bytes, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromUtf8(says);
        };
        row("dtype", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", floats({1, 2, 3, 4})), "dtype <f8; float (<f4) is expected");
        row("big-endian", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", floats({1, 2})), "big-endian");
        row("Fortran order", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,2), }", floats({1, 2})), "Fortran");
        row("count", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", floats({1, 2, 3})), "holds 3 values (shape 3), 2 are expected");
        row("scalar shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", floats({1})), "holds 1 values");
        row("short", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats({1})), "holds 4 bytes of values, 8 are expected");
        row("long", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats({1, 2, 3})), "goes on");
        row("structured", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", floats({1, 2})), "dtype");
        row("overflowing shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }", floats({1, 2})), "too many");
        row("negative shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", floats({1, 2})), "header cannot be read");
        row("no shape", npy("{'descr': '<f4', 'fortran_order': False}", floats({1, 2})), "header cannot be read");
        row("version 9", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats({1, 2}), 9), "NumPy format 9.0");
        row("cut in the header", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "").substr(0, 30), "ends within its header");
        row("cut in the length", std::string("\x93NUMPY\x01\x00", 8), "ends within its header");
        row("huge header", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12), "states a header of");
        row("not NumPy", "hello, world", "is not a NumPy file");
        row("empty", "", "is not a NumPy file");
    }
    void wrongNumpyFiles() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        const auto file = write("wrong.npy", bytes.toStdString());
        std::vector<float> out(2);
        const Status status = read(file, "float", out);
        VERIFY_SAYS(status, says.toStdString());
        VERIFY_SAYS(status, "wrong.npy");
    }

    void rawFiles() {
        std::vector<float> out(2);
        QVERIFY(bool(read(write("raw.bin", floats({5, 6})), "float", out)));
        QCOMPARE(out, (std::vector<float>{5, 6}));
        VERIFY_SAYS(read(write("short.bin", "abc"), "float", out), "raw file of 3 bytes, 8 are expected");
        VERIFY_SAYS(read(write("long.bin", std::string(9, 'x')), "float", out), "raw file of 9 bytes, 8 are expected");
        VERIFY_SAYS(read(path("missing.bin"), "float", out), "No such file");
        VERIFY_SAYS(read(path(""), "float", out), "is not a file");
        VERIFY_SAYS(read("/dev/zero", "float", out), "is not a file");
    }

    void fillFromFile() {
        write("odd (name), x:y.bin", floats({5, 6}));
        QCOMPARE(filled<float>("float", 2, "file(odd (name), x:y.bin)", 1, 0, {}, path("")), (std::vector<float>{5, 6}));
    }

    void unwritableFiles() {
        const std::vector<float> values{1};
        const auto bytes = std::as_bytes(std::span(values));
        VERIFY_SAYS(writeNpy(path("no/such/folder.npy"), {}, bytes), "cannot be written");
        std::filesystem::create_directory(path("folder.npy"));
        VERIFY_SAYS(writeNpy(path("folder.npy"), {}, bytes), "cannot be written");
        QVERIFY(!std::filesystem::exists(path("folder.npy.part")));
        if (std::filesystem::exists("/dev/full")) {
            std::filesystem::create_symlink("/dev/full", path("full.npy.part"));
            VERIFY_SAYS(writeNpy(path("full.npy"), {}, bytes), "No space left");
            QVERIFY(!std::filesystem::exists(path("full.npy")));
        }
    }

    void dataIsFilledOnce() {
        Data data("m", {}, 1000, "uniform(0,1)", 3, {});
        std::vector<std::shared_ptr<HostBuffer>> buffers(8);
        std::vector<std::thread> threads;
        for (auto& buffer : buffers) threads.emplace_back([&] { buffer = *data.hostBuffer(); });
        for (auto& thread : threads) thread.join();
        for (const auto& buffer : buffers) QCOMPARE(buffer.get(), buffers[0].get());
        Data other("other", {}, 1000, "uniform(0,1)", 3, {});
        QVERIFY(!std::equal(buffers[0]->bytes().begin(), buffers[0]->bytes().end(), (*other.hostBuffer())->bytes().begin()));
    }

    void dataThatCannotBe() {
        Data missing("m", {}, 4, "file(nowhere.npy)", 1, path(""));
        VERIFY_SAYS(missing.hostBuffer(), "data \"m\"");
        VERIFY_SAYS(missing.hostBuffer(), "nowhere.npy");
        Data huge("h", *ElementType::fromName("double16"), ~std::uint64_t{0} / 2, "zeros", 1, {});
        QVERIFY(huge.hostBuffer().error().kind == ErrorKind::OutOfMemory);
    }

    void halves() {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const float value = floatFromHalf(static_cast<std::uint16_t>(bits));
            if (std::isnan(value)) continue;
            QCOMPARE(halfFromFloat(value), static_cast<std::uint16_t>(bits));
        }
        QCOMPARE(halfFromFloat(65519.0F), std::uint16_t{0x7BFF});
        QCOMPARE(halfFromFloat(65520.0F), std::uint16_t{0x7C00});
        QCOMPARE(halfFromFloat(1.00048828125F), std::uint16_t{0x3C00});   // a tie goes to even
        QCOMPARE(halfFromFloat(1.00146484375F), std::uint16_t{0x3C02});
        QCOMPARE(halfFromFloat(2.98023224e-8F), std::uint16_t{0x0000});  // 2^-25: a tie with zero
        QCOMPARE(halfFromFloat(2.98023260e-8F), std::uint16_t{0x0001});
        QVERIFY(std::isnan(floatFromHalf(halfFromFloat(std::nanf("")))));
    }

    void scalarsKeepTheirWidth() {
        const auto encode = [](const char* type, std::vector<std::string> values) { return encodeScalar(*ElementType::fromName(type), values, {{"n", 7}}); };
        QCOMPARE(hexFromBytes(*encode("uchar", {"255"})), std::string("ff"));
        QCOMPARE(hexFromBytes(*encode("char", {"-128"})), std::string("80"));
        QCOMPARE(hexFromBytes(*encode("short", {"n"})), std::string("0700"));
        QCOMPARE(hexFromBytes(*encode("long", {"-9223372036854775808"})), std::string("0000000000000080"));
        QCOMPARE(hexFromBytes(*encode("ulong", {"18446744073709551615"})), std::string("ffffffffffffffff"));
        QCOMPARE(hexFromBytes(*encode("ulong", {"0xFFFFFFFFFFFFFFFE"})), std::string("feffffffffffffff"));
        QCOMPARE(hexFromBytes(*encode("long", {"9007199254740993"})), std::string("0100000000002000"));
        QCOMPARE(hexFromBytes(*encode("float", {"1"})), std::string("0000803f"));
        QCOMPARE(hexFromBytes(*encode("float", {"4e-45"})), std::string("03000000"));
        QCOMPARE(hexFromBytes(*encode("float", {"3.4028235e38"})), std::string("ffff7f7f"));
        QCOMPARE(hexFromBytes(*encode("half", {"2.5"})), std::string("0041"));
        QCOMPARE(hexFromBytes(*encode("double", {"2.5"})), std::string("0000000000000440"));
        QCOMPARE(hexFromBytes(*encode("bool", {"true"})), std::string("01"));
        QCOMPARE(hexFromBytes(*encode("int3", {"1", "2", "3"})), std::string("01000000020000000300000000000000"));
        QCOMPARE(encode("float4", {"1", "2", "3", "4"})->size(), std::size_t{16});
        for (const auto& [type, value] : {std::pair{"uchar", "256"}, {"uchar", "-1"}, {"char", "128"}, {"short", "40000"},
                                          {"int", "2147483648"}, {"uint", "4294967296"}, {"long", "9223372036854775808"},
                                          {"ulong", "18446744073709551616"}, {"ulong", "-1"}, {"uint", "2^32"}, {"long", "2^63"},
                                          {"half", "65520"}, {"float", "3.5e38"}, {"bool", "2"}})
            VERIFY_SAYS(encode(type, {value}), "does not fit");
        VERIFY_SAYS(encode("float4", {"1", "2"}), "float4 takes 4 values, 2 given");
        VERIFY_SAYS(encode("int", {"0.5"}), "no whole number");
        VERIFY_SAYS(encode("int", {"m"}), "unknown name");
    }
};

QTEST_APPLESS_MAIN(DataTest)
#include "tst_data.moc"
