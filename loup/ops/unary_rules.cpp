#include "loup/ops/unary_rules.h"

#include <numbers>

#include "loup/ops/operators.h"
#include "loup/ops/select.h"
#include "loup/tensor/create.h"

namespace loup::ops::rules {

namespace {

using Call = ElementwiseCall;

constexpr double ln2 = std::numbers::ln2;
constexpr double ln10 = std::numbers::ln10;
constexpr double pi = std::numbers::pi;
/// 2 / sqrt(pi)
constexpr double two_rsqrt_pi = 2 * std::numbers::inv_sqrtpi;
/// sqrt(2 / pi)
constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;

/// The derivative of x tanh-approximated: see gelu().
Tensor gelu_tanh_derivative(const Tensor& x) {
  constexpr double cubic = 0.044715;
  const Tensor squares = ops::square(x);
  const Tensor inner = ops::tanh(x * (sqrt_2_over_pi * (1 + cubic * squares)));
  const Tensor slope = sqrt_2_over_pi * (1 + 3 * cubic * squares);
  return 0.5 * (1 + inner + x * (1 - ops::square(inner)) * slope);
}

}  // namespace

Tensor zero(const Call& /*call*/, const Tensor& g) { return zeros_like(g); }
Tensor identity(const Call& /*call*/, const Tensor& g) { return g; }
Tensor neg(const Call& /*call*/, const Tensor& g) { return -g; }
Tensor abs(const Call& call, const Tensor& g) { return g * ops::sign(call.input()); }
Tensor square(const Call& call, const Tensor& g) { return g * (2 * call.input()); }
Tensor reciprocal(const Call& call, const Tensor& g) { return -(g * ops::square(call.output())); }
Tensor sqrt(const Call& call, const Tensor& g) { return g / (2 * call.output()); }
Tensor rsqrt(const Call& call, const Tensor& g) {
  const Tensor y = call.output();
  return -0.5 * (g * (ops::square(y) * y));
}
Tensor deg2rad(const Call& /*call*/, const Tensor& g) { return g * (pi / 180); }
Tensor rad2deg(const Call& /*call*/, const Tensor& g) { return g * (180 / pi); }
Tensor relu(const Call& call, const Tensor& g) { return where(call.output() > 0, g, 0); }
Tensor nan_to_num(const Call& call, const Tensor& g) {
  return where(ops::isfinite(call.input()), g, 0);
}

Tensor exp(const Call& call, const Tensor& g) { return g * call.output(); }
Tensor exp2(const Call& call, const Tensor& g) { return g * (ln2 * call.output()); }
Tensor expm1(const Call& call, const Tensor& g) { return g * (call.output() + 1); }
Tensor log(const Call& call, const Tensor& g) { return g / call.input(); }
Tensor log2(const Call& call, const Tensor& g) { return g / (ln2 * call.input()); }
Tensor log10(const Call& call, const Tensor& g) { return g / (ln10 * call.input()); }
Tensor log1p(const Call& call, const Tensor& g) { return g / (1 + call.input()); }

Tensor sigmoid(const Call& call, const Tensor& g) {
  const Tensor y = call.output();
  return g * (y * (1 - y));
}
Tensor logit(const Call& call, const Tensor& g) {
  const Tensor& x = call.input();
  Tensor slope = g / (x * (1 - x));
  const double eps = call.parameter(0);
  if (eps < 0) return slope;
  return where(ops::logical_and(x >= eps, x <= 1 - eps), slope, 0);
}
Tensor softplus(const Call& call, const Tensor& g) {
  const Tensor scaled = call.parameter(0) * call.input();
  return where(scaled > call.parameter(1), g, g * ops::sigmoid(scaled));
}
Tensor silu(const Call& call, const Tensor& g) {
  const Tensor& x = call.input();
  const Tensor s = ops::sigmoid(x);
  return g * (s * (1 + x * (1 - s)));
}
Tensor tanh(const Call& call, const Tensor& g) { return g * (1 - ops::square(call.output())); }
Tensor sinh(const Call& call, const Tensor& g) { return g * ops::cosh(call.input()); }
Tensor cosh(const Call& call, const Tensor& g) { return g * ops::sinh(call.input()); }
Tensor asinh(const Call& call, const Tensor& g) {
  return g * ops::rsqrt(ops::square(call.input()) + 1);
}
Tensor acosh(const Call& call, const Tensor& g) {
  return g * ops::rsqrt(ops::square(call.input()) - 1);
}
Tensor atanh(const Call& call, const Tensor& g) { return g / (1 - ops::square(call.input())); }

Tensor sin(const Call& call, const Tensor& g) { return g * ops::cos(call.input()); }
Tensor cos(const Call& call, const Tensor& g) { return -(g * ops::sin(call.input())); }
Tensor tan(const Call& call, const Tensor& g) { return g * (1 + ops::square(call.output())); }
Tensor asin(const Call& call, const Tensor& g) {
  return g * ops::rsqrt(1 - ops::square(call.input()));
}
Tensor acos(const Call& call, const Tensor& g) {
  return -(g * ops::rsqrt(1 - ops::square(call.input())));
}
Tensor atan(const Call& call, const Tensor& g) { return g / (1 + ops::square(call.input())); }
Tensor sinc(const Call& call, const Tensor& g) {
  const Tensor& x = call.input();
  // Near 0 the difference cancels; there the first terms of the power series are exact.
  const Tensor u = ops::square(pi * x);
  const Tensor series = 1 - u * (1. / 10) * (1 - u * (1. / 28) * (1 - u * (1. / 54)));
  const Tensor slope = (ops::cos(pi * x) - call.output()) / x;
  return g * where(ops::abs(x) < 0.05, x * (-pi * pi / 3) * series, slope);
}

Tensor erf(const Call& call, const Tensor& g) {
  return g * (two_rsqrt_pi * ops::exp(-ops::square(call.input())));
}
Tensor erfc(const Call& call, const Tensor& g) { return -erf(call, g); }
Tensor erfinv(const Call& call, const Tensor& g) {
  return g * ((1 / two_rsqrt_pi) * ops::exp(ops::square(call.output())));
}
Tensor gelu(const Call& call, const Tensor& g) {
  const Tensor& x = call.input();
  if (call.parameter(0) == 1) return g * gelu_tanh_derivative(x);
  const Tensor below = 0.5 * (1 + ops::erf(x * (1 / std::numbers::sqrt2)));
  const Tensor density = (0.5 * sqrt_2_over_pi) * ops::exp(-0.5 * ops::square(x));
  return g * (below + x * density);
}
Tensor lgamma(const Call& call, const Tensor& g) { return g * ops::digamma(call.input()); }
Tensor digamma(const Call& call, const Tensor& g) { return g * ops::polygamma(call.input(), 1); }
Tensor polygamma(const Call& call, const Tensor& g) {
  return g * ops::polygamma(call.input(), call.parameter(0) + 1);
}
Tensor i0(const Call& call, const Tensor& g) { return g * ops::i1(call.input()); }
Tensor i1(const Call& call, const Tensor& g) {
  const Tensor& x = call.input();
  const Tensor slope = ops::i0(x) - call.output() / x;
  return g * where(x == 0, 0.5, slope);
}

}  // namespace loup::ops::rules
