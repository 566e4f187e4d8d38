#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/binary_special.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// Integers wrap; a negative exponent gives 1/x^y rounded towards 0, and 0 for x = 0.
struct Pow {
  static constexpr std::int64_t cost = 10;
  double operator()(double x, double y) const { return std::pow(x, y); }
  template <class T>
    requires std::is_integral_v<T>
  T operator()(T x, T y) const {
    if (y < 0) return static_cast<T>(x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0);
    std::uint64_t result = 1;
    auto base = static_cast<std::uint64_t>(x);
    for (; y != 0; y = static_cast<T>(y >> 1)) {
      if ((y & 1) != 0) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
};

/// The remainder with the sign of x; of integers by 0 it is 0.
struct Fmod {
  static constexpr std::int64_t cost = 10;
  double operator()(double x, double y) const { return std::fmod(x, y); }
  template <class T>
    requires std::is_integral_v<T>
  T operator()(T x, T y) const {
    // The least integer divided by -1 would trap.
    return y == 0 || y == -1 ? 0 : static_cast<T>(x % y);
  }
};

/// The remainder with the sign of y.
struct Remainder {
  static constexpr std::int64_t cost = 10;
  double operator()(double x, double y) const {
    const double r = std::fmod(x, y);
    if (r == 0) return std::copysign(0.0, y);
    return (r < 0) != (y < 0) ? r + y : r;
  }
  template <class T>
    requires std::is_integral_v<T>
  T operator()(T x, T y) const {
    const T r = Fmod{}(x, y);
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
  }
};

struct Atan2 {
  static constexpr std::int64_t cost = 6;
  double operator()(double y, double x) const { return std::atan2(y, x); }
};

/// log(exp(x) + exp(y)).
struct LogAddExp {
  static constexpr std::int64_t cost = 10;
  double operator()(double x, double y) const {
    if (x == y) return x + std::numbers::ln2;  // equal infinities, too
    const double larger = x > y ? x : y;
    return larger + std::log1p(std::exp(-std::abs(x - y)));
  }
};

/// log2(2^x + 2^y).
struct LogAddExp2 {
  static constexpr std::int64_t cost = 10;
  double operator()(double x, double y) const {
    if (x == y) return x + 1;
    const double larger = x > y ? x : y;
    return larger + std::log1p(std::exp2(-std::abs(x - y))) * std::numbers::log2e;
  }
};

struct NextAfter {
  static constexpr std::int64_t cost = 4;
  template <class T>
  T operator()(T x, T y) const {
    return std::nextafter(x, y);
  }
};

template <class T>
const ElementwiseKernel* find_integer(BinaryOp op) {
  switch (op) {
    case BinaryOp::pow: return &binary_kernel<Scalars<T>, Pow>;
    case BinaryOp::fmod: return &binary_kernel<Scalars<T>, Fmod>;
    case BinaryOp::remainder: return &binary_kernel<Scalars<T>, Remainder>;
    default: return nullptr;
  }
}

template <class T>
const ElementwiseKernel* find_real(BinaryOp op) {
  switch (op) {
    case BinaryOp::atan2: return &binary_kernel<Scalars<T>, Atan2>;
    case BinaryOp::logaddexp: return &binary_kernel<Scalars<T>, LogAddExp>;
    case BinaryOp::logaddexp2: return &binary_kernel<Scalars<T>, LogAddExp2>;
    case BinaryOp::nextafter: return &binary_kernel<Scalars<T>, NextAfter>;
    default: return find_integer<T>(op);
  }
}

}  // namespace

const ElementwiseKernel* find_binary_special(BinaryOp op, ComputeType type) {
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
HWY_EXPORT(find_binary_special);
const ElementwiseKernel* binary_special(BinaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_binary_special)(op, type);
}
}  // namespace loup::kernels
#endif
