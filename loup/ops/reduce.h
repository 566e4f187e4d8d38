#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "loup/kernels/reduce.h"
#include "loup/ops/rules.h"
#include "loup/tensor/tensor_ref.h"

namespace loup::ops {

/// How the dtypes of a reduction follow from its input's and from the one asked for.
enum class ReduceTypes : std::uint8_t {
  accumulated,  // floats stay what they are, integers and bool give int64
  averaged,     // floats only; integers give float32, int64 float64
  spread,       // floats only; integers give float32
  exponential,  // integers give float32; the result is converted
  real,         // floats, also as input; the one asked for must hold the input's
  kept,         // the input's; the result is converted
  index,        // int64; the result is converted
  boolean,      // bool, also as input
  counted       // int64: how many elements there are
};

/// What a reduction is: its names, its kernel, its dtype rule and its gradient. Records refer to
/// it, so it must be a constant.
struct ReduceSpec {
  const char* name;
  const char* summary;
  kernels::ReduceOp kernel;
  ReduceTypes types;
  bool is_second = false;         // the kernel's second result is meant
  bool needs_elements = false;    // of no elements there is no result, not even an identity
  bool takes_one_dim = false;     // or none, which means all
  ReduceRule backward = nullptr;  // null: not differentiable
  bool saves_input = false;       // the rule asks for input and output
};

/// Integers and bool are summed in int64, floats keep their dtype.
constexpr DType accumulated(DType dtype) { return is_floating(dtype) ? dtype : DType::i64; }

/// The dtype of a reduction's result when none is asked for.
LOUP_EXPORT DType result_type(const ReduceSpec& spec, DType input);

struct ReduceArguments {
  const Tensor* mask = nullptr;  // true = counts; null: all do
  bool keepdim = false;
  std::optional<DType> dtype = {};
  double parameter = 0;  // a variance's correction, a norm's order
};

/// `mask` repeated to the shape of `x`. DTypeError for a float mask, IndexError when it has more
/// dims than x, ShapeError when it does not broadcast.
LOUP_EXPORT Tensor mask_as(const char* operation, const Tensor& x, const Tensor& mask);
/// The same, which refers to `mask` where that has the shape of x; none for null.
LOUP_EXPORT TensorRef mask_as(const char* operation, const Tensor& x, const Tensor* mask);

/// Reduces `dims` of `x` (all when empty). Elements where the mask is false are not looked at; a
/// slice without counted elements gives the reduction's identity.
LOUP_EXPORT Tensor reduce(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                          const ReduceArguments& arguments = {});

/// Both results of the kernel, in one pass; not recorded.
LOUP_EXPORT std::pair<Tensor, Tensor> reduce_both(const ReduceSpec& spec, const Tensor& x,
                                                  const Dims& dims,
                                                  const ReduceArguments& arguments = {});

/// The sum of elements times weights, and that of the weights, over what counts, in one pass; not
/// recorded. `weight` is broadcast to the shape of x. Elements are converted to `dtype` (integers
/// to float32, int64 to float64); the sums have its compute type. Errors name weighted_mean.
LOUP_EXPORT std::pair<Tensor, Tensor> weighted_sums(const Tensor& x, const Tensor& weight,
                                                    const Dims& dims,
                                                    const ReduceArguments& arguments = {});

/// Where a slice of the bool tensor `x` has a true element. Errors name `operation`.
LOUP_EXPORT Tensor any(const char* operation, const Tensor& x, const Dims& dims, bool keepdim);

/// How many elements of the slices of `x` count, as int64.
LOUP_EXPORT Tensor count(const char* operation, const Tensor& x, const Dims& dims,
                         const ReduceArguments& arguments = {});

// Described here, not in the list of masked operators, because backward rules and other operators
// need them.
inline constexpr ReduceSpec sum_spec{.name = "sum",
                                     .summary = "Add the elements that count.",
                                     .kernel = kernels::ReduceOp::sum,
                                     .types = ReduceTypes::accumulated,
                                     .backward = rules::sum};
inline constexpr ReduceSpec mean_spec{.name = "mean",
                                      .summary = "Average the elements that count.",
                                      .kernel = kernels::ReduceOp::mean,
                                      .types = ReduceTypes::averaged,
                                      .backward = rules::mean};

inline constexpr ReduceSpec prod_spec{.name = "prod",
                                      .summary = "Multiply the elements that count.",
                                      .kernel = kernels::ReduceOp::prod,
                                      .types = ReduceTypes::accumulated,
                                      .backward = rules::prod,
                                      .saves_input = true};

inline constexpr ReduceSpec var_spec{
    .name = "var",
    .summary = "The mean square of the distance from the mean, corrected.",
    .kernel = kernels::ReduceOp::var,
    .types = ReduceTypes::spread,
    .backward = rules::var,
    .saves_input = true};

}  // namespace loup::ops
