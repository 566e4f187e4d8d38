#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_special.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/special-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

// erf(x) / x - 1 as a function of x^2, for |x| < 0.9, and log(erfc(x)) for x between 0.89 and 4: 29
// bits.
constexpr float erf_near[] = {0.12837917F,   -0.37612635F,   0.11283715F,  -0.026860509F,
                              0.0052038594F, -0.0008175639F, 8.513101e-05F};
constexpr float log_erfc[] = {-0.00015282947F, -1.1278545F,    -0.63687813F,  -0.10420099F,
                              0.022357905F,    -0.0030763436F, 0.00019933983F};

struct Erf {
  static constexpr std::int64_t cost = 5;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto size = hn::Abs(x);
    const auto near = hn::MulAdd(size, polynomial<erf_near>(d, hn::Mul(x, x)), size);
    const auto limited = hn::Min(hn::Set(d, 4.0F), size);
    const auto far = hn::Sub(hn::Set(d, 1.0F), exp(d, polynomial<log_erfc>(d, limited)));
    return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.9F)), near, far), x);
  }
  double operator()(double x) const { return std::erf(x); }
};

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
  return hn::Mul(hn::Mul(t, polynomial<erfc_single>(d, t)), wide_exp(d, hn::Neg(square)));
}

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

// erf(x / sqrt(2)) / 2x as a function of x^2, for |x| < 0.7: 31 bits.
[[maybe_unused]] constexpr float gelu_near[] = {0.3989423F, -0.066490255F, 0.009972197F,
                                                -0.0011812128F, 0.00010313435F};
// erfc(x / sqrt(2)) exp(x^2 / 2) / 2t as a function of t - 0.51, t = 1 / (1 + 0.3 x), for x between
// 0.69 and 14.3: 26 bits.
[[maybe_unused]] constexpr float gelu_far[] = {0.22529705F,   0.33614975F,  0.35287744F,
                                               0.2231573F,    0.02515341F,  -0.07931648F,
                                               -0.034337558F, 0.032759834F, 0.01997211F};

/// x (1 + erf(x / sqrt(2))) / 2 = max(x, 0) - |x| erfc(|x| / sqrt(2)) / 2, where nothing cancels
/// for negative x. The limit at -inf is -0.
struct Gelu {
  static constexpr std::int64_t cost = 6;
#if HWY_NATIVE_FMA
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    const auto one = hn::Set(d, 1.0F);
    const auto half = hn::Set(d, 0.5F);
    const auto size = hn::Min(hn::Set(d, 15.0F), hn::Abs(x));
    const auto square = hn::Mul(size, size);
    const auto near = hn::Mul(x, hn::MulAdd(x, polynomial<gelu_near>(d, square), half));
    const auto t = hn::Div(one, hn::MulAdd(size, hn::Set(d, 0.3F), one));
    const auto tail = polynomial<gelu_far>(d, hn::Sub(t, hn::Set(d, 0.51F)));
    // exp(-x^2 / 2), including what squaring rounds away: a unit of x^2 is many units of exp.
    const auto lost = hn::MulSub(size, size, square);
    const auto e = careful_exp(d, hn::Neg(hn::Mul(half, square)));
    const auto y = hn::NegMulAdd(hn::Mul(half, lost), e.y, e.y);
    const auto product = hn::Mul(hn::Mul(hn::Mul(size, t), tail), y);
    const auto part = scale(d, product, e.n);
    const auto positive = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(hn::Zero(d)), x);
    return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.7F)), near, hn::Sub(positive, part));
  }
#endif
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto half = hn::Set(d, 0.5);
    const auto size = hn::Abs(x);
    const auto scaled = hn::Mul(size, hn::Set(d, std::numbers::sqrt2 / 2));
    const auto erfc = positive_erfc(d, scaled, hn::Mul(half, hn::Mul(x, x)));
    const auto finite = hn::Min(hn::Set(d, std::numeric_limits<float>::max()), size);
    const auto part = hn::Mul(hn::Mul(half, finite), erfc);
    return hn::Sub(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(hn::Zero(d)), x), part);
  }
  double operator()(double x) const {
    if (x == -infinity) return -0.0;
    constexpr double factor = std::numbers::sqrt2 / 2;
    constexpr double factor_low = -4.833646656726457e-17;
    const double a = -x * factor;
    const double erfc = std::erfc(a);
    if (a < 1 || erfc == 0) return 0.5 * x * erfc;
    // Far out, what rounding a changed is many units of erfc(a), whose derivative is about
    // -(2a + 1/a) times itself.
    const double lost = std::fma(-x, factor, -a) - x * factor_low;
    return 0.5 * x * (erfc - erfc * lost * (2 * a + 1 / a));
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
    const auto e = wide_exp(d, hn::Neg(hn::Abs(u)));
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

/// `result`, but f(x) for negative x, between the poles.
template <double (*f)(double)>
HWY_INLINE DoubleVec with_negative(Doubles d, DoubleVec x, DoubleVec result) {
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return result;
  return replace_lanes<f>(d, x, is_negative, result);
}

struct Erfinv {
  static constexpr std::int64_t cost = 8;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return wide_erfinv(d, x); }
  double operator()(double x) const { return erfinv(x); }
};
struct LogGamma {
  static constexpr std::int64_t cost = 10;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const {
    return with_negative<log_gamma>(d, x, wide_log_gamma(d, x));
  }
  double operator()(double x) const { return log_gamma(x); }
};
struct Digamma {
  static constexpr std::int64_t cost = 10;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const {
    return with_negative<digamma>(d, x, wide_digamma(d, x));
  }
  double operator()(double x) const { return digamma(x); }
};
struct Polygamma {
  static constexpr std::int64_t cost = 100;
  explicit Polygamma(const double* parameters) : n(parameters[0]) {}
  double operator()(double x) const { return polygamma(n, x); }
  double n;
};
struct BesselI0 {
  static constexpr std::int64_t cost = 8;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return wide_bessel_i0(d, x); }
  double operator()(double x) const { return bessel_i0(x); }
};
struct BesselI1 {
  static constexpr std::int64_t cost = 8;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x) const { return wide_bessel_i1(d, x); }
  double operator()(double x) const { return bessel_i1(x); }
};

template <class FloatAccess, class WideAccess>
const ElementwiseKernel* find(UnaryOp op) {
  using FmaAccess = std::conditional_t<HWY_NATIVE_FMA, FloatAccess, WideAccess>;
  switch (op) {
    case UnaryOp::erf: return &unary_kernel<FloatAccess, Erf>;
    case UnaryOp::erfc: return &unary_kernel<WideAccess, Erfc>;
    case UnaryOp::erfinv: return &unary_kernel<WideAccess, Erfinv>;
    case UnaryOp::gelu: return &unary_kernel<FmaAccess, Gelu>;
    case UnaryOp::gelu_tanh: return &unary_kernel<WideAccess, GeluTanh>;
    case UnaryOp::lgamma: return &unary_kernel<WideAccess, LogGamma>;
    case UnaryOp::digamma: return &unary_kernel<WideAccess, Digamma>;
    case UnaryOp::polygamma: return &unary_kernel<Scalars<typename WideAccess::In>, Polygamma>;
    case UnaryOp::i0: return &unary_kernel<WideAccess, BesselI0>;
    case UnaryOp::i1: return &unary_kernel<WideAccess, BesselI1>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_unary_special(UnaryOp op, ComputeType type) {
  switch (type) {
    case ComputeType::f32: return find<Lanes<float>, WideLanes>(op);
    case ComputeType::f64: return find<Scalars<double>, Scalars<double>>(op);
    default: return nullptr;
  }
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
