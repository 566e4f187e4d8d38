#include "tests/conformance/reference.h"

#include <cmath>
#include <map>

namespace loup::test {

namespace {

/// In long double: the reference must be better than what it judges.
Expected sum(std::span<const double> counted) {
  long double value = 0;
  long double scale = 0;
  for (const double element : counted) {
    value += element;
    scale += std::abs(element);
  }
  return {static_cast<double>(value), static_cast<double>(scale)};
}

std::int64_t sum_integers(std::span<const std::int64_t> counted) {
  std::uint64_t total = 0;
  for (const std::int64_t value : counted) total += static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(total);
}

}  // namespace

const Reference* find_reference(const std::string& op) {
  static const std::map<std::string, Reference> references = {
      {"sum", {sum, sum_integers}},
  };
  const auto found = references.find(op);
  return found != references.end() ? &found->second : nullptr;
}

}  // namespace loup::test
