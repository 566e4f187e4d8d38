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

inline constexpr Median median{
    .name = "median",
    .summary = "The lower middle of the elements that count, when they are sorted."};
inline constexpr Quantile quantile{
    .name = "quantile",
    .summary = "What stands at places of the sorted elements that count, from 0 to 1."};
inline constexpr Histogram histogram{
    .name = "histogram", .summary = "How many of the elements that count lie in each bin."};
inline constexpr Covariance cov{
    .name = "cov", .summary = "Covariances of rows, over the observations that count in both."};
inline constexpr Correlation corrcoef{
    .name = "corrcoef",
    .summary = "Correlations of rows, over the observations that count in both."};
inline constexpr WeightedMean weighted_mean{
    .name = "weighted_mean",
    .summary = "The mean of the elements that count, each as often as its weight says."};

inline constexpr std::array all_ops = {Op{&sum}, Op{&median},   Op{&quantile},     Op{&histogram},
                                       Op{&cov}, Op{&corrcoef}, Op{&weighted_mean}};

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
