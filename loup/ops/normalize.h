#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "loup/autograd/gradient.h"
#include "loup/kernels/lines.h"
#include "loup/tensor/tensor.h"

// Operators that rescale lines: softmax and its relatives.

namespace loup::ops {

/// What every operator on lines takes.
struct LineArguments {
  const Tensor* mask = nullptr;     // true = counts; null: all do
  std::optional<DType> dtype = {};  // the input is converted first
};

/// What the backward rule of a softmax may need of the call it belongs to.
struct SoftmaxRecord {
  int dim;
  std::optional<Tensor> mask;  // bool, of the input's shape
  Tensor output;
};
/// The gradient of the input where it flows, computed from that of the output.
using SoftmaxRule = Tensor (*)(const SoftmaxRecord&, const Tensor& gradient);

/// What an operator of the softmax family is.
struct SoftmaxSpec {
  const char* name;
  const char* summary;
  kernels::SoftmaxOp kernel;
  double sign;    // 1, or -1 where it is applied to -x
  double hidden;  // what masked elements become
  SoftmaxRule backward;
};

/// Rescales the lines of `x` along `dim`. Elements where the mask is false are not looked at and
/// become `spec.hidden`, and so does a line of which nothing counts, or only -inf. A NaN or inf
/// that counts makes its line NaN. DTypeError unless x or the dtype asked for is floating.
LOUP_EXPORT Tensor softmax_lines(const SoftmaxSpec& spec, const Tensor& x, std::int64_t dim,
                                 const LineArguments& arguments = {});

struct NormalizeArguments {
  double eps = 1e-12;               // the least that is divided by
  const Tensor* mask = nullptr;     // true = counts; null: all do
  std::optional<DType> dtype = {};  // the input is converted first; must hold its elements
};

/// Divides the lines of `x` along `dims` (all when empty) by their norm of order `ord`, or by eps
/// where that is larger. Elements where the mask is false are not looked at and become 0.
LOUP_EXPORT Tensor normalize_lines(const Tensor& x, double ord, const Dims& dims,
                                   const NormalizeArguments& arguments = {});

namespace rules {
LOUP_EXPORT Tensor softmax(const SoftmaxRecord& call, const Tensor& g);
LOUP_EXPORT Tensor softmin(const SoftmaxRecord& call, const Tensor& g);
LOUP_EXPORT Tensor log_softmax(const SoftmaxRecord& call, const Tensor& g);

/// A gradient whose lines depend on all of their elements: it flows where `mask` is true, but not
/// in lines to which nothing came.
LOUP_EXPORT autograd::Gradient along_lines(const Tensor& value, const std::optional<Tensor>& mask,
                                           const Dims& dims, const autograd::Gradient& arrived);
}  // namespace rules

// Described here, not in the list of masked operators, because other operators need it.
inline constexpr SoftmaxSpec log_softmax_spec{
    .name = "log_softmax",
    .summary = "Logarithms of softmax, exact where that is tiny.",
    .kernel = kernels::SoftmaxOp::log_softmax,
    .sign = 1,
    .hidden = -std::numeric_limits<double>::infinity(),
    .backward = rules::log_softmax};

}  // namespace loup::ops
