#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/binary_arithmetic.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>
#include <limits>

#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace {

struct Add {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Add(x, y);
  }
};
struct Sub {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Sub(x, y);
  }
};
struct Mul {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Mul(x, y);
  }
};
struct Div {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Div(x, y);
  }
};
struct And {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::And(x, y);
  }
};
struct Or {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Or(x, y);
  }
};
struct Xor {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Xor(x, y);
  }
};

/// The larger (or smaller) of two; `nan_wins` says what happens when one of them is NaN.
template <bool is_max, bool nan_wins>
struct Extreme {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
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
  static constexpr std::int64_t cost = 1;
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};
/// Division by 0 is an error above; -min / -1 wraps.
struct TruncDivide {
  static constexpr std::int64_t cost = 6;
  template <class T>
  T operator()(T x, T y) const {
    if (y == 0) return 0;
    return y == -1 ? static_cast<T>(0 - static_cast<Wrapping<T>>(x)) : static_cast<T>(x / y);
  }
};
struct FloorDivide {
  static constexpr std::int64_t cost = 10;
  template <class T>
  T operator()(T x, T y) const {
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
      const T quotient = TruncDivide{}(x, y);
      const bool is_inexact =
          static_cast<T>(static_cast<Wrapping<T>>(quotient) * static_cast<Wrapping<T>>(y)) != x;
      return y != 0 && is_inexact && (x < 0) != (y < 0) ? quotient - 1 : quotient;
    }
  }
};
/// Shifts by more than there are bits, or by a negative count, move everything out.
struct LeftShift {
  static constexpr std::int64_t cost = 1;
  template <class T>
  T operator()(T x, T y) const {
    constexpr T bits = std::numeric_limits<Wrapping<T>>::digits;
    return y < 0 || y >= bits ? 0 : static_cast<T>(static_cast<Wrapping<T>>(x) << y);
  }
};
struct RightShift {
  static constexpr std::int64_t cost = 1;
  template <class T>
  T operator()(T x, T y) const {
    constexpr T bits = std::numeric_limits<Wrapping<T>>::digits;
    return x >> (y < 0 || y >= bits ? bits - 1 : y);
  }
};

/// Quotients of float32 in double lanes: exact enough that their floor is the exact quotient's.
struct WideFloorDivide {
  static constexpr std::int64_t cost = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    const V inf = hn::Inf(d);
    const V zero = hn::Zero(d);
    V whole = hn::Floor(hn::Div(x, y));
    // Of an infinite divisor the quotient's sign is lost in the zero; of an infinite dividend the
    // remainder is NaN.
    const auto below = hn::And(hn::Eq(hn::Abs(y), inf), hn::Lt(hn::Mul(x, y), zero));
    whole = hn::IfThenElse(below, hn::Set(d, -1.0), whole);
    const auto no_rest = hn::And(hn::Eq(hn::Abs(x), inf), hn::Ne(y, zero));
    return hn::IfThenElse(no_rest, hn::NaN(d), whole);
  }
};
struct LaneTruncDivide {
  static constexpr std::int64_t cost = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V y) const {
    return hn::Trunc(hn::Div(x, y));
  }
};

template <class T>
struct Arithmetic {
  static const ElementwiseKernel* find(BinaryOp op) {
    switch (op) {
      case BinaryOp::add: return &binary_kernel<Lanes<T>, Add>;
      case BinaryOp::sub: return &binary_kernel<Lanes<T>, Sub>;
      case BinaryOp::maximum: return &binary_kernel<Lanes<T>, Extreme<true, true>>;
      case BinaryOp::minimum: return &binary_kernel<Lanes<T>, Extreme<false, true>>;
      case BinaryOp::fmax: return &binary_kernel<Lanes<T>, Extreme<true, false>>;
      case BinaryOp::fmin: return &binary_kernel<Lanes<T>, Extreme<false, false>>;
      default: break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      switch (op) {
        case BinaryOp::mul: return &binary_kernel<Lanes<T>, Mul>;
        case BinaryOp::div: return &binary_kernel<Lanes<T>, Div>;
        case BinaryOp::trunc_divide: return &binary_kernel<Lanes<T>, LaneTruncDivide>;
        case BinaryOp::floor_divide:
          if constexpr (std::is_same_v<T, float>) {
            return &binary_kernel<WideLanes, WideFloorDivide>;
          } else {
            return &binary_kernel<Scalars<T>, FloorDivide>;
          }
        default: return nullptr;
      }
    } else {
      switch (op) {
        case BinaryOp::mul:
          if constexpr (sizeof(T) == 4) return &binary_kernel<Lanes<T>, Mul>;
          return &binary_kernel<Scalars<T>, WrappingMul>;
        case BinaryOp::bitwise_and: return &binary_kernel<Lanes<T>, And>;
        case BinaryOp::bitwise_or: return &binary_kernel<Lanes<T>, Or>;
        case BinaryOp::bitwise_xor: return &binary_kernel<Lanes<T>, Xor>;
        case BinaryOp::left_shift: return &binary_kernel<Scalars<T>, LeftShift>;
        case BinaryOp::right_shift: return &binary_kernel<Scalars<T>, RightShift>;
        case BinaryOp::trunc_divide: return &binary_kernel<Scalars<T>, TruncDivide>;
        case BinaryOp::floor_divide: return &binary_kernel<Scalars<T>, FloorDivide>;
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
