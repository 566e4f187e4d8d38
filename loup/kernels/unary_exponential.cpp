#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_exponential.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

constexpr Precision single = Precision::single;
constexpr Precision full = Precision::full;

template <Precision precision>
struct Exp {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp<precision>(d, x);
  }
};

template <Precision precision>
struct Exp2 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp2<precision>(d, x);
  }
};

struct Expm1 {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(expm1<single>(d, x), x);
  }
  double operator()(double x) const { return std::expm1(x); }
};

template <Precision precision>
struct Log {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log<precision>(d, x);
  }
};

struct Log2 {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(log<single>(d, x), hn::Set(d, std::numbers::log2e));
  }
  double operator()(double x) const { return std::log2(x); }
};

struct Log10 {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(log<single>(d, x), hn::Set(d, std::numbers::log10e));
  }
  double operator()(double x) const { return std::log10(x); }
};

struct Log1p {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return log1p<single>(d, x);
  }
  double operator()(double x) const { return std::log1p(x); }
};

/// 1 / (1 + exp(-x)), from the exponential that does not overflow.
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const auto one = hn::Set(d, 1.0);
  const auto e = exp<precision>(d, hn::Neg(hn::Abs(x)));
  const auto above = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  const auto below = hn::Add(one, e);
  if constexpr (precision == single) {
    return hn::Mul(above, quick_reciprocal(d, below));
  } else {
    return hn::Div(above, below);
  }
}

template <Precision precision>
struct Sigmoid {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return sigmoid<precision>(d, x);
  }
};

/// The limit at -inf is -0.
template <Precision precision>
struct Silu {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto finite = hn::Max(hn::Set(d, std::numeric_limits<double>::lowest()), x);
    return hn::Mul(finite, sigmoid<precision>(d, x));
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

struct Tanh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto two = hn::Set(d, 2.0);
    const auto e = expm1<single>(d, hn::Mul(two, hn::Min(hn::Set(d, 20.0), hn::Abs(x))));
    return hn::CopySign(hn::Mul(e, quick_reciprocal(d, hn::Add(e, two))), x);
  }
  double operator()(double x) const { return std::tanh(x); }
};

struct Sinh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(hyperbolic(d, x).sinh, x);
  }
  double operator()(double x) const { return std::sinh(x); }
};

struct Cosh {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hyperbolic(d, x).cosh;
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
    const auto root = hn::Sqrt(hn::MulSub(x, x, hn::Set(d, 1.0)));
    return log<single>(d, hn::Add(x, root));
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
    case UnaryOp::exp: return &unary_kernel<WideLanes, Exp<single>>;
    case UnaryOp::exp2: return &unary_kernel<WideLanes, Exp2<single>>;
    case UnaryOp::expm1: return &unary_kernel<WideLanes, Expm1>;
    case UnaryOp::log: return &unary_kernel<WideLanes, Log<single>>;
    case UnaryOp::log2: return &unary_kernel<WideLanes, Log2>;
    case UnaryOp::log10: return &unary_kernel<WideLanes, Log10>;
    case UnaryOp::log1p: return &unary_kernel<WideLanes, Log1p>;
    case UnaryOp::sigmoid: return &unary_kernel<WideLanes, Sigmoid<single>>;
    case UnaryOp::logit: return &unary_kernel<WideLanes, Logit>;
    case UnaryOp::softplus: return &unary_kernel<WideLanes, Softplus<single>>;
    case UnaryOp::silu: return &unary_kernel<WideLanes, Silu<single>>;
    case UnaryOp::tanh: return &unary_kernel<WideLanes, Tanh>;
    case UnaryOp::sinh: return &unary_kernel<WideLanes, Sinh>;
    case UnaryOp::cosh: return &unary_kernel<WideLanes, Cosh>;
    case UnaryOp::asinh: return &unary_kernel<WideLanes, Asinh>;
    case UnaryOp::acosh: return &unary_kernel<WideLanes, Acosh>;
    case UnaryOp::atanh: return &unary_kernel<WideLanes, Atanh>;
    default: return nullptr;
  }
}

const ElementwiseKernel* find_f64(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return &unary_kernel<Lanes<double>, Exp<full>>;
    case UnaryOp::exp2: return &unary_kernel<Lanes<double>, Exp2<full>>;
    case UnaryOp::expm1: return &unary_kernel<Scalars<double>, Expm1>;
    case UnaryOp::log: return &unary_kernel<Lanes<double>, Log<full>>;
    case UnaryOp::log2: return &unary_kernel<Scalars<double>, Log2>;
    case UnaryOp::log10: return &unary_kernel<Scalars<double>, Log10>;
    case UnaryOp::log1p: return &unary_kernel<Scalars<double>, Log1p>;
    case UnaryOp::sigmoid: return &unary_kernel<Lanes<double>, Sigmoid<full>>;
    case UnaryOp::logit: return &unary_kernel<Scalars<double>, Logit>;
    case UnaryOp::softplus: return &unary_kernel<Scalars<double>, Softplus<full>>;
    case UnaryOp::silu: return &unary_kernel<Lanes<double>, Silu<full>>;
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
