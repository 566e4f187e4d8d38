#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "loup/masked/op.h"

// The list: every masked operator, described once. C++ functions, MaskedTensor overloads, Python
// functions and methods, the table in docs/ops.md, conformance and gradient tests and benchmarks
// are derived from it.

namespace loup::masked {

inline constexpr Reduction sum{ops::sum_spec};

inline constexpr Normalization softmax{
    {.name = "softmax",
     .summary = "Exponentials of the elements that count, divided by their sum.",
     .kernel = kernels::SoftmaxOp::softmax,
     .sign = 1,
     .hidden = 0,
     .backward = ops::rules::softmax}};
inline constexpr Normalization log_softmax{
    {.name = "log_softmax",
     .summary = "Logarithms of softmax, exact where that is tiny.",
     .kernel = kernels::SoftmaxOp::log_softmax,
     .sign = 1,
     .hidden = -std::numeric_limits<double>::infinity(),
     .backward = ops::rules::log_softmax}};
inline constexpr Normalization softmin{{.name = "softmin",
                                        .summary = "Softmax of -x.",
                                        .kernel = kernels::SoftmaxOp::softmax,
                                        .sign = -1,
                                        .hidden = 0,
                                        .backward = ops::rules::softmin}};

inline constexpr Scan cumsum{ops::cumsum_spec};
inline constexpr Scan cumprod{ops::cumprod_spec};

inline constexpr NormDivision normalize{
    .name = "normalize", .summary = "Divide the elements that count by their norm, or by eps."};
inline constexpr LogAddExp logaddexp{.name = "logaddexp",
                                     .summary = "log(exp(x) + exp(y)) of what counts of the two."};

inline constexpr std::array all_ops = {Op{&sum},     Op{&softmax},   Op{&log_softmax},
                                       Op{&softmin}, Op{&normalize}, Op{&cumsum},
                                       Op{&cumprod}, Op{&logaddexp}};

/// What the documentation says of an operator, masked or one of the tensor's own.
struct OpInfo {
  std::string name, family, summary, signature;
  std::vector<std::string> aliases;
  bool is_masked;  // takes mask= and is found in loup.masked
  bool is_differentiable;
  bool is_in_place;            // name_() is a method of Tensor
  std::string integer_result;  // dtype for int32 input, where that is a rule of the family
  std::string fully_masked;    // value of a float slice of which nothing counts
};
/// Every operator of the library.
LOUP_EXPORT std::vector<OpInfo> describe_ops();

/// The operators as Markdown tables, one for each family.
LOUP_EXPORT std::string ops_markdown();

}  // namespace loup::masked
