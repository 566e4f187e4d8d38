#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_special.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/math-inl.h"
#include "loup/kernels/special_functions.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

constexpr Precision single = Precision::single;

// erf(x) / x as a function of x^2, for |x| <= 1: 35 bits.
constexpr double erf_single[] = {
    1.1283791670580325,   -0.3761263843470197,    0.11283781974769441,    -0.02686540007285806,
    0.005220945498391653, -0.0008482829549621335, 0.00011256951584238579, -9.6415233972162e-06};

// erfc(x) exp(x^2) / t as a function of t = 1 / (1 + x/2), for 0 <= x <= 10.3: 31 bits.
constexpr double erfc_single[] = {0.2820985353181969,  0.28197575805321884, 0.24850401237992403,
                                  0.16263269073502803, 0.1562529921243902,  -0.2655272980965863,
                                  0.5922474311276645,  -1.1534825734461776, 1.2039396356162775,
                                  -0.6970873554395316, 0.21724427473699393, -0.02879810279256467};

/// erfc(x) for x >= 0, given also x^2; 0 where it is less than any float.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V positive_erfc(D d, V x, V square) {
  const auto limited = hn::Min(hn::Set(d, 11.0), x);
  const auto t = quick_reciprocal(d, hn::MulAdd(limited, hn::Set(d, 0.5), hn::Set(d, 1.0)));
  return hn::Mul(hn::Mul(t, polynomial<erfc_single>(d, t)), exp<single>(d, hn::Neg(square)));
}

struct Erf {
  static constexpr std::int64_t cost = 7;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto one = hn::Set(d, 1.0);
    const auto size = hn::Abs(x);
    const auto square = hn::Mul(x, x);
    const auto near = hn::Mul(size, polynomial<erf_single>(d, square));
    const auto far = hn::Sub(one, positive_erfc(d, size, square));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, one), near, far), x);
  }
  double operator()(double x) const { return std::erf(x); }
};

struct Erfc {
  static constexpr std::int64_t cost = 7;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto result = positive_erfc(d, hn::Abs(x), hn::Mul(x, x));
    const auto mirrored = hn::Sub(hn::Set(d, 2.0), result);
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), mirrored, result);
  }
  double operator()(double x) const { return std::erfc(x); }
};

/// x (1 + erf(x / sqrt(2))) / 2; the limit at -inf is -0.
struct Gelu {
  static constexpr std::int64_t cost = 7;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    // = max(x, 0) - |x| erfc(|x| / sqrt(2)) / 2: nothing cancels for negative x.
    const auto half = hn::Set(d, 0.5);
    const auto size = hn::Abs(x);
    const auto scaled = hn::Mul(size, hn::Set(d, std::numbers::sqrt2 / 2));
    const auto erfc = positive_erfc(d, scaled, hn::Mul(half, hn::Mul(x, x)));
    const auto finite = hn::Min(hn::Set(d, std::numeric_limits<float>::max()), size);
    const auto lost = hn::Mul(hn::Mul(half, finite), erfc);
    return hn::Sub(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(hn::Zero(d)), x), lost);
  }
  double operator()(double x) const {
    if (x == -infinity) return -0.0;
    return 0.5 * x * std::erfc(-x * (std::numbers::sqrt2 / 2));
  }
};

/// x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): what tanh says in half of the form.
struct GeluTanh {
  static constexpr std::int64_t cost = 5;
  static constexpr double scale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto one = hn::Set(d, 1.0);
    const auto inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, scale * 0.044715), hn::Set(d, scale));
    const auto u = hn::Mul(x, inner);
    const auto e = exp<single>(d, hn::Neg(hn::Abs(u)));
    const auto above = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    const auto finite = hn::Max(hn::Set(d, std::numeric_limits<float>::lowest()), x);
    return hn::Mul(hn::Mul(finite, above), quick_reciprocal(d, hn::Add(one, e)));
  }
  double operator()(double x) const {
    if (x == -infinity) return -0.0;
    const double u = x * (scale + scale * 0.044715 * x * x);
    const double e = std::exp(-std::abs(u));
    return x * ((x < 0 ? e : 1) / (1 + e));
  }
};

struct Erfinv {
  static constexpr std::int64_t cost = 30;
  double operator()(double x) const { return erfinv(x); }
};
struct LogGamma {
  static constexpr std::int64_t cost = 30;
  double operator()(double x) const { return log_gamma(x); }
};
struct Digamma {
  static constexpr std::int64_t cost = 40;
  double operator()(double x) const { return digamma(x); }
};
struct Polygamma {
  static constexpr std::int64_t cost = 300;
  explicit Polygamma(const double* parameters) : n(parameters[0]) {}
  double operator()(double x) const { return polygamma(n, x); }
  double n;
};
struct BesselI0 {
  static constexpr std::int64_t cost = 30;
  double operator()(double x) const { return bessel_i0(x); }
};
struct BesselI1 {
  static constexpr std::int64_t cost = 30;
  double operator()(double x) const { return bessel_i1(x); }
};

template <class T>
const ElementwiseKernel* find_scalar(UnaryOp op) {
  switch (op) {
    case UnaryOp::erfinv: return &unary_kernel<Scalars<T>, Erfinv>;
    case UnaryOp::lgamma: return &unary_kernel<Scalars<T>, LogGamma>;
    case UnaryOp::digamma: return &unary_kernel<Scalars<T>, Digamma>;
    case UnaryOp::polygamma: return &unary_kernel<Scalars<T>, Polygamma>;
    case UnaryOp::i0: return &unary_kernel<Scalars<T>, BesselI0>;
    case UnaryOp::i1: return &unary_kernel<Scalars<T>, BesselI1>;
    default: return nullptr;
  }
}

template <class Access>
const ElementwiseKernel* find(UnaryOp op) {
  switch (op) {
    case UnaryOp::erf: return &unary_kernel<Access, Erf>;
    case UnaryOp::erfc: return &unary_kernel<Access, Erfc>;
    case UnaryOp::gelu: return &unary_kernel<Access, Gelu>;
    case UnaryOp::gelu_tanh: return &unary_kernel<Access, GeluTanh>;
    default: return find_scalar<typename Access::In>(op);
  }
}

}  // namespace

const ElementwiseKernel* find_unary_special(UnaryOp op, ComputeType type) {
  if (type == ComputeType::f32) return find<WideLanes>(op);
  return type == ComputeType::f64 ? find<Scalars<double>>(op) : nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_unary_special);
const ElementwiseKernel* unary_special(UnaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_special)(op, type);
}
}  // namespace loup::kernels
#endif
