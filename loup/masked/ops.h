#pragma once

#include <array>
#include <string>
#include <vector>

#include "loup/masked/op.h"

// The list: every masked operator, described once. C++ functions, MaskedTensor overloads, Python
// functions and methods, the table in docs/ops.md, conformance and gradient tests and benchmarks
// are derived from it.

namespace loup::masked {

inline constexpr Reduction sum{ops::sum_spec};

inline constexpr std::array all_ops = {Op{&sum}};

/// What the documentation says of an operator.
struct OpInfo {
  std::string name, family, summary, signature;
  std::string integer_result;  // dtype for int32 input
  std::string fully_masked;    // value of a float slice of which nothing counts
  bool is_differentiable;
};
LOUP_EXPORT std::vector<OpInfo> describe_ops();

/// The operators as a Markdown table.
LOUP_EXPORT std::string ops_markdown();

}  // namespace loup::masked
