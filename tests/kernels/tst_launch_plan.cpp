// From a kernel and parameters to sizes, and every reason why it cannot run: stated by the plan, the device, the entry.
#include "scheduler/kernel/launch_plan.h"
#include "scheduler/kernel/own_source.h"

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

#define VERIFY_WHY(why, part)        \
    do {                             \
        QVERIFY((why).has_value());  \
        QVERIFY2((why)->find(part) != std::string::npos, (why)->c_str()); \
    } while (false)

KernelArgument buffer(const char* name, const char* type, const char* count) {
    KernelArgument argument;
    argument.name = name;
    argument.kind = KernelArgument::Kind::Buffer;
    argument.type = *ElementType::fromName(type);
    argument.count = count;
    return argument;
}

KernelArgument scalar(const char* name, const char* type, const char* value) {
    KernelArgument argument;
    argument.name = name;
    argument.type = *ElementType::fromName(type);
    argument.values = {value};
    return argument;
}

KernelArgument local(const char* name, const char* type, const char* count) {
    KernelArgument argument = buffer(name, type, count);
    argument.kind = KernelArgument::Kind::Local;
    return argument;
}

/// A kernel of one buffer and one scalar over n; tests change what they are about.
Kernel simple() {
    Kernel kernel;
    kernel.id = "k";
    kernel.parameters = {{"n", 1000, {}, {}, true}};
    kernel.arguments = {scalar("n", "uint", "n"), buffer("x", "float", "n")};
    kernel.range.global = {"n"};
    kernel.variants = {{Language::OpenClC, "k", {}}};
    return kernel;
}

Result<LaunchPlan> plan(Kernel kernel, const Parameters& parameters = {}) {
    return planLaunch(std::make_shared<const Kernel>(std::move(kernel)), parameters);
}

DeviceInfo openClDevice() {
    DeviceInfo device;
    device.id = "cpu-0";
    device.runtimes = {{Api::OpenCl, "PoCL", "cpu", "OpenCL 3.0", "OpenCL C 1.2", "3.1"}};
    device.memoryBytes = std::uint64_t{8} << 30;
    device.maxAllocationBytes = std::uint64_t{2} << 30;
    device.localMemoryBytes = 32768;
    device.maxWorkGroupSize = 256;
    device.maxWorkItemSizes = {256, 256, 64};
    return device;
}

EntryInfo entry() {
    EntryInfo info;
    info.name = "k";
    info.arguments = {{"n", "uint", AddressSpace::Private, false, false}, {"x", "float*", AddressSpace::Global, false, false}};
    info.maxWorkGroupSize = 128;
    return info;
}

}  // namespace

class LaunchPlanTest : public QObject {
    Q_OBJECT

private slots:
    void sizes() {
        Kernel kernel = simple();
        kernel.arguments.push_back(buffer("y", "int3", "2*n"));
        kernel.arguments.push_back(local("tile", "float", "16"));
        kernel.flops = "2*n";
        const auto planned = plan(kernel, {{"n", 100}});
        QVERIFY(bool(planned));
        QCOMPARE(planned->bufferBytes, std::uint64_t{400 + 200 * 16});
        QCOMPARE(planned->largestBufferBytes, std::uint64_t{3200});
        QCOMPARE(planned->localBytes, std::uint64_t{64});
        QCOMPARE(planned->arguments[2].count, std::uint64_t{200});
        QCOMPARE(planned->arguments[0].scalar.size(), std::size_t{4});
        QCOMPARE(*planned->flops, 200.0);
        QVERIFY(!planned->bytes);
        QCOMPARE(planned->range.dimensions, 1U);
        QCOMPARE(planned->range.global, (std::array<std::size_t, 3>{100, 1, 1}));
        QCOMPARE(planned->range.local, (std::array<std::size_t, 3>{0, 0, 0}));
        QCOMPARE(planned->parameters.at("n"), 100.0);
    }

    void badSizes() {
        VERIFY_SAYS(plan(simple(), {{"n", 0}}), "argument \"x\": count n is 0");
        VERIFY_SAYS(plan(simple(), {{"n", -5}}), "-5 does not fit uint");
        VERIFY_SAYS(plan(simple(), {{"n", 1e18}}), "does not fit uint");
        VERIFY_SAYS(plan(simple(), {{"m", 1}}), "unknown parameter \"m\"");
        Kernel kernel = simple();
        kernel.arguments.erase(kernel.arguments.begin());
        VERIFY_SAYS(plan(kernel, {{"n", -5}}), "a size cannot be negative");
        VERIFY_SAYS(plan(kernel, {{"n", 1e18}}), "the largest size is 2^53");
        VERIFY_SAYS(plan(kernel, {{"n", 4e15}}), "beyond any memory");
        kernel.arguments[0].type = *ElementType::fromName("double16");
        VERIFY_SAYS(plan(kernel, {{"n", 9007199254740992.0}}), "beyond any memory");
        kernel = simple();
        kernel.arguments[1].count = "n/3";
        VERIFY_SAYS(plan(kernel), "whole number");
        kernel.arguments[1].count = "m";
        VERIFY_SAYS(plan(kernel), "unknown name \"m\"");
        kernel.arguments[1].count = "n/0";
        VERIFY_SAYS(plan(kernel), "infinite");
        kernel = simple();
        kernel.arguments[1].fill = "uniform(1,0)";
        VERIFY_SAYS(plan(kernel), "argument \"x\": fill");
        kernel = simple();
        kernel.range.global = {"n - 1000"};
        VERIFY_SAYS(plan(kernel), "global size in x is 0");
        kernel.range.global = {"2^30", "2^30"};
        VERIFY_SAYS(plan(kernel), "global size 1073741824×1073741824 is beyond any device");
        kernel.range = {{"n"}, {"0"}, {}, false};
        VERIFY_SAYS(plan(kernel), "local size 0 has a 0");
        kernel.flops = "-n";
        kernel.range = {{"n"}, {}, {}, false};
        VERIFY_SAYS(plan(kernel), "negative");
    }

    /// Many buffers whose sum does not fit 64 bits.
    void sumsDoNotOverflow() {
        Kernel kernel = simple();
        for (int i = 0; i < 2000; ++i) kernel.arguments.push_back(buffer(("b" + std::to_string(i)).c_str(), "float", "2^49"));
        VERIFY_SAYS(plan(kernel), "beyond any memory");
    }

    void globalThatIsNoMultiple() {
        Kernel kernel = simple();
        kernel.range.local = {"64"};
        VERIFY_SAYS(plan(kernel), "global size 1000 in x is no multiple of the local size 64: the nearest that fit are 960 and 1024");
        VERIFY_SAYS(plan(kernel, {{"n", 10}}), "the nearest that fits is 64");
        QVERIFY(bool(plan(kernel, {{"n", 640}})));
        kernel.range.guarded = true;
        QCOMPARE(plan(kernel)->range.global[0], std::size_t{1024});
        QCOMPARE(plan(kernel, {{"n", 1}})->range.global[0], std::size_t{64});
        QCOMPARE(plan(kernel)->range.local, (std::array<std::size_t, 3>{64, 1, 1}));
        kernel.range = {{"n", "10"}, {"8", "4"}, {}, false};
        VERIFY_SAYS(plan(kernel), "global size 10 in y is no multiple of the local size 4: the nearest that fit are 8 and 12");
    }

    void whatADeviceLacks() {
        const DeviceInfo device = openClDevice();
        QVERIFY(!whyNotOn(*plan(simple()), device));
        VERIFY_WHY(whyNotOn(*plan(simple(), {{"n", 1e9}}), device), "needs a buffer of 3.73\u2009GiB, cpu-0 allows 2.00\u2009GiB in one");
        Kernel kernel = simple();
        for (const char* name : {"a", "b", "c", "d", "e"}) kernel.arguments.push_back(buffer(name, "float", "500000000"));
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs 9.31\u2009GiB of memory, cpu-0 has 8.00\u2009GiB");
        kernel = simple();
        kernel.arguments.push_back(local("tile", "float", "16384"));
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs 64.0\u2009KiB of local memory, cpu-0 has 32.0\u2009KiB");
        kernel = simple();
        kernel.range = {{"1024"}, {"512"}, {}, false};
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs a work-group of 512 work items (512), cpu-0 allows 256");
        kernel.range = {{"16", "16", "128"}, {"1", "1", "128"}, {}, false};
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs a work-group of 128 in z, cpu-0 allows 64");
        kernel = simple();
        kernel.arguments.push_back(buffer("d", "double", "n"));
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs double (argument \"d\"), which cpu-0 does not have");
        kernel.arguments.back() = scalar("h", "half", "1");
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "needs half");
        kernel.arguments.back() = buffer("h", "half", "n");
        QVERIFY(!whyNotOn(*plan(kernel), device));  // vload_half needs no extension
    }

    void missingVariant() {
        DeviceInfo device = openClDevice();
        Kernel kernel = simple();
        kernel.variants = {{Language::CudaCpp, "k", {}}};
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "k has no OpenCL C variant");
        device.runtimes.push_back({Api::Cuda, "", "", "", "", ""});
        QVERIFY(!whyNotOn(*plan(kernel), device));
        kernel.variants.clear();
        VERIFY_WHY(whyNotOn(*plan(kernel), device), "OpenCL C or CUDA C++");
        device.runtimes = {{Api::Null, "", "", "", "", ""}};
        QVERIFY(!whyNotOn(*plan(kernel), device));
    }

    /// What a driver does not report rules nothing out.
    void unknownLimits() {
        DeviceInfo device;
        device.runtimes = openClDevice().runtimes;
        QVERIFY(!whyNotOn(*plan(simple(), {{"n", 4e9}}), device));
    }

    void entryIsHeldAgainstThePlan() {
        QCOMPARE(settleRange(*plan(simple()), entry())->global[0], std::size_t{1000});
        EntryInfo other = entry();
        other.arguments.pop_back();
        VERIFY_SAYS(settleRange(*plan(simple()), other), "k(uint n) takes 1 argument, 2 are given");
        other = entry();
        std::swap(other.arguments[0], other.arguments[1]);
        VERIFY_SAYS(settleRange(*plan(simple()), other), "argument 0 (\"n\") of k(float* x, uint n): it takes a buffer, a value of type uint is given");
        other = entry();
        other.arguments[1].space = AddressSpace::Local;
        VERIFY_SAYS(settleRange(*plan(simple()), other), "it takes local memory, a buffer of float is given");
        other.arguments[1].isImage = true;
        VERIFY_SAYS(settleRange(*plan(simple()), other), "an image, which is not supported");
        for (const auto& [type, says] : {std::pair{"ulong", "it takes ulong (8 bytes), uint (4 bytes) is given"}, {"float", "it takes float, uint is given"}, {"uchar", "it takes uchar (1 bytes)"}}) {
            other = entry();
            other.arguments[0].type = type;
            VERIFY_SAYS(settleRange(*plan(simple()), other), says);
        }
        for (const char* type : {"uint", "int", "unsigned int", "const uint", "struct mystery", ""}) {
            other = entry();
            other.arguments[0].type = type;
            QVERIFY2(bool(settleRange(*plan(simple()), other)), type);
        }
        other = entry();
        other.arguments[1].type = "int*";
        VERIFY_SAYS(settleRange(*plan(simple()), other), "it takes int, float is given");
        other.arguments[1].type = "float4*";
        QVERIFY(bool(settleRange(*plan(simple()), other)));
        Kernel kernel = simple();
        kernel.arguments[1] = buffer("x", "bytes", "4*n");
        other.arguments[1].type = "int*";
        QVERIFY(bool(settleRange(*plan(kernel), other)));
    }

    void kernelLimits() {
        Kernel kernel = simple();
        kernel.range = {{"1024"}, {"256"}, {}, false};
        VERIFY_SAYS(settleRange(*plan(kernel), entry()), "a work-group of 256 work items (256) is above the limit of k on this device, 128");
        kernel.range.local = {"128"};
        QVERIFY(bool(settleRange(*plan(kernel), entry())));
    }

    void requiredWorkGroup() {
        EntryInfo required = entry();
        required.requiredLocal = {64, 1, 1};
        VERIFY_SAYS(settleRange(*plan(simple()), required), "global size 1000 in x is no multiple of the work-group size that the source requires, 64");
        const auto range = settleRange(*plan(simple(), {{"n", 640}}), required);
        QVERIFY(bool(range));
        QCOMPARE(range->local, (std::array<std::size_t, 3>{64, 1, 1}));
        Kernel kernel = simple();
        kernel.range.guarded = true;
        QCOMPARE(settleRange(*plan(kernel), required)->global[0], std::size_t{1024});
        kernel.range.local = {"32"};
        VERIFY_SAYS(settleRange(*plan(kernel), required), "local size 32×1×1: the source of k requires 64×1×1");
        kernel.range.local = {"64"};
        QVERIFY(bool(settleRange(*plan(kernel), required)));
        required.requiredLocal = {8, 8, 1};
        kernel = simple();
        VERIFY_SAYS(settleRange(*plan(kernel), required), "global size 1 in y");
    }

    void ownSource() {
        QTemporaryDir folder;
        const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "my kernel ü.cl";
        std::ofstream(file, std::ios::binary) << "\xEF\xBB\xBFkernel void twice(global float* x) {\r\n}\r\n";
        OwnSource source;
        source.file = file;
        source.entry = "twice";
        source.global = {16};
        source.local = {4};
        source.offset = {2};
        source.includes = {file.parent_path() / "inc"};
        source.arguments = {*parseArgument("buffer:float:16", 0)};
        const auto kernel = makeOwnKernel(source);
        QVERIFY2(bool(kernel), kernel ? "" : kernel.error().message.c_str());
        QCOMPARE((*kernel)->id, std::string("my kernel ü.cl:twice"));
        QVERIFY((*kernel)->ownSource);
        const KernelVariant& variant = (*kernel)->variants[0];
        QVERIFY(variant.language == Language::OpenClC);
        QCOMPARE(variant.source.text, std::string("kernel void twice(global float* x) {\n}\n"));
        QCOMPARE(variant.source.file, file.string());
        QCOMPARE(variant.source.includeDirs, (std::vector<std::string>{file.parent_path().string(), (file.parent_path() / "inc").string()}));
        const auto planned = planLaunch(*kernel, {});
        QVERIFY(bool(planned));
        QCOMPARE(planned->range.offset[0], std::size_t{2});
        QCOMPARE(planned->range.local[0], std::size_t{4});
        QCOMPARE(planned->bufferBytes, std::uint64_t{64});
        VERIFY_SAYS(planLaunch(*kernel, {{"n", 1}}), "unknown parameter \"n\"; it has none");

        OwnSource wrong = source;
        wrong.entry = "";
        VERIFY_SAYS(makeOwnKernel(wrong), "the name of the kernel to run is missing");
        wrong.entry = "a b";
        VERIFY_SAYS(makeOwnKernel(wrong), "cannot be the name of a kernel");
        wrong = source;
        wrong.global.clear();
        VERIFY_SAYS(makeOwnKernel(wrong), "a global size is missing");
        wrong = source;
        wrong.file = file.parent_path();
        VERIFY_SAYS(makeOwnKernel(wrong), "is a folder");
        wrong.file = file.parent_path() / "none.cl";
        VERIFY_SAYS(makeOwnKernel(wrong), "no such file");
        wrong.file = "/dev/zero";
        VERIFY_SAYS(makeOwnKernel(wrong), "is not a regular file");
        std::filesystem::resize_file(file, (std::uint64_t{64} << 20) + 1);
        VERIFY_SAYS(makeOwnKernel(source), "64.0\u2009MiB is the most");
        wrong = source;
        wrong.arguments.push_back(wrong.arguments[0]);
        wrong.text = "x";
        VERIFY_SAYS(makeOwnKernel(wrong), "two arguments are named \"arg0\"");
        wrong = source;
        wrong.text = "// \xFC\nkernel void twice(global float* x) {}";
        const auto latin = makeOwnKernel(wrong);
        QVERIFY(bool(latin));
        QVERIFY((*latin)->variants[0].source.text.starts_with("// \xC3\xBC\n"));
        QVERIFY((*latin)->description.find("Latin-1") != std::string::npos);
        wrong.file = "x.cu";
        QVERIFY((*makeOwnKernel(wrong))->variants[0].language == Language::CudaCpp);
    }

    void argumentsAsText() {
        const auto parse = [](const char* text) { return *parseArgument(text, 3); };
        KernelArgument argument = parse("buffer:float:16");
        QCOMPARE(argument.name, std::string("arg3"));
        QVERIFY(argument.kind == KernelArgument::Kind::Buffer);
        QVERIFY(argument.access == Access::ReadWrite);
        QCOMPARE(argument.fill, std::string("zeros"));
        argument = parse("buffer:float4:4*4:uniform(0, 1):read");
        QCOMPARE(argument.fill, std::string("uniform(0, 1)"));
        QVERIFY(argument.access == Access::Read);
        QCOMPARE(argument.count, std::string("4*4"));
        QCOMPARE(parse("buffer:int:3:values(1,2,3)").fill, std::string("values(1,2,3)"));
        argument = parse("buffer:int:3:file(/a:b,c/(x.npy):write");
        QCOMPARE(argument.fill, std::string("file(/a:b,c/(x.npy)"));
        QVERIFY(argument.access == Access::Write);
        QCOMPARE(parse("buffer:int:3:file(/read)").fill, std::string("file(/read)"));
        QCOMPARE(parse("buffer:int:3:file(x.npy)").fill, "file(" + (std::filesystem::current_path() / "x.npy").string() + ")");
        QVERIFY(parse("buffer:int:3::read").access == Access::Read);
        QVERIFY(parse("buffer:int:3:read").access == Access::Read);
        QCOMPARE(parse("int:-5").values, (std::vector<std::string>{"-5"}));
        QCOMPARE(parse("float4:1, 2,3,4").values, (std::vector<std::string>{"1", "2", "3", "4"}));
        QCOMPARE(parse("ulong:18446744073709551615").values, (std::vector<std::string>{"18446744073709551615"}));
        QCOMPARE(parse("bytes:0aff").raw, (std::vector<std::byte>{std::byte{10}, std::byte{255}}));
        QCOMPARE(parse("local:4*256").count, std::string("4*256"));
        QVERIFY(parse("local:1024").kind == KernelArgument::Kind::Local);
    }

    void wrongArgumentsAsText_data() {
        QTest::addColumn<QString>("says");
        const auto row = [](const char* text, const char* says) { QTest::newRow(text) << QString::fromLatin1(says); };
        row("", "is expected");
        row("float", "buffer:TYPE:COUNT");
        row("flaot:1", "unknown type \"flaot\"");
        row("float:", "empty");
        row("float:one", "unknown name \"one\"");
        row("uchar:300", "300 does not fit uchar");
        row("float4:1,2,3", "float4 takes 4 values, 3 given");
        row("int:2:3", "colon");
        row("bytes:", "no bytes given");
        row("bytes:xyz", "is not hexadecimal");
        row("local:", "empty");
        row("local:0", "at least 1");
        row("local:-4", "cannot be negative");
        row("buffer:", "unknown type \"\"");
        row("buffer:float", "count");
        row("buffer:float:", "count");
        row("buffer:float:0", "count is 0");
        row("buffer:float:-1", "cannot be negative");
        row("buffer:float:1.5", "whole number");
        row("buffer:float:1e30", "2^53");
        row("buffer:float:n", "unknown name \"n\"");
        row("buffer:float:4:ones", "zeros, iota");
        row("buffer:float:4:zeros:readwrite", "zeros, iota");
        row("buffer:int:4:values(1,2)", "gives 2 values, the buffer takes 4");
    }
    void wrongArgumentsAsText() {
        QFETCH(QString, says);
        const auto parsed = parseArgument(QTest::currentDataTag(), 0);
        VERIFY_SAYS(parsed, says.toStdString());
        QVERIFY(parsed.error().kind == ErrorKind::InvalidInput);
    }
};

QTEST_APPLESS_MAIN(LaunchPlanTest)
#include "tst_launch_plan.moc"
