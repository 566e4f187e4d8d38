#pragma once

#include <array>

#include "loup/ops/elementwise.h"

/// Backward rules of the binary operators: the gradients of both operands, as they were broadcast.
namespace loup::ops::rules {

using Pair = std::array<Tensor, 2>;

LOUP_EXPORT Pair add(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair sub(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair mul(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair div(const ElementwiseCall& call, const Tensor& g);
/// Steps: zero wherever there is a derivative.
LOUP_EXPORT Pair floor_divide(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair fmod(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair remainder(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair pow(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair atan2(const ElementwiseCall& call, const Tensor& g);
/// Equal operands share the gradient.
LOUP_EXPORT Pair maximum(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair minimum(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair fmax(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair fmin(const ElementwiseCall& call, const Tensor& g);
/// Of log(exp(x) + exp(y)), x and y scaled alike; `needs` says which of both are asked for.
LOUP_EXPORT Pair log_sum(const Pair& operands, std::array<bool, 2> needs, const Tensor& g,
                         double scale = 1);
LOUP_EXPORT Pair logaddexp(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Pair logaddexp2(const ElementwiseCall& call, const Tensor& g);

}  // namespace loup::ops::rules
