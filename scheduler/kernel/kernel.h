#pragma once

#include "devices/device.h"
#include "devices/error.h"
#include "scheduler/kernel/element_type.h"
#include "scheduler/kernel/expression.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heteroscope {

enum class Access { Read, Write, ReadWrite };

std::string_view toString(Access access);  // "read", "write", "read-write"
std::optional<Access> accessFromString(std::string_view word);

struct KernelParameter {
    std::string name;
    double defaultValue = 0.0;
    std::optional<double> minimum;
    std::optional<double> maximum;
    bool integral = true;  ///< default, min and max are written as whole numbers ("3.0" is none), or "type": "int"
};

struct KernelArgument {
    enum class Kind { Scalar, Buffer, Local };
    std::string name;
    Kind kind = Kind::Scalar;
    ElementType type;
    std::vector<std::string> values;  ///< scalar: one expression a component
    std::vector<std::byte> raw;       ///< scalar of type bytes: the struct itself
    std::string count;                ///< buffer, local: elements (local: of `type`), an expression
    Access access = Access::Read;
    std::string fill = "zeros";  ///< see fill.h
    bool constant = false;       ///< __constant pointer: counted against that limit
};

struct KernelRange {
    std::vector<std::string> global;  ///< 1 to 3 expressions
    std::vector<std::string> local;   ///< empty: left to the runtime
    std::vector<std::string> offset;  ///< empty: zeros
    bool guarded = false;             ///< tests its bounds: global may be rounded up to the work-group
};

struct KernelVariant {
    Language language = Language::OpenClC;
    std::string entry;
    ProgramSource source;  ///< text loaded with the package
};

struct KernelSplit {
    unsigned dimension = 0;
    std::string extent;                        ///< parameter
    std::string offset;                        ///< parameter, may be empty
    std::map<std::string, std::string> divide; ///< buffer → elements per index, an expression
    std::map<std::string, std::string> halo;   ///< buffer → elements on both sides
    std::map<std::string, std::string> merge;  ///< buffer → sum, min, max
};

/// A kernel package, or a person's own source made into one. Immutable once loaded; shared between jobs.
struct Kernel {
    std::string id;  ///< "saxpy"; own sources: "mine.cl:diagonal"
    std::string title;
    std::string description;
    std::vector<KernelParameter> parameters;
    std::vector<KernelArgument> arguments;
    KernelRange range;
    std::string flops;  ///< expressions; empty: not stated
    std::string bytes;
    std::optional<KernelSplit> split;
    std::vector<KernelVariant> variants;
    std::string reference;  ///< name of a CPU reference, or empty
    double relativeTolerance = 1e-5;
    double absoluteTolerance = 1e-6;
    std::filesystem::path folder;  ///< where its files lie
    bool ownSource = false;

    const KernelVariant* variant(Language language) const;
    const KernelArgument* argument(std::string_view name) const;
    Parameters defaults() const;
    /// Defaults with `given` laid over. Errors: unknown name (with the nearest known one), outside min…max, fraction.
    Result<Parameters> resolve(const Parameters& given) const;
};

using KernelPtr = std::shared_ptr<const Kernel>;

/// Reads one package. Errors name file, JSON pointer, what was found and what was expected; unknown fields
/// come back by name in `warnings`.
Result<KernelPtr> loadKernelPackage(const std::filesystem::path& folder, std::vector<std::string>& warnings);

/// Every package there is, by id. A later folder's package of the same id hides an earlier one.
class KernelCatalogue {
public:
    /// Blocks on files. A package that does not load is skipped and said in problems().
    static KernelCatalogue load(const std::vector<std::filesystem::path>& folders);

    KernelPtr find(std::string_view id) const;
    const std::vector<KernelPtr>& kernels() const { return kernels_; }  ///< sorted by id
    const std::vector<Error>& problems() const { return problems_; }
    const std::vector<std::string>& warnings() const { return warnings_; }  ///< unknown fields, by file and name

private:
    std::vector<KernelPtr> kernels_;
    std::vector<Error> problems_;
    std::vector<std::string> warnings_;
};

}  // namespace heteroscope
