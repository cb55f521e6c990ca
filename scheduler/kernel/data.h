#pragma once

#include "devices/error.h"
#include "scheduler/kernel/element_type.h"
#include "scheduler/kernel/expression.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace heteroscope {

/// Host memory of one buffer, aligned to a page so that devices which share it compute in place.
class HostBuffer {
public:
    /// Errors: out-of-memory with the size asked for.
    static Result<std::shared_ptr<HostBuffer>> make(std::uint64_t bytes);
    ~HostBuffer();
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;

    std::span<std::byte> bytes() const { return bytes_; }

private:
    explicit HostBuffer(std::span<std::byte> bytes) : bytes_(bytes) {}
    std::span<std::byte> bytes_;
};

/// Fills a buffer as a package or workload says: `zeros`, `iota`, `uniform(a,b)`, `value(v)`, `values(1,2,3)`,
/// `file(path)` (.npy or raw; relative to `base`). Seeded: same seed, same stream number, same bytes on every
/// machine. a, b, v may be expressions over `parameters`. Vectors are filled component by component.
Status fillBuffer(std::span<std::byte> bytes, ElementType type, const std::string& fill, std::uint64_t seed,
                  std::uint64_t stream, const Parameters& parameters, const std::filesystem::path& base);

/// What fillBuffer() would refuse for a buffer of `count` elements, found without one; files are not opened.
Status checkFill(const std::string& fill, ElementType type, std::uint64_t count, const Parameters& parameters);

/// `fill` with the path of a `file(path)` made absolute against `base`; any other fill unchanged.
std::string fillWithAbsolutePath(const std::string& fill, const std::filesystem::path& base);

/// `fill` with its expressions over `parameters` put in as numbers, so that it means the same without them.
Result<std::string> fillWithNumbers(const std::string& fill, const Parameters& parameters);

/// A named buffer on the host that several jobs share; jobs that touch overlapping parts, one of them writing,
/// are ordered. Filled once, when first staged.
class Data {
public:
    Data(std::string name, ElementType type, std::uint64_t count, std::string fill, std::uint64_t seed,
         std::filesystem::path base);

    /// The bytes, made and filled on the first call. Worker threads; blocks while another one fills.
    Result<std::shared_ptr<HostBuffer>> hostBuffer();

    /// The same description without bytes: for another run of the same work.
    std::shared_ptr<Data> fresh() const { return std::make_shared<Data>(name_, type_, count_, fill_, seed_, base_); }

    const std::string& name() const { return name_; }
    ElementType type() const { return type_; }
    std::uint64_t count() const { return count_; }
    const std::string& fill() const { return fill_; }
    std::uint64_t seed() const { return seed_; }
    const std::filesystem::path& base() const { return base_; }  ///< what a `file(path)` in fill() is relative to

    /// Where the workload wants the final bytes (.npy); empty: nowhere.
    std::filesystem::path savePath;

private:
    std::string name_;
    ElementType type_;
    std::uint64_t count_;
    std::string fill_;
    std::uint64_t seed_;
    std::filesystem::path base_;
    std::mutex mutex_;
    std::shared_ptr<HostBuffer> buffer_;  // guarded by mutex_
};

/// Writes `bytes` as a NumPy file (format 1.0, little endian; a vector type becomes a last axis).
Status writeNpy(const std::filesystem::path& file, ElementType type, std::span<const std::byte> bytes);
/// Reads a NumPy or raw file into `bytes`. Errors: wrong dtype, wrong count, short file; both are named.
Status readArrayFile(const std::filesystem::path& file, ElementType type, std::span<std::byte> bytes);

}  // namespace heteroscope
