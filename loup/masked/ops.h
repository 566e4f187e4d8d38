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
inline constexpr Reduction prod{ops::prod_spec};
inline constexpr Reduction mean{ops::mean_spec};
inline constexpr Reduction amax{{.name = "amax",
                                 .summary = "The largest of the elements that count.",
                                 .kernel = kernels::ReduceOp::amax,
                                 .types = ops::ReduceTypes::kept,
                                 .needs_elements = true,
                                 .backward = ops::rules::extreme,
                                 .saves_input = true}};
inline constexpr Reduction amin{{.name = "amin",
                                 .summary = "The least of the elements that count.",
                                 .kernel = kernels::ReduceOp::amin,
                                 .types = ops::ReduceTypes::kept,
                                 .needs_elements = true,
                                 .backward = ops::rules::extreme,
                                 .saves_input = true}};
inline constexpr Reduction argmax{{.name = "argmax",
                                   .summary = "Where the first of the largest elements is.",
                                   .kernel = kernels::ReduceOp::argmax,
                                   .types = ops::ReduceTypes::index,
                                   .needs_elements = true,
                                   .takes_one_dim = true}};
inline constexpr Reduction argmin{{.name = "argmin",
                                   .summary = "Where the first of the least elements is.",
                                   .kernel = kernels::ReduceOp::argmin,
                                   .types = ops::ReduceTypes::index,
                                   .needs_elements = true,
                                   .takes_one_dim = true}};
inline constexpr Reduction logsumexp{{.name = "logsumexp",
                                      .summary = "The logarithm of the sum of exponentials.",
                                      .kernel = kernels::ReduceOp::log_sum_exp,
                                      .types = ops::ReduceTypes::exponential,
                                      .backward = ops::rules::log_sum_exp,
                                      .saves_input = true}};
inline constexpr Reduction any{{.name = "any",
                                .summary = "Whether an element that counts is not zero.",
                                .kernel = kernels::ReduceOp::amax,
                                .types = ops::ReduceTypes::boolean}};
inline constexpr Reduction all{{.name = "all",
                                .summary = "Whether no element that counts is zero.",
                                .kernel = kernels::ReduceOp::amin,
                                .types = ops::ReduceTypes::boolean}};
inline constexpr Reduction count{{.name = "count",
                                  .summary = "How many elements count.",
                                  .kernel = kernels::ReduceOp::sum,
                                  .types = ops::ReduceTypes::counted}};

inline constexpr Deviation var{ops::var_spec};
inline constexpr Deviation std{{.name = "std",
                                .summary = "The root of the variance.",
                                .kernel = kernels::ReduceOp::var,
                                .types = ops::ReduceTypes::spread,
                                .is_second = true,
                                .backward = ops::rules::std_of,
                                .saves_input = true}};
inline constexpr Norm norm{.name = "norm",
                           .summary = "The length of the elements that count, as a vector."};

inline constexpr PairReduction max{
    {.name = "max",
     .summary = "The largest element that counts, and along a dim its index.",
     .kernel = kernels::ReduceOp::argmax,
     .types = ops::ReduceTypes::index,
     .needs_elements = true,
     .takes_one_dim = true}};
inline constexpr PairReduction min{
    {.name = "min",
     .summary = "The least element that counts, and along a dim its index.",
     .kernel = kernels::ReduceOp::argmin,
     .types = ops::ReduceTypes::index,
     .needs_elements = true,
     .takes_one_dim = true}};
inline constexpr PairReduction minmax{{.name = "minmax",
                                       .summary = "The least and the largest element that count.",
                                       .kernel = kernels::ReduceOp::minmax,
                                       .types = ops::ReduceTypes::kept,
                                       .needs_elements = true}};

inline constexpr Normalization softmax{
    {.name = "softmax",
     .summary = "Exponentials of the elements that count, divided by their sum.",
     .kernel = kernels::SoftmaxOp::softmax,
     .sign = 1,
     .hidden = 0,
     .backward = ops::rules::softmax}};
inline constexpr Normalization log_softmax{ops::log_softmax_spec};
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

inline constexpr std::array all_ops = {
    Op{&sum},       Op{&prod},      Op{&mean},      Op{&amax},        Op{&amin},
    Op{&argmax},    Op{&argmin},    Op{&logsumexp}, Op{&any},         Op{&all},
    Op{&count},     Op{&var},       Op{&std},       Op{&norm},        Op{&max},
    Op{&min},       Op{&minmax},    Op{&softmax},   Op{&log_softmax}, Op{&softmin},
    Op{&normalize}, Op{&cumsum},    Op{&cumprod},   Op{&logaddexp},   Op{&median},
    Op{&quantile},  Op{&histogram}, Op{&cov},       Op{&corrcoef},    Op{&weighted_mean}};

/// What the documentation says of an operator, masked or one of the tensor's own.
struct OpInfo {
  std::string name, family, summary, signature;
  std::vector<std::string> aliases;
  bool is_masked;     // takes mask= and is found in loup.masked
  bool takes_masked;  // gives a MaskedTensor for one
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
