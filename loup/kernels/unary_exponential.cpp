#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_exponential.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/float_math-inl.h"
#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

constexpr Precision single = Precision::single;
constexpr Precision full = Precision::full;
using Doubles = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<Doubles>;

struct Exp {
  static constexpr std::int64_t cost = 3;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return exp(d, x); }
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return exp<full>(d, x); }
};

struct Exp2 {
  static constexpr std::int64_t cost = 3;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return exp2(d, x); }
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return exp2<full>(d, x); }
};

struct Expm1 {
  static constexpr std::int64_t cost = 3;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    return hn::CopySign(expm1(d, x), x);
  }
  double operator()(double x) const { return std::expm1(x); }
};

struct Log {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return log(d, x); }
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return log<full>(d, x); }
};

struct Log2 {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return log_to_base<base_two>(d, x); }
  double operator()(double x) const { return std::log2(x); }
};

struct Log10 {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return log_to_base<base_ten>(d, x); }
  double operator()(double x) const { return std::log10(x); }
};

struct Log1p {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return log1p(d, x); }
  double operator()(double x) const { return std::log1p(x); }
};

/// 1 / (1 + exp(-x)). With e = exp(-|x|) it is base - base e / (1 + e), where base is 1, or e for
/// negative x: the division's errors come into a small part of the result only.
struct Sigmoid {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto one = hn::Set(d, 1.0F);
    const auto size = hn::Min(hn::Set(d, 104.0F), hn::Abs(x));
    const auto e = scale(d, careful_exp(d, hn::Neg(size)));
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
  }
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const {
    const auto one = hn::Set(d, 1.0);
    const auto e = exp<full>(d, hn::Neg(hn::Abs(x)));
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
  }
};

/// x sigmoid(x), with x in the base; the limit at -inf is -0. The product x exp(x) is scaled last:
/// it may be a number where exp(x) no longer is.
struct Silu {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto one = hn::Set(d, 1.0F);
    const auto bounded = hn::Max(hn::Set(d, -115.0F), x);
    const auto parts = careful_exp(d, hn::Neg(hn::Min(hn::Set(d, 115.0F), hn::Abs(x))));
    const auto e = scale(d, parts);
    const auto product = scale(d, hn::Mul(bounded, parts.y), parts.n, parts.shifted);
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), product, x);
    // Without e there is nothing to subtract, and x may be infinite.
    const auto result = hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
    // At 0 the difference would lose the sign.
    const auto is_base = hn::Or(hn::Eq(e, hn::Zero(d)), hn::Eq(x, hn::Zero(d)));
    return hn::IfThenElse(is_base, base, result);
  }
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const {
    const auto one = hn::Set(d, 1.0);
    const auto bounded = hn::Max(hn::Set(d, -800.0), x);
    const auto parts = exp_parts<full>(d, hn::Neg(hn::Min(hn::Set(d, 800.0), hn::Abs(x))));
    const auto e = scale(d, parts.y, parts.n);
    const auto product = scale(d, hn::Mul(bounded, parts.y), parts.n);
    const auto base = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), product, x);
    const auto result = hn::NegMulAdd(base, hn::Div(e, hn::Add(one, e)), base);
    const auto is_base = hn::Or(hn::Eq(e, hn::Zero(d)), hn::Eq(x, hn::Zero(d)));
    return hn::IfThenElse(is_base, base, result);
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
    return log<single>(d, hn::Div(p, hn::Sub(hn::Set(d, 1.0), p)));
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
template <Precision precision>
class Softplus {
 public:
  static constexpr std::int64_t cost = 6;
  explicit Softplus(const double* parameters) : beta_(parameters[0]), threshold_(parameters[1]) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto z = hn::Mul(x, hn::Set(d, beta_));
    const auto e = exp<precision>(d, hn::Neg(hn::Abs(z)));
    const auto positive = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), hn::Zero(d), z);
    const auto result = hn::Div(hn::Add(positive, log1p<precision>(d, e)), hn::Set(d, beta_));
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

// (tanh(x) - x) / x^3 as a function of x^2, for |x| < 0.625: 27 bits.
constexpr float tanh_rest[] = {-0.3333328F, 0.13331442F, -0.05373972F, 0.020639105F,
                               -0.0057050087F};

struct Tanh {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto one = hn::Set(d, 1.0F);
    const auto size = hn::Abs(x);
    const auto square = hn::Mul(x, x);
    const auto near = hn::MulAdd(hn::Mul(size, square), polynomial<tanh_rest>(d, square), size);
    // 1 - 2 / (exp(2x) + 1)
    const auto e = reduce_exp(d, hn::Min(hn::Set(d, 20.0F), hn::Add(size, size)));
    const auto rest = hn::MulAdd(hn::Mul(e.r, e.r), polynomial<exp_rest_float>(d, e.r), e.r);
    const auto below = hn::MulAdd(hn::Add(one, rest), small_power_of_two(d, e.shifted), one);
    const auto far = hn::Sub(one, hn::Div(hn::Set(d, 2.0F), below));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625F)), near, far), x);
  }
  double operator()(double x) const { return std::tanh(x); }
};

// (sinh(x) - x) / x^3 as a function of x^2, for |x| < 1: 34 bits.
constexpr float sinh_rest[] = {0.16666667F, 0.00833335F, 0.0001983616F, 2.8169507e-06F};

/// exp|x| / 2 and, in the same unit, exp(-|x|) / 2 and what the first lost by rounding.
struct HalfExp {
  FloatVec up, down, low;
};
HWY_INLINE HalfExp half_exp(Floats d, FloatVec x) {
  const auto half = hn::Set(d, 0.5F);
  const auto e = careful_exp(d, hn::Min(hn::Set(d, 90.0F), hn::Abs(x)));
  const auto up = scale(d, hn::Mul(half, e.y), e.n, e.shifted);
  const auto low = scale(d, hn::Mul(half, e.low), e.n, e.shifted);
  return {up, hn::Div(hn::Set(d, 0.25F), up), low};
}

struct Sinh {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto size = hn::Abs(x);
    const auto square = hn::Mul(x, x);
    const auto near = hn::MulAdd(hn::Mul(size, square), polynomial<sinh_rest>(d, square), size);
    const auto [up, down, low] = half_exp(d, x);
    const auto far = hn::Sub(up, hn::Sub(down, low));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 1.0F)), near, far), x);
  }
  double operator()(double x) const { return std::sinh(x); }
};

struct Cosh {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto [up, down, low] = half_exp(d, x);
    return hn::Add(up, hn::Add(down, low));
  }
  double operator()(double x) const { return std::cosh(x); }
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
    const auto result = log<single>(d, hn::Add(size, root));
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
    return log<single>(d, hn::IfThenElse(hn::Lt(x, one), hn::Neg(one), hn::Add(x, root)));
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
        hn::Mul(hn::Set(d, 0.5), log<single>(d, hn::Div(hn::Add(one, x), hn::Sub(one, x))));
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, tiny)), series, result);
  }
  double operator()(double x) const { return std::atanh(x); }
};

const ElementwiseKernel* find_f32(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return &unary_kernel<Lanes<float>, Exp>;
    case UnaryOp::exp2: return &unary_kernel<Lanes<float>, Exp2>;
    case UnaryOp::expm1: return &unary_kernel<Lanes<float>, Expm1>;
    case UnaryOp::log: return &unary_kernel<Lanes<float>, Log>;
    case UnaryOp::log2: return &unary_kernel<Lanes<float>, Log2>;
    case UnaryOp::log10: return &unary_kernel<Lanes<float>, Log10>;
    case UnaryOp::log1p: return &unary_kernel<Lanes<float>, Log1p>;
    case UnaryOp::sigmoid: return &unary_kernel<Lanes<float>, Sigmoid>;
    case UnaryOp::logit: return &unary_kernel<WideLanes, Logit>;
    case UnaryOp::softplus: return &unary_kernel<WideLanes, Softplus<single>>;
    case UnaryOp::silu: return &unary_kernel<Lanes<float>, Silu>;
    case UnaryOp::tanh: return &unary_kernel<Lanes<float>, Tanh>;
    case UnaryOp::sinh: return &unary_kernel<Lanes<float>, Sinh>;
    case UnaryOp::cosh: return &unary_kernel<Lanes<float>, Cosh>;
    case UnaryOp::asinh: return &unary_kernel<WideLanes, Asinh>;
    case UnaryOp::acosh: return &unary_kernel<WideLanes, Acosh>;
    case UnaryOp::atanh: return &unary_kernel<WideLanes, Atanh>;
    default: return nullptr;
  }
}

const ElementwiseKernel* find_f64(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return &unary_kernel<Lanes<double>, Exp>;
    case UnaryOp::exp2: return &unary_kernel<Lanes<double>, Exp2>;
    case UnaryOp::expm1: return &unary_kernel<Scalars<double>, Expm1>;
    case UnaryOp::log: return &unary_kernel<Lanes<double>, Log>;
    case UnaryOp::log2: return &unary_kernel<Scalars<double>, Log2>;
    case UnaryOp::log10: return &unary_kernel<Scalars<double>, Log10>;
    case UnaryOp::log1p: return &unary_kernel<Scalars<double>, Log1p>;
    case UnaryOp::sigmoid: return &unary_kernel<Lanes<double>, Sigmoid>;
    case UnaryOp::logit: return &unary_kernel<Scalars<double>, Logit>;
    case UnaryOp::softplus: return &unary_kernel<Scalars<double>, Softplus<full>>;
    case UnaryOp::silu: return &unary_kernel<Lanes<double>, Silu>;
    case UnaryOp::tanh: return &unary_kernel<Scalars<double>, Tanh>;
    case UnaryOp::sinh: return &unary_kernel<Scalars<double>, Sinh>;
    case UnaryOp::cosh: return &unary_kernel<Scalars<double>, Cosh>;
    case UnaryOp::asinh: return &unary_kernel<Scalars<double>, Asinh>;
    case UnaryOp::acosh: return &unary_kernel<Scalars<double>, Acosh>;
    case UnaryOp::atanh: return &unary_kernel<Scalars<double>, Atanh>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_unary_exponential(UnaryOp op, ComputeType type) {
  if (type == ComputeType::f32) return find_f32(op);
  return type == ComputeType::f64 ? find_f64(op) : nullptr;
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
