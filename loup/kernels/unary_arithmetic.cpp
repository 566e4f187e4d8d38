#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/unary_arithmetic.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>
#include <numbers>

#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

template <class D>
constexpr bool is_real = std::is_floating_point_v<hn::TFromD<D>>;

// Integers wrap: the least one is its own negative.

struct Abs {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (is_real<D>) {
      return hn::Abs(x);
    } else {
      return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Zero(d), x), x);
    }
  }
};

struct Neg {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Neg(x);
  }
};

/// NaN stays NaN, as in NumPy.
struct Sign {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto zero = hn::Zero(d);
    auto result = hn::IfThenElseZero(hn::Gt(x, zero), hn::Set(d, T{1}));
    result = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, T{-1}), result);
    if constexpr (is_real<D>) result = hn::IfThenElse(hn::IsNaN(x), x, result);
    return result;
  }
};

struct Square {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Mul(x, x);
  }
};
/// Only AVX-512 multiplies int64 in lanes.
struct SquareInt64 {
  static constexpr std::int64_t cost = 1;
  std::int64_t operator()(std::int64_t x) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
  }
};

struct Reciprocal {
  static constexpr std::int64_t cost = 2;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>{1}), x);
  }
};

struct Sqrt {
  static constexpr std::int64_t cost = 2;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Sqrt(x);
  }
};

/// NaN for negative x, but -inf for -0.
struct Rsqrt {
  static constexpr std::int64_t cost = 3;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>{1}), hn::Sqrt(x));
  }
};

struct Ceil {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Ceil(x);
  }
};
struct Floor {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Floor(x);
  }
};
struct Trunc {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Trunc(x);
  }
};
struct Round {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Round(x);
  }
};

/// Halves to even after scaling by 10^decimals; what scaling would make infinite has no decimals
/// to lose and stays.
class RoundDecimals {
 public:
  static constexpr std::int64_t cost = 3;
  explicit RoundDecimals(const double* parameters)
      : scale_(std::pow(10.0, std::abs(parameters[0]))), is_negative_(parameters[0] < 0) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto scale = hn::Set(d, scale_);
    if (is_negative_) return hn::Mul(hn::Round(hn::Div(x, scale)), scale);
    const auto scaled = hn::Mul(x, scale);
    return hn::IfThenElse(hn::IsFinite(scaled), hn::Div(hn::Round(scaled), scale), x);
  }

 private:
  double scale_;
  bool is_negative_;
};

template <class T>
void map_round(const void* const* inputs, void* out, std::int64_t count, const double* parameters) {
  const bool is_plain = parameters == nullptr || parameters[0] == 0;
  const auto map = is_plain ? map_unary<Lanes<T>, Round> : map_unary<Wide<T>, RoundDecimals>;
  map(inputs, out, count, parameters);
}
template <class T>
constexpr ElementwiseKernel round_kernel{
    map_round<T>, {dtype_of<T>()}, dtype_of<T>(), RoundDecimals::cost};

/// NaN for infinities.
struct Frac {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Sub(x, hn::Trunc(x));
  }
};

/// NaN stays NaN, and -0 stays -0.
struct Relu {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
};

struct DegToRad {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, std::numbers::pi / 180));
  }
};
struct RadToDeg {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, 180 / std::numbers::pi));
  }
};

struct NanToNum {
  static constexpr std::int64_t cost = 1;
  explicit NanToNum(const double* parameters)
      : nan(parameters[0]), inf(parameters[1]), minus_inf(parameters[2]) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto infinite =
        hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, T(minus_inf)), hn::Set(d, T(inf)));
    const auto number = hn::IfThenElse(hn::IsInf(x), infinite, x);
    return hn::IfThenElse(hn::IsNaN(x), hn::Set(d, T(nan)), number);
  }

  double nan, inf, minus_inf;
};

/// π for what is less than 0, which -0 is not.
struct Angle {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto pi = hn::Set(d, static_cast<hn::TFromD<D>>(std::numbers::pi));
    const auto result = hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), pi);
    return hn::IfThenElse(hn::IsNaN(x), x, result);
  }
};

struct BitwiseNot {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Not(x);
  }
};

/// What the functions that round do to integers.
struct Identity {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return x;
  }
};

struct IsZero {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D d, V x) const {
    return hn::Eq(x, hn::Zero(d));
  }
};
struct IsNan {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x) const {
    return hn::IsNaN(x);
  }
};
struct IsInf {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x) const {
    return hn::IsInf(x);
  }
};
struct IsFinite {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D /*d*/, V x) const {
    return hn::IsFinite(x);
  }
};
struct SignBit {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D d, V x) const {
    const hn::RebindToSigned<D> words;
    return hn::RebindMask(d, hn::Lt(hn::BitCast(words, x), hn::Zero(words)));
  }
};
template <bool answer>
struct Always {
  static constexpr std::int64_t cost = 1;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE hn::Mask<D> operator()(D d, V /*x*/) const {
    return answer ? hn::Eq(hn::Zero(d), hn::Zero(d)) : hn::Ne(hn::Zero(d), hn::Zero(d));
  }
};

/// What integers and reals have in common.
template <class T>
const ElementwiseKernel* find_common(UnaryOp op) {
  switch (op) {
    case UnaryOp::positive: return &unary_kernel<Lanes<T>, Identity>;
    case UnaryOp::abs: return &unary_kernel<Lanes<T>, Abs>;
    case UnaryOp::neg: return &unary_kernel<Lanes<T>, Neg>;
    case UnaryOp::sign: return &unary_kernel<Lanes<T>, Sign>;
    case UnaryOp::relu: return &unary_kernel<Lanes<T>, Relu>;
    case UnaryOp::logical_not: return &unary_kernel<Tests<T>, IsZero>;
    case UnaryOp::signbit: return &unary_kernel<Tests<T>, SignBit>;
    case UnaryOp::square:
      if constexpr (!std::is_same_v<T, std::int64_t>)
        return &unary_kernel<Lanes<T>, Square>;
      else
        return &unary_kernel<Scalars<T>, SquareInt64>;
    default: return nullptr;
  }
}

template <class T>
const ElementwiseKernel* find_integer(UnaryOp op) {
  switch (op) {
    case UnaryOp::ceil:
    case UnaryOp::floor:
    case UnaryOp::trunc:
    case UnaryOp::round:
    case UnaryOp::nan_to_num: return &unary_kernel<Lanes<T>, Identity>;
    case UnaryOp::bitwise_not: return &unary_kernel<Lanes<T>, BitwiseNot>;
    case UnaryOp::isnan:
    case UnaryOp::isinf: return &unary_kernel<Tests<T>, Always<false>>;
    case UnaryOp::isfinite: return &unary_kernel<Tests<T>, Always<true>>;
    default: return find_common<T>(op);
  }
}

template <class T>
const ElementwiseKernel* find_real(UnaryOp op) {
  switch (op) {
    case UnaryOp::reciprocal: return &unary_kernel<Lanes<T>, Reciprocal>;
    case UnaryOp::sqrt: return &unary_kernel<Lanes<T>, Sqrt>;
    case UnaryOp::rsqrt: return &unary_kernel<Lanes<T>, Rsqrt>;
    case UnaryOp::ceil: return &unary_kernel<Lanes<T>, Ceil>;
    case UnaryOp::floor: return &unary_kernel<Lanes<T>, Floor>;
    case UnaryOp::trunc: return &unary_kernel<Lanes<T>, Trunc>;
    case UnaryOp::round: return &round_kernel<T>;
    case UnaryOp::frac: return &unary_kernel<Lanes<T>, Frac>;
    case UnaryOp::deg2rad: return &unary_kernel<Wide<T>, DegToRad>;
    case UnaryOp::rad2deg: return &unary_kernel<Wide<T>, RadToDeg>;
    case UnaryOp::nan_to_num: return &unary_kernel<Lanes<T>, NanToNum>;
    case UnaryOp::angle: return &unary_kernel<Lanes<T>, Angle>;
    case UnaryOp::isnan: return &unary_kernel<Tests<T>, IsNan>;
    case UnaryOp::isinf: return &unary_kernel<Tests<T>, IsInf>;
    case UnaryOp::isfinite: return &unary_kernel<Tests<T>, IsFinite>;
    default: return find_common<T>(op);
  }
}

}  // namespace

const ElementwiseKernel* find_unary_arithmetic(UnaryOp op, ComputeType type) {
  switch (type) {
    case ComputeType::i32: return find_integer<std::int32_t>(op);
    case ComputeType::i64: return find_integer<std::int64_t>(op);
    case ComputeType::f32: return find_real<float>(op);
    case ComputeType::f64: return find_real<double>(op);
  }
  return nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_unary_arithmetic);
const ElementwiseKernel* unary_arithmetic(UnaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_unary_arithmetic)(op, type);
}
}  // namespace loup::kernels
#endif
