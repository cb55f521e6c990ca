#pragma once

#include "scheduler/job.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heteroscope {

/// Finds the dependencies that access to shared data implies: overlapping ranges of one datum, one of them written,
/// keep the order in which they are told.
class DataAccesses {
public:
    /// Told job by job. `before` is called with every job that `job` must come after; the same one may come twice.
    void add(std::size_t job, const std::map<std::string, DataBinding>& bindings,
             const std::function<void(std::size_t)>& before);

private:
    static constexpr std::size_t nobody = ~std::size_t{0};
    /// Elements [key, end) of a datum: who wrote them last and who has read them since.
    struct Segment {
        std::uint64_t end = 0;
        std::size_t writer = nobody;
        std::vector<std::size_t> readers;
    };
    using Segments = std::map<std::uint64_t, Segment>;

    static void splitAt(Segments& segments, std::uint64_t element);
    static void read(Segments& segments, std::uint64_t first, std::uint64_t end, std::size_t job,
                     const std::function<void(std::size_t)>& before);
    static void write(Segments& segments, std::uint64_t first, std::uint64_t end, std::size_t job,
                      const std::function<void(std::size_t)>& before);

    std::map<const Data*, Segments> data_;
};

}  // namespace heteroscope
