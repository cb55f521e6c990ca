#pragma once

// The one place that includes OpenCL: the C API, 1.2 and deprecated 1.2 entry points (a queue is made with the call
// that every version has). Newer calls need the device's own word that it has the version.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace heteroscope::opencl {

/// Owns one OpenCL object.
template <class T, auto Release>
class Handle {
public:
    Handle() = default;
    explicit Handle(T object) : object_(object) {}
    Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (object_) Release(object_);
    }

    T get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    T object_ = nullptr;
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Memory = Handle<cl_mem, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using Event = Handle<cl_event, clReleaseEvent>;

/// The text that a clGet…Info call gives; empty when it fails. `get(size, value, sizeReturned)`.
template <class Get>
std::string queryText(Get get) {
    std::size_t size = 0;
    if (get(std::size_t{0}, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    if (get(size, text.data(), nullptr) != CL_SUCCESS) return {};
    // Some drivers count trailing zeros in, some pad with more than one.
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

}  // namespace heteroscope::opencl
