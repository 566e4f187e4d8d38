#pragma once

#include "loup/ops/elementwise.h"

/// Backward rules of the unary operators: the gradient of the output times the derivative, written
/// with operators. Masks travel on by themselves, so a rule may compute anything where nothing
/// flows.
namespace loup::ops::rules {

LOUP_EXPORT Tensor abs(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor acos(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor acosh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor asin(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor asinh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor atan(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor atanh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor cos(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor cosh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor deg2rad(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor digamma(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor erf(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor erfc(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor erfinv(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor exp(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor exp2(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor expm1(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor gelu(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor gelu_tanh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor i0(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor i1(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor identity(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor lgamma(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor log(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor log10(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor log1p(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor log2(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor logit(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor nan_to_num(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor neg(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor polygamma(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor rad2deg(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor reciprocal(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor relu(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor rsqrt(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor sigmoid(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor silu(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor sin(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor sinc(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor sinh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor softplus(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor sqrt(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor square(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor tan(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor tanh(const ElementwiseCall& call, const Tensor& g);
LOUP_EXPORT Tensor zero(const ElementwiseCall& call, const Tensor& g);

}  // namespace loup::ops::rules
