#pragma once

#include <cstdint>
#include <optional>

#include "loup/kernels/reduce.h"
#include "loup/ops/rules.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// What a reduction is: its names, its kernel, its dtype rule and its gradient.
struct ReduceSpec {
  const char* name;
  const char* summary;
  kernels::ReduceOp kernel;
  DType (*result)(DType input);   // dtype of the result when none is asked for
  ReduceRule backward = nullptr;  // null: not differentiable
};

/// Integers and bool are summed in int64, floats keep their dtype.
constexpr DType accumulated(DType dtype) { return is_floating(dtype) ? dtype : DType::i64; }

struct ReduceArguments {
  const Tensor* mask = nullptr;  // true = counts; null: all do
  bool keepdim = false;
  std::optional<DType> dtype = {};  // the input is converted first
};

/// `mask` repeated to the shape of `x`. DTypeError for a float mask, IndexError when it has more
/// dims than x, ShapeError when it does not broadcast.
LOUP_EXPORT Tensor mask_as(const char* operation, const Tensor& x, const Tensor& mask);

/// Reduces `dims` of `x` (all when empty). Elements where the mask is false are not looked at; a
/// slice without counted elements gives the reduction's identity.
LOUP_EXPORT Tensor reduce(const ReduceSpec& spec, const Tensor& x, const Dims& dims,
                          const ReduceArguments& arguments = {});

/// Where a slice of the bool tensor `x` has a true element. Errors name `operation`.
LOUP_EXPORT Tensor any(const char* operation, const Tensor& x, const Dims& dims, bool keepdim);

/// Described here, not in the list of masked operators, because backward rules need it.
inline constexpr ReduceSpec sum_spec{.name = "sum",
                                     .summary = "Add the elements that count.",
                                     .kernel = kernels::ReduceOp::sum,
                                     .result = accumulated,
                                     .backward = rules::sum};

}  // namespace loup::ops
