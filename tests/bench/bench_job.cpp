// One kernel through the program beside a plain OpenCL host loop over the same device, in one run.
//
// lone: submit one tiny job and wait for it, one after the other; median and 99th percentile in µs.
// stream: many jobs of about a millisecond each, all submitted at once; seconds a job. The ratio is against the loop.

#include "devices/discovery.h"
#include "scheduler/engine.h"

#include <CL/cl.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace heteroscope;

namespace {

constexpr const char* source = R"(
kernel void spin(uint n, global uint* out) {
    uint x = (uint)get_global_id(0);
    for (uint i = 0; i < n; ++i) x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}
)";
constexpr unsigned items = 64;
constexpr unsigned streamJobs = 100;

double seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

void check(cl_int status, const char* what) {
    if (status == CL_SUCCESS) return;
    std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
    std::exit(1);
}

/// The loop a person would write: one context, one queue, one kernel.
class HostLoop {
public:
    HostLoop() {
        cl_platform_id platform = nullptr;
        check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
        cl_device_id device = nullptr;
        check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
        cl_int status = 0;
        context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
        check(status, "clCreateContext");
        queue_ = clCreateCommandQueue(context_, device, CL_QUEUE_PROFILING_ENABLE, &status);
        check(status, "clCreateCommandQueue");
        const char* text = source;
        program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
        check(clBuildProgram(program_, 1, &device, "", nullptr, nullptr), "clBuildProgram");
        kernel_ = clCreateKernel(program_, "spin", &status);
        buffer_ = clCreateBuffer(context_, CL_MEM_WRITE_ONLY, items * sizeof(cl_uint), nullptr, &status);
        check(status, "clCreateBuffer");
        check(clSetKernelArg(kernel_, 1, sizeof buffer_, &buffer_), "clSetKernelArg");
    }
    ~HostLoop() {
        clReleaseMemObject(buffer_);
        clReleaseKernel(kernel_);
        clReleaseProgram(program_);
        clReleaseCommandQueue(queue_);
        clReleaseContext(context_);
    }
    HostLoop(const HostLoop&) = delete;
    HostLoop& operator=(const HostLoop&) = delete;

    void launch(cl_uint n) {
        const std::size_t global = items;
        check(clSetKernelArg(kernel_, 0, sizeof n, &n), "clSetKernelArg");
        check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
    }
    void finish() { check(clFinish(queue_), "clFinish"); }

private:
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
    cl_program program_ = nullptr;
    cl_kernel kernel_ = nullptr;
    cl_mem buffer_ = nullptr;
};

KernelPtr spinKernel() {
    auto kernel = std::make_shared<Kernel>();
    kernel->id = "spin";
    kernel->parameters = {{"n", 1.0, 0.0, 4e9, true}};
    KernelArgument n;
    n.name = "n";
    n.type = *ElementType::fromName("uint");
    n.values = {"n"};
    KernelArgument out;
    out.name = "out";
    out.kind = KernelArgument::Kind::Buffer;
    out.type = n.type;
    out.count = std::to_string(items);
    out.access = Access::Write;
    kernel->arguments = {n, out};
    kernel->range.global = {std::to_string(items)};
    KernelVariant variant;
    variant.entry = "spin";
    variant.source.text = source;
    variant.source.file = "spin.cl";
    kernel->variants = {variant};
    return kernel;
}

/// Loop count that makes one launch take about a millisecond.
cl_uint millisecondLoops(HostLoop& loop) {
    cl_uint n = 1000;
    for (;;) {
        loop.launch(n);
        loop.finish();
        const auto begin = std::chrono::steady_clock::now();
        loop.launch(n);
        loop.finish();
        const double took = seconds(std::chrono::steady_clock::now() - begin);
        if (took >= 0.5e-3) return static_cast<cl_uint>(static_cast<double>(n) * 1e-3 / took);
        n *= 4;
    }
}

struct Setup {
    HostLoop loop;
    Discovery machine = discoverDevices();
    KernelPtr kernel = spinKernel();
    std::unique_ptr<Engine> engine;
    cl_uint loops = 0;

    Setup() {
        if (machine.devices.empty()) {
            std::fprintf(stderr, "no OpenCL device\n");
            std::exit(1);
        }
        EngineOptions options;
        options.policy = "fifo";
        engine = std::make_unique<Engine>(options, nullptr, nullptr);
        engine->addDevice(machine.devices.front());
        run(1, 0);
        loops = millisecondLoops(loop);
    }
    void run(std::size_t count, double n) {
        std::vector<JobSpec> jobs(count);
        const JobId first = engine->reserveIds(count);
        for (std::size_t i = 0; i < count; ++i) {
            jobs[i].id = first + i;
            jobs[i].kernel = kernel;
            jobs[i].parameters = {{"n", n}};
        }
        const auto ids = engine->submit(std::move(jobs));
        if (!ids) {
            std::fprintf(stderr, "%s\n", ids.error().message.c_str());
            std::exit(1);
        }
        engine->wait(*ids);
    }
};

Setup& setup() {
    static Setup made;
    return made;
}

template <class Run>
void lone(benchmark::State& state, Run run) {
    std::vector<double> times;
    for (auto _ : state) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        times.push_back(seconds(std::chrono::steady_clock::now() - begin));
    }
    std::sort(times.begin(), times.end());
    state.counters["median_us"] = times[times.size() / 2] * 1e6;
    state.counters["p99_us"] = times[std::min(times.size() - 1, times.size() * 99 / 100)] * 1e6;
}

void loneHostLoop(benchmark::State& state) {
    auto& s = setup();
    lone(state, [&] {
        s.loop.launch(0);
        s.loop.finish();
    });
}

void loneJob(benchmark::State& state) {
    auto& s = setup();
    lone(state, [&] { s.run(1, 0); });
}

void streamHostLoop(benchmark::State& state) {
    auto& s = setup();
    for (auto _ : state) {
        for (unsigned i = 0; i < streamJobs; ++i) s.loop.launch(s.loops);
        s.loop.finish();
    }
    state.SetItemsProcessed(state.iterations() * streamJobs);
}

void streamJob(benchmark::State& state) {
    auto& s = setup();
    for (auto _ : state) s.run(streamJobs, s.loops);
    state.SetItemsProcessed(state.iterations() * streamJobs);
}

BENCHMARK(loneHostLoop)->Name("lone/host_loop")->UseRealTime()->Iterations(2000);
BENCHMARK(loneJob)->Name("lone/job")->UseRealTime()->Iterations(2000);
BENCHMARK(streamHostLoop)->Name("stream_1ms/host_loop")->UseRealTime()->Iterations(5);
BENCHMARK(streamJob)->Name("stream_1ms/job")->UseRealTime()->Iterations(5);

}  // namespace

BENCHMARK_MAIN();
