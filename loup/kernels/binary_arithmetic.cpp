#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/binary_arithmetic.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>
#include <limits>

#include "loup/kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace {

struct Add {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Add(x, y);
  }
};
struct Sub {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Sub(x, y);
  }
};
struct Mul {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Mul(x, y);
  }
};
struct Div {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Div(x, y);
  }
};
struct And {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::And(x, y);
  }
};
struct Or {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Or(x, y);
  }
};
struct Xor {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    return hn::Xor(x, y);
  }
};

/// The larger (or smaller) of two; `nan_wins` says what happens when one of them is NaN.
template <bool is_max, bool nan_wins>
struct Extreme {
  template <class D, class V>
  static HWY_INLINE V apply(D /*d*/, V x, V y) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      const auto chooses_x = is_max ? hn::Ge(x, y) : hn::Le(x, y);  // false when either is NaN
      const auto takes_x = hn::Or(chooses_x, nan_wins ? hn::IsNaN(x) : hn::IsNaN(y));
      return hn::IfThenElse(takes_x, x, y);
    } else {
      return is_max ? hn::Max(x, y) : hn::Min(x, y);
    }
  }
};

template <class T>
using Wrapping = std::make_unsigned_t<T>;

struct WrappingMul {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};
/// Division by 0 is an error above; -min / -1 wraps.
struct TruncDivide {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(x / y);
    } else {
      if (y == 0) return 0;
      return y == -1 ? static_cast<T>(0 - static_cast<Wrapping<T>>(x)) : static_cast<T>(x / y);
    }
  }
};
struct FloorDivide {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      // As Python divides: the quotient that belongs to the exact remainder.
      if (y == 0) return x / y;
      const T rest = std::fmod(x, y);
      T quotient = (x - rest) / y;
      if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
      if (quotient == 0) return std::copysign(T(0), x / y);
      const T whole = std::floor(quotient);
      return quotient - whole > T(0.5) ? whole + 1 : whole;
    } else {
      const T quotient = TruncDivide::apply(x, y);
      const bool is_inexact = static_cast<T>(static_cast<Wrapping<T>>(quotient) *
                                             static_cast<Wrapping<T>>(y)) != x;
      return y != 0 && is_inexact && (x < 0) != (y < 0) ? quotient - 1 : quotient;
    }
  }
};
/// Shifts by more than there are bits, or by a negative count, move everything out.
struct LeftShift {
  template <class T>
  static T apply(T x, T y) {
    constexpr T bits = std::numeric_limits<Wrapping<T>>::digits;
    return y < 0 || y >= bits ? 0 : static_cast<T>(static_cast<Wrapping<T>>(x) << y);
  }
};
struct RightShift {
  template <class T>
  static T apply(T x, T y) {
    constexpr T bits = std::numeric_limits<Wrapping<T>>::digits;
    return x >> (y < 0 || y >= bits ? bits - 1 : y);
  }
};

/// Quotients of float32 in float64: exact enough that their floor is the exact quotient's.
void floor_divide_f32(const void* const* inputs, void* output, std::int64_t count,
                      const double* /*parameters*/) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr std::int64_t step = lanes<decltype(d)>;
  const float* const x = static_cast<const float*>(inputs[0]);
  const float* const y = static_cast<const float*>(inputs[1]);
  float* const out = static_cast<float*>(output);
  const auto inf = hn::Set(d, std::numeric_limits<double>::infinity());
  std::int64_t i = 0;
  for (; i + step <= count; i += step) {
    const auto a = hn::PromoteTo(d, hn::LoadU(df, x + i));
    const auto b = hn::PromoteTo(d, hn::LoadU(df, y + i));
    const auto quotient = hn::Div(a, b);
    auto whole = hn::Floor(quotient);
    // Of an infinite divisor the quotient's sign is lost in the zero; of an infinite dividend the
    // remainder is NaN.
    const auto below = hn::And(hn::Eq(hn::Abs(b), inf), hn::Lt(hn::Mul(a, b), hn::Zero(d)));
    whole = hn::IfThenElse(below, hn::Set(d, -1.0), whole);
    const auto no_rest = hn::And(hn::Eq(hn::Abs(a), inf), hn::Ne(b, hn::Zero(d)));
    whole = hn::IfThenElse(no_rest, hn::Set(d, std::numeric_limits<double>::quiet_NaN()), whole);
    hn::StoreU(hn::DemoteTo(df, whole), df, out + i);
  }
  for (; i < count; ++i) out[i] = FloorDivide::apply(x[i], y[i]);
}
constexpr ElementwiseKernel floor_divide_f32_kernel{
    floor_divide_f32, {DType::f32, DType::f32}, DType::f32, 2};

template <class T>
struct Arithmetic {
  static const ElementwiseKernel* find(BinaryOp op) {
    switch (op) {
      case BinaryOp::add: return &binary_kernel<T, Add>;
      case BinaryOp::sub: return &binary_kernel<T, Sub>;
      case BinaryOp::maximum: return &binary_kernel<T, Extreme<true, true>>;
      case BinaryOp::minimum: return &binary_kernel<T, Extreme<false, true>>;
      case BinaryOp::fmax: return &binary_kernel<T, Extreme<true, false>>;
      case BinaryOp::fmin: return &binary_kernel<T, Extreme<false, false>>;
      default: break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      switch (op) {
        case BinaryOp::mul: return &binary_kernel<T, Mul>;
        case BinaryOp::div: return &binary_kernel<T, Div>;
        case BinaryOp::trunc_divide: return &scalar_binary_kernel<T, TruncDivide, 4>;
        case BinaryOp::floor_divide:
          return std::is_same_v<T, float> ? &floor_divide_f32_kernel
                                          : &scalar_binary_kernel<T, FloorDivide, 20>;
        default: return nullptr;
      }
    } else {
      switch (op) {
        case BinaryOp::mul:
          if constexpr (sizeof(T) == 4) return &binary_kernel<T, Mul>;
          return &scalar_binary_kernel<T, WrappingMul, 1>;
        case BinaryOp::bitwise_and: return &binary_kernel<T, And>;
        case BinaryOp::bitwise_or: return &binary_kernel<T, Or>;
        case BinaryOp::bitwise_xor: return &binary_kernel<T, Xor>;
        case BinaryOp::left_shift: return &scalar_binary_kernel<T, LeftShift, 1>;
        case BinaryOp::right_shift: return &scalar_binary_kernel<T, RightShift, 1>;
        case BinaryOp::trunc_divide: return &scalar_binary_kernel<T, TruncDivide, 6>;
        case BinaryOp::floor_divide: return &scalar_binary_kernel<T, FloorDivide, 8>;
        default: return nullptr;
      }
    }
  }
};

}  // namespace

const ElementwiseKernel* find_binary_arithmetic(BinaryOp op, ComputeType type) {
  return find_by_type<Arithmetic>(op, type);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_binary_arithmetic);
const ElementwiseKernel* binary_arithmetic(BinaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_binary_arithmetic)(op, type);
}
}  // namespace loup::kernels
#endif
