#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_trigonometric.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/angle-inl.h"
#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

double scalar_sin(double x) { return std::sin(x); }
double scalar_cos(double x) { return std::cos(x); }
double scalar_tan(double x) { return std::tan(x); }

/// `result`, but f(x) where the angle is too large for a quick reduction, or infinite.
template <double (*f)(double), class D, class V = hn::Vec<D>>
HWY_INLINE V with_large_angles(D d, V x, V result) {
  const auto is_large = hn::Gt(hn::Abs(x), hn::Set(d, hn::TFromD<D>{largest_angle}));
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
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const {
    return with_large_angles<scalar_tan>(d, x, tan(d, x));
  }
  double operator()(double x) const { return std::tan(x); }
};

struct Asin {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return asin(d, x); }
  double operator()(double x) const { return std::asin(x); }
};
struct Acos {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return acos(d, x); }
  double operator()(double x) const { return std::acos(x); }
};
struct Atan {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x) const { return atan(d, x); }
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
    const auto n = hn::Round(x);
    const auto r = hn::Sub(x, n);
    const auto odd = hn::Sub(hn::Mul(n, hn::Set(d, 0.5)), hn::Round(hn::Mul(n, hn::Set(d, 0.5))));
    const auto sine = hn::Mul(r, polynomial<sinpi_single>(d, hn::Mul(r, r)));
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

template <class FloatAccess, class WideAccess>
const ElementwiseKernel* find(UnaryOp op) {
  switch (op) {
    case UnaryOp::sin: return &unary_kernel<WideAccess, Sin>;
    case UnaryOp::cos: return &unary_kernel<WideAccess, Cos>;
    case UnaryOp::tan: return &unary_kernel<FloatAccess, Tan>;
    case UnaryOp::asin: return &unary_kernel<FloatAccess, Asin>;
    case UnaryOp::acos: return &unary_kernel<FloatAccess, Acos>;
    case UnaryOp::atan: return &unary_kernel<FloatAccess, Atan>;
    case UnaryOp::sinc: return &unary_kernel<WideAccess, Sinc>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_unary_trigonometric(UnaryOp op, ComputeType type) {
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
HWY_EXPORT(find_unary_trigonometric);
const ElementwiseKernel* unary_trigonometric(UnaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_trigonometric)(op, type);
}
}  // namespace loup::kernels
#endif
