#pragma once

#include "devices/error.h"
#include "scheduler/kernel/element_type.h"
#include "scheduler/kernel/expression.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heteroscope {

/// IEEE 754 binary16, round to nearest even; beyond its range becomes infinite.
std::uint16_t halfFromFloat(float value);
float floatFromHalf(std::uint16_t bits);

bool isFloatingPoint(Scalar scalar);

/// A scalar or vector argument in its own width, little endian as on the host; one expression a component, and a
/// vector of 3 padded to 4. Literals are taken from the text itself, so that 64-bit integers stay exact.
/// Errors: wrong number of components, a value out of the type's range, a fraction for an integer.
Result<std::vector<std::byte>> encodeScalar(ElementType type, const std::vector<std::string>& values,
                                            const Parameters& parameters);

/// One component into `out` (scalarBytes() long).
Status encodeComponent(Scalar scalar, const std::string& value, const Parameters& parameters, std::byte* out);

/// The element at `bytes` as a double; 64-bit integers lose what a double does not hold.
double decodeComponent(Scalar scalar, const std::byte* bytes);

/// "0a 1F…" (blanks allowed) to bytes. Errors: an odd number of digits, other characters.
Result<std::vector<std::byte>> bytesFromHex(const std::string& hex);
std::string hexFromBytes(std::span<const std::byte> bytes);

}  // namespace heteroscope
