#include "tests/kernels/unary_cases.h"

#include <cmath>
#include <numbers>

namespace loup::test {

namespace {

using Real = long double;
using kernels::UnaryOp;

constexpr Real pi = std::numbers::pi_v<Real>;
constexpr Real real_inf = std::numeric_limits<Real>::infinity();

Real sigmoid(Real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Real silu(Real x) { return x == -real_inf ? -0.0L : x * sigmoid(x); }
Real softplus(Real x) { return x > 20 ? x : std::log1p(std::exp(x)); }
Real logit(Real x) {
  return std::abs(x - 0.5L) < 0.25L ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
}
Real sinc(Real x) {
  if (x == 0) return 1;
  const Real n = std::nearbyint(x);
  const Real sine = std::sin(pi * (x - n));
  return (std::fmod(n, 2.0L) == 0 ? sine : -sine) / (pi * x);
}
Real gelu(Real x) { return x == -real_inf ? -0.0L : 0.5L * x * std::erfc(-x / std::sqrt(2.0L)); }
Real gelu_tanh(Real x) {
  if (x == -real_inf) return -0.0L;
  return x * sigmoid(2 * std::sqrt(2 / pi) * (x + 0.044715L * x * x * x));
}
Real log_gamma(Real x) {
  int sign = 0;
  return lgammal_r(x, &sign);
}
Real digamma(Real x) {
  if (x == 0) return std::copysign(real_inf, -x);
  if (x < 0) {
    const Real r = x - std::nearbyint(x);
    if (!(r != 0)) return std::numeric_limits<Real>::quiet_NaN();
    return digamma(1 - x) - pi / std::tan(pi * r);
  }
  Real sum = 0;
  for (; x < 25; x += 1) sum -= 1 / x;
  const Real z = 1 / (x * x);
  const Real series =
      z *
      (1 / 12.0L - z * (1 / 120.0L -
                        z * (1 / 252.0L -
                             z * (1 / 240.0L - z * (1 / 132.0L - z * (691 / 32760.0L - z / 12))))));
  return sum + std::log(x) - 0.5L / x - series;
}
/// The sum of (x/2)^(2k) / (k! (k + order)!), times (x/2)^order.
Real bessel(int order, Real x) {
  if (std::isinf(x)) return order == 0 ? real_inf : x;
  const Real y = x * x / 4;
  Real term = order == 0 ? 1 : x / 2;
  Real sum = term;
  for (int k = 1; std::abs(term) > std::abs(sum) * 1e-21L; ++k) {
    term *= y / (Real(k) * Real(k + order));
    sum += term;
  }
  return sum;
}
/// By Newton's method, from the kernel's own neighbourhood: any start leads to the same end.
Real erfinv(Real x) {
  if (!(std::abs(x) < 1))
    return std::abs(x) == 1 ? x * real_inf : std::numeric_limits<Real>::quiet_NaN();
  const Real size = std::abs(x);
  Real y = size < 0.7L ? size : std::sqrt(-std::log((1 - size) / 2));
  for (int i = 0; i < 60; ++i) {
    const Real error = size < 0.5L ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const Real step = error * std::exp(y * y) * std::sqrt(pi) / 2;
    y -= step / (1 + y * step);
    if (std::abs(step) < 1e-25L * y) break;
  }
  return std::copysign(y, x);
}

}  // namespace

const std::vector<RealFunction>& real_functions() {
  static const std::vector<RealFunction> functions = {
      // name, op, reference, bounds for f32 and f64
      {"sqrt", UnaryOp::sqrt, [](Real x) { return std::sqrt(x); }, 0.5, 0.5},
      {"rsqrt", UnaryOp::rsqrt, [](Real x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
      {"reciprocal", UnaryOp::reciprocal, [](Real x) { return 1 / x; }, 0.5, 0.5},
      {"deg2rad", UnaryOp::deg2rad, [](Real x) { return x * pi / 180; }, 0.51, 1},
      {"rad2deg", UnaryOp::rad2deg, [](Real x) { return x * 180 / pi; }, 0.51, 1},
      {"exp", UnaryOp::exp, [](Real x) { return std::exp(x); }, 1.1, 1.1},
      {"exp2", UnaryOp::exp2, [](Real x) { return std::exp2(x); }, 1.5, 1.5},
      {"expm1", UnaryOp::expm1, [](Real x) { return std::expm1(x); }, 1.5, 1.5},
      {"log", UnaryOp::log, [](Real x) { return std::log(x); }, 1, 1},
      {"log2", UnaryOp::log2, [](Real x) { return std::log2(x); }, 2, 2},
      {"log10", UnaryOp::log10, [](Real x) { return std::log10(x); }, 2, 2},
      {"log1p", UnaryOp::log1p, [](Real x) { return std::log1p(x); }, 1.1, 1.1},
      {"sigmoid", UnaryOp::sigmoid, sigmoid, 1.7, 1.7},
      {"silu", UnaryOp::silu, silu, 2.5, 2.5},
      {"logit", UnaryOp::logit, logit, 0.6, 3.5, {-1}},
      {"softplus", UnaryOp::softplus, softplus, 0.6, 1.5, {1, 20}},
      {"tanh", UnaryOp::tanh, [](Real x) { return std::tanh(x); }, 1.5, 1.5},
      {"sinh", UnaryOp::sinh, [](Real x) { return std::sinh(x); }, 1, 1},
      {"cosh", UnaryOp::cosh, [](Real x) { return std::cosh(x); }, 1, 1},
      {"asinh", UnaryOp::asinh, [](Real x) { return std::asinh(x); }, 0.6, 2},
      {"acosh", UnaryOp::acosh, [](Real x) { return std::acosh(x); }, 0.6, 2},
      {"atanh", UnaryOp::atanh, [](Real x) { return std::atanh(x); }, 0.6, 2},
      {"sin", UnaryOp::sin, [](Real x) { return std::sin(x); }, 0.51, 1},
      {"cos", UnaryOp::cos, [](Real x) { return std::cos(x); }, 0.51, 1},
      {"tan", UnaryOp::tan, [](Real x) { return std::tan(x); }, 1.8, 1},
      {"asin", UnaryOp::asin, [](Real x) { return std::asin(x); }, 1.3, 1},
      {"acos", UnaryOp::acos, [](Real x) { return std::acos(x); }, 1.3, 1},
      {"atan", UnaryOp::atan, [](Real x) { return std::atan(x); }, 1.5, 1},
      {"sinc", UnaryOp::sinc, sinc, 0.6, 3.5},
      {"erf", UnaryOp::erf, [](Real x) { return std::erf(x); }, 1.5, 1.5},
      {"erfc", UnaryOp::erfc, [](Real x) { return std::erfc(x); }, 0.6, 4},
      {"erfinv", UnaryOp::erfinv, erfinv, 1, 4},
      // Below -36 erfc is no normal double any more.
      {"gelu", UnaryOp::gelu, gelu, 6.5, 6, {}, -36},
      // Far below 0, errors grow with the argument of the exponential.
      {"gelu_tanh", UnaryOp::gelu_tanh, gelu_tanh, 0.6, 16, {}, -3},
      // Negative numbers are between poles and near zeros; near its positive zero, digamma's
      // reference loses digits, too.
      {"lgamma", UnaryOp::lgamma, log_gamma, 1, 4, {}, 0},
      {"digamma", UnaryOp::digamma, digamma, 1, 8, {}, 0},
      {"i0", UnaryOp::i0, [](Real x) { return bessel(0, x); }, 1, 6, {}, -700, 700},
      {"i1", UnaryOp::i1, [](Real x) { return bessel(1, x); }, 1, 6, {}, -700, 700},
  };
  return functions;
}

}  // namespace loup::test
