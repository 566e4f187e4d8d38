#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace loup::test {

/// What a naive loop makes of the counted elements of one slice, and the magnitude that rounding
/// errors are measured by.
struct Expected {
  double value;
  double scale;
};

/// One operator as plain loops: in double for floats, in int64 (wrapping) for integers and bool.
struct Reference {
  Expected (*real)(std::span<const double> counted);
  std::int64_t (*integer)(std::span<const std::int64_t> counted);
};

/// The reference of an operator; null when it has none yet. A new operator gets its loop here.
const Reference* find_reference(const std::string& op);

}  // namespace loup::test
