#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_exponential.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/wide_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

struct Exp {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp(d, x);
  }
};
struct Exp2 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp2(d, x);
  }
};
struct Expm1 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(expm1(d, x), x);
  }
};

struct Log {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log(d, x);
  }
};
struct Log2 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log_to_base<base_two<hn::TFromD<D>>>(d, x);
  }
};
struct Log10 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log_to_base<base_ten<hn::TFromD<D>>>(d, x);
  }
};
struct Log1p {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log1p(d, x);
  }
};

/// 1 / (1 + exp(-x)). With e = exp(-|x|) it is base - base e / (1 + e), where base is 1, or e for
/// negative x: the division's errors come into a small part of the result only.
struct Sigmoid {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto one = hn::Set(d, T{1});
    const auto size = hn::Min(hn::Set(d, -ExpLog<T>::exp_least), hn::Abs(x));
    const auto parts = careful_exp(d, hn::Neg(size));
    const auto e = scale(d, parts.y, parts.n);
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
  }
};

/// x sigmoid(x), with x in the base; the limit at -inf is -0. The product x exp(x) is scaled last:
/// it may be a number where exp(x) no longer is.
struct Silu {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto one = hn::Set(d, T{1});
    const auto least = hn::Set(d, ExpLog<T>::exp_least - 15);
    const auto bounded = hn::Max(least, x);
    const auto parts = careful_exp(d, hn::Max(least, hn::Neg(hn::Abs(x))));
    const auto e = scale(d, parts.y, parts.n);
    const auto product = scale(d, hn::Mul(bounded, parts.y), parts.n);
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), product, x);
    // Without e there is nothing to subtract, and x may be infinite.
    const auto result = hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
    return hn::CopySign(hn::IfThenElse(hn::Eq(e, hn::Zero(d)), base, result), x);
  }
};

/// log(x / (1 - x)), x clamped to [eps, 1 - eps] unless eps is negative.
class Logit {
 public:
  static constexpr std::int64_t cost = 5;
  explicit Logit(const double* parameters)
      : low_(parameters[0] < 0 ? -infinity : parameters[0]), high_(1 - low_) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto p = clamp(d, x, low_, high_);
    return wide_log(d, hn::Div(p, hn::Sub(hn::Set(d, 1.0), p)));
  }
  double operator()(double x) const {
    const double p = x < low_ ? low_ : x > high_ ? high_ : x;
    // Near 1/2 the quotient is near 1, where it would lose what the logarithm needs.
    return std::abs(p - 0.5) < 0.25 ? std::log1p((2 * p - 1) / (1 - p)) : std::log(p / (1 - p));
  }

 private:
  double low_, high_;
};

/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.
class Softplus {
 public:
  static constexpr std::int64_t cost = 6;
  explicit Softplus(const double* parameters) : beta_(parameters[0]), threshold_(parameters[1]) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto z = hn::Mul(x, hn::Set(d, beta_));
    const auto e = wide_exp(d, hn::Neg(hn::Abs(z)));
    const auto positive = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), hn::Zero(d), z);
    const auto result = hn::Div(hn::Add(positive, wide_log1p(d, e)), hn::Set(d, beta_));
    return hn::IfThenElse(hn::Gt(z, hn::Set(d, threshold_)), x, result);
  }
  double operator()(double x) const {
    const double z = x * beta_;
    if (z > threshold_) return x;
    return (std::fmax(z, 0.0) + std::log1p(std::exp(-std::abs(z)))) / beta_;
  }

 private:
  double beta_, threshold_;
};

// (tanh(x) - x) / x^3 for |x| < 0.625 and (sinh(x) - x) / x^3 for |x| < 1 as functions of x^2.
template <class T>
struct Odd;
template <>
struct Odd<float> {
  static constexpr float tanh_rest[] = {-0.3333328F, 0.13331442F, -0.05373972F, 0.020639105F,
                                        -0.0057050087F};
  static constexpr float sinh_rest[] = {0.16666667F, 0.00833335F, 0.0001983616F, 2.8169507e-06F};
};
template <>
struct Odd<double> {
  static constexpr double tanh_rest[] = {
      -0.33333333333333315,   0.13333333333329742,     -0.05396825396605869,
      0.021869488468711146,   -0.008863234312532265,   0.003592113999583551,
      -0.0014557259470161965, 0.0005894517972086567,   -0.00023701173111190536,
      9.155842111422366e-05,  -3.0187235559523172e-05, 6.042476698871135e-06};
  static constexpr double sinh_rest[] = {
      0.16666666666666669,   0.008333333333333148, 0.00019841269841431875, 2.7557319157070645e-06,
      2.505212313691506e-08, 1.60572597541852e-10, 7.758749227819664e-13};
};

/// x + x^3 p(x^2).
template <const auto& coefficients, class D, class V = hn::Vec<D>>
HWY_INLINE V odd_polynomial(D d, V x) {
  const auto square = hn::Mul(x, x);
  return hn::MulAdd(hn::Mul(x, square), polynomial<coefficients>(d, square), x);
}

struct Tanh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto one = hn::Set(d, T{1});
    const auto size = hn::Abs(x);
    const auto near = odd_polynomial<Odd<T>::tanh_rest>(d, size);
    // 1 - 2 / (exp(2x) + 1)
    const auto e = reduce_exp(d, hn::Min(hn::Set(d, T{40}), hn::Add(size, size)));
    const auto rest = polynomial<ExpLog<T>::exp_rest>(d, e.r);
    const auto expm1 = hn::MulAdd(hn::Mul(e.r, e.r), rest, e.r);
    const auto below = hn::Add(scale(d, hn::Add(one, expm1), e.n), one);
    const auto far = hn::Sub(one, hn::Div(hn::Set(d, T{2}), below));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, T{0.625})), near, far), x);
  }
};

/// exp|x| / 2, what it lost by rounding, and exp(-|x|) / 2.
template <class V>
struct HalfExp {
  V up, low, down;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE HalfExp<V> half_exp(D d, V x) {
  using T = hn::TFromD<D>;
  const auto half = hn::Set(d, T{0.5});
  const auto e = careful_exp(d, hn::Min(hn::Set(d, ExpLog<T>::exp_most + 1), hn::Abs(x)));
  const auto up = scale(d, hn::Mul(half, e.y), e.n);
  const auto low = scale(d, hn::Mul(half, e.low), e.n);
  return {up, low, hn::Div(hn::Set(d, T{0.25}), up)};
}

struct Sinh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto size = hn::Abs(x);
    const auto near = odd_polynomial<Odd<T>::sinh_rest>(d, size);
    const auto [up, low, down] = half_exp(d, x);
    const auto far = hn::Sub(up, hn::Sub(down, low));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, T{1})), near, far), x);
  }
};

struct Cosh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto [up, low, down] = half_exp(d, x);
    return hn::Add(up, hn::Add(down, low));
  }
};

/// Below this the first terms of a series are exact enough, and formulas with log are not yet.
constexpr double tiny = 0x1p-10;

struct Asinh {
  static constexpr std::int64_t cost = 6;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto size = hn::Abs(x);
    const auto square = hn::Mul(x, x);
    const auto root = hn::Sqrt(hn::Add(square, hn::Set(d, 1.0)));
    const auto series = hn::MulAdd(hn::Mul(size, square), hn::Set(d, -1.0 / 6), size);
    const auto result = wide_log(d, hn::Add(size, root));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, tiny)), series, result), x);
  }
  double operator()(double x) const { return std::asinh(x); }
};

struct Acosh {
  static constexpr std::int64_t cost = 6;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto one = hn::Set(d, 1.0);
    const auto root = hn::Sqrt(hn::MulSub(x, x, one));
    // Below 1 something without a logarithm.
    return wide_log(d, hn::IfThenElse(hn::Lt(x, one), hn::Neg(one), hn::Add(x, root)));
  }
  double operator()(double x) const { return std::acosh(x); }
};

struct Atanh {
  static constexpr std::int64_t cost = 6;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto one = hn::Set(d, 1.0);
    const auto series = hn::MulAdd(hn::Mul(x, hn::Mul(x, x)), hn::Set(d, 1.0 / 3), x);
    const auto result =
        hn::Mul(hn::Set(d, 0.5), wide_log(d, hn::Div(hn::Add(one, x), hn::Sub(one, x))));
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, tiny)), series, result);
  }
  double operator()(double x) const { return std::atanh(x); }
};

template <class T, class Others>
const ElementwiseKernel* find(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return &unary_kernel<Lanes<T>, Exp>;
    case UnaryOp::exp2: return &unary_kernel<Lanes<T>, Exp2>;
    case UnaryOp::expm1: return &unary_kernel<Lanes<T>, Expm1>;
    case UnaryOp::log: return &unary_kernel<Lanes<T>, Log>;
    case UnaryOp::log2: return &unary_kernel<Lanes<T>, Log2>;
    case UnaryOp::log10: return &unary_kernel<Lanes<T>, Log10>;
    case UnaryOp::log1p: return &unary_kernel<Lanes<T>, Log1p>;
    case UnaryOp::sigmoid: return &unary_kernel<Lanes<T>, Sigmoid>;
    case UnaryOp::silu: return &unary_kernel<Lanes<T>, Silu>;
    case UnaryOp::tanh: return &unary_kernel<Lanes<T>, Tanh>;
    case UnaryOp::sinh: return &unary_kernel<Lanes<T>, Sinh>;
    case UnaryOp::cosh: return &unary_kernel<Lanes<T>, Cosh>;
    case UnaryOp::logit: return &unary_kernel<Others, Logit>;
    case UnaryOp::softplus: return &unary_kernel<Others, Softplus>;
    case UnaryOp::asinh: return &unary_kernel<Others, Asinh>;
    case UnaryOp::acosh: return &unary_kernel<Others, Acosh>;
    case UnaryOp::atanh: return &unary_kernel<Others, Atanh>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_unary_exponential(UnaryOp op, ComputeType type) {
  switch (type) {
    case ComputeType::f32: return find<float, WideLanes>(op);
    case ComputeType::f64: return find<double, Scalars<double>>(op);
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_unary_exponential);
const ElementwiseKernel* unary_exponential(UnaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_exponential)(op, type);
}
}  // namespace loup::kernels
#endif
