#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_trigonometric.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

constexpr double half_pi = std::numbers::pi / 2;

double scalar_sin(double x) { return std::sin(x); }
double scalar_cos(double x) { return std::cos(x); }
double scalar_tan(double x) { return std::tan(x); }

/// `result`, but f(x) where the angle is too large for a quick reduction, or infinite.
template <double (*f)(double), class D, class V = hn::Vec<D>>
HWY_INLINE V with_large_angles(D d, V x, V result) {
  const auto is_large = hn::Gt(hn::Abs(x), hn::Set(d, largest_angle));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
  return replace_lanes<f>(d, x, is_large, result);
}

struct Sin {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return with_large_angles<scalar_sin>(d, x, sin(d, x));
  }
  double operator()(double x) const { return std::sin(x); }
};

struct Cos {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return with_large_angles<scalar_cos>(d, x, cos(d, x));
  }
  double operator()(double x) const { return std::cos(x); }
};

struct Tan {
  static constexpr std::int64_t cost = 5;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return with_large_angles<scalar_tan>(d, x, tan(d, x));
  }
  double operator()(double x) const { return std::tan(x); }
};

struct Asin {
  static constexpr std::int64_t cost = 5;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto [is_acos, angle] = reduce_asin(d, x);
    const auto complement = hn::Sub(hn::Set(d, half_pi), angle);
    return hn::CopySign(hn::IfThenElse(is_acos, complement, angle), x);
  }
  double operator()(double x) const { return std::asin(x); }
};

struct Acos {
  static constexpr std::int64_t cost = 5;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto [is_acos, angle] = reduce_asin(d, x);
    const auto is_negative = hn::Lt(x, hn::Zero(d));
    const auto supplement = hn::Sub(hn::Set(d, std::numbers::pi), angle);
    const auto complement = hn::Sub(hn::Set(d, half_pi), hn::CopySign(angle, x));
    return hn::IfThenElse(is_acos, hn::IfThenElse(is_negative, supplement, angle), complement);
  }
  double operator()(double x) const { return std::acos(x); }
};

struct Atan {
  static constexpr std::int64_t cost = 5;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    // atan(x) = pi/2 - atan(1/x); beyond 1e30 there is nothing to see any more.
    const auto size = hn::Min(hn::Set(d, 1e30), hn::Abs(x));
    const auto is_large = hn::Gt(size, hn::Set(d, 1.0));
    const auto t = hn::IfThenElse(is_large, quick_reciprocal(d, size), size);
    const auto angle = atan_of_reduced(d, t);
    const auto complement = hn::Sub(hn::Set(d, half_pi), angle);
    return hn::CopySign(hn::IfThenElse(is_large, complement, angle), x);
  }
  double operator()(double x) const { return std::atan(x); }
};

// sin(pi r) / r as a function of r^2, for |r| <= 1/2: 35 bits.
constexpr double sinpi_single[] = {3.1415926535231846,  -5.167712762079491,  2.5501632390263147,
                                   -0.5992513141831401, 0.08204639930717111, -0.007022025454294387};

/// sin(pi x) / (pi x), where pi x is never rounded: exactly 0 at integers.
struct Sinc {
  static constexpr std::int64_t cost = 4;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const hn::RebindToUnsigned<D> words;
    const auto n = hn::Round(x);
    const auto r = hn::Sub(x, n);
    const auto odd = hn::Sub(hn::Mul(n, hn::Set(d, 0.5)), hn::Round(hn::Mul(n, hn::Set(d, 0.5))));
    const auto sine = hn::Mul(r, polynomial<sinpi_single>(d, hn::Mul(r, r)));
    (void)words;
    const auto turned = hn::IfThenElse(hn::Eq(odd, hn::Zero(d)), sine, hn::Neg(sine));
    const auto result = hn::Div(turned, hn::Mul(x, hn::Set(d, std::numbers::pi)));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0), result);
  }
  double operator()(double x) const {
    if (x == 0) return 1;
    const double n = std::nearbyint(x);
    const double sine = std::sin(std::numbers::pi * (x - n));
    return (std::fmod(n, 2.0) == 0 ? sine : -sine) / (std::numbers::pi * x);
  }
};

template <class Access>
const ElementwiseKernel* find(UnaryOp op) {
  switch (op) {
    case UnaryOp::sin: return &unary_kernel<Access, Sin>;
    case UnaryOp::cos: return &unary_kernel<Access, Cos>;
    case UnaryOp::tan: return &unary_kernel<Access, Tan>;
    case UnaryOp::asin: return &unary_kernel<Access, Asin>;
    case UnaryOp::acos: return &unary_kernel<Access, Acos>;
    case UnaryOp::atan: return &unary_kernel<Access, Atan>;
    case UnaryOp::sinc: return &unary_kernel<Access, Sinc>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_unary_trigonometric(UnaryOp op, ComputeType type) {
  if (type == ComputeType::f32) return find<WideLanes>(op);
  return type == ComputeType::f64 ? find<Scalars<double>>(op) : nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_unary_trigonometric);
const ElementwiseKernel* unary_trigonometric(UnaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_trigonometric)(op, type);
}
}  // namespace loup::kernels
#endif
