#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/binary_special.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/angle-inl.h"
#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/wide_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

double scalar_fmod(double x, double y) { return std::fmod(x, y); }

/// The remainder of |x| / |y|, exact; `largest` is the first quotient whose product with y would
/// not be.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V positive_fmod(D d, V x, V y, double largest) {
  const auto quotient = hn::Trunc(hn::Div(x, y));
  auto r = hn::NegMulAdd(quotient, y, x);
  // The division may have rounded up to an integer.
  r = hn::IfThenElse(hn::Lt(r, hn::Zero(d)), hn::Add(r, y), r);
  const auto inf = hn::Set(d, infinity);
  r = hn::IfThenElse(hn::And(hn::Eq(y, inf), hn::Lt(x, inf)), x, r);
  const auto is_large = hn::Ge(quotient, hn::Set(d, largest));
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return r;
  return replace_lanes<scalar_fmod>(d, x, y, is_large, r);
}

/// The remainder with the sign of x; of integers by 0 it is 0.
template <int quotient_bits>
struct Fmod {
  static constexpr std::int64_t cost = 4;
  static constexpr double largest = static_cast<double>(std::int64_t{1} << quotient_bits);
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    return hn::CopySign(positive_fmod(d, hn::Abs(x), hn::Abs(y), largest), x);
  }
  double operator()(double x, double y) const { return std::fmod(x, y); }
  template <class T>
    requires std::is_integral_v<T>
  T operator()(T x, T y) const {
    // The least integer divided by -1 would trap.
    return y == 0 || y == -1 ? 0 : static_cast<T>(x % y);
  }
};

/// The remainder with the sign of y, also when it is 0.
template <int quotient_bits>
struct Remainder {
  static constexpr std::int64_t cost = 4;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    const auto r = positive_fmod(d, hn::Abs(x), hn::Abs(y), Fmod<quotient_bits>::largest);
    const auto differs = hn::Ne(hn::CopySign(r, x), hn::CopySign(r, y));
    const auto rest = hn::IfThenElse(differs, hn::Sub(hn::Abs(y), r), r);
    return hn::CopySign(rest, y);
  }
  double operator()(double x, double y) const {
    const double r = std::fmod(x, y);
    if (r == 0) return std::copysign(0.0, y);
    return (r < 0) != (y < 0) ? r + y : r;
  }
  template <class T>
    requires std::is_integral_v<T>
  T operator()(T x, T y) const {
    const T r = Fmod<quotient_bits>{}(x, y);
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
  }
};

struct Atan2 {
  static constexpr std::int64_t cost = 5;
  HWY_INLINE FloatVec operator()(Floats d, FloatVec y, FloatVec x) const {
    const auto zero = hn::Zero(d);
    const auto height = hn::Abs(y);
    const auto width = hn::Abs(x);
    const auto is_steep = hn::Gt(height, width);
    const auto larger = hn::IfThenElse(is_steep, height, width);
    const auto smaller = hn::IfThenElse(is_steep, width, height);
    // Of two zeros or two infinities the quotient is 0 or 1; NaN is equal to nothing.
    const auto equal = hn::IfThenElseZero(hn::Gt(height, zero), hn::Set(d, 1.0F));
    const auto t = hn::IfThenElse(hn::Eq(height, width), equal, hn::Div(smaller, larger));
    const auto low = atan_of_reduced(d, t);
    // The angle is t + low, taken from pi/2 when steep, and then from pi when x is negative.
    const auto turns = hn::IfThenElse(has_sign(d, x), hn::Set(d, 1.0F), zero);
    const auto factor = hn::IfThenElse(is_steep, hn::Set(d, 0.5F), turns);
    const auto flips = hn::Xor(is_steep, has_sign(d, x));
    const auto sign = hn::IfThenElse(flips, hn::Set(d, -1.0F), hn::Set(d, 1.0F));
    const auto sum = hn::MulAdd(factor, hn::Set(d, float_pi_high), hn::Mul(sign, t));
    const auto rest = hn::MulAdd(factor, hn::Set(d, float_pi_low), hn::Mul(sign, low));
    return hn::CopySign(hn::Add(sum, rest), y);
  }
  double operator()(double y, double x) const { return std::atan2(y, x); }
};

/// log(exp(x) + exp(y)).
struct LogAddExp {
  static constexpr std::int64_t cost = 8;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    const auto larger = hn::IfThenElse(hn::Gt(x, y), x, y);
    const auto e = wide_exp(d, hn::Neg(hn::Abs(hn::Sub(x, y))));
    const auto result = hn::Add(larger, wide_log1p(d, e));
    // Also where the difference of infinities is NaN.
    return hn::IfThenElse(hn::Eq(x, y), hn::Add(x, hn::Set(d, std::numbers::ln2)), result);
  }
  double operator()(double x, double y) const {
    if (x == y) return x + std::numbers::ln2;
    const double larger = x > y ? x : y;
    return larger + std::log1p(std::exp(-std::abs(x - y)));
  }
};

/// Elements where the mask counts, -inf elsewhere: what adds nothing to a sum of exponentials.
template <class T>
HWY_INLINE void keep_present(const T* x, const std::uint8_t* counts, std::int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const auto nothing = hn::Set(d, static_cast<T>(-infinity));
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    const auto lanes = ByteMask{counts + i}.lanes_of(d);
    hn::StoreU(hn::IfThenElse(lanes, hn::LoadU(d, x + i), nothing), d, to + i);
  }
  for (; i < count; ++i) to[i] = counts[i] != 0 ? x[i] : static_cast<T>(-infinity);
}

/// LogAddExp of (x, y, whether x counts, whether y does).
template <class Access>
void map_present(const void* const* inputs, void* out, std::int64_t count,
                 const double* parameters) {
  using T = typename Access::In;
  constexpr std::int64_t most = 256;
  HWY_ALIGN T present[2][most];
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t n = std::min(most, count - i);
    for (int k = 0; k < 2; ++k) {
      keep_present(static_cast<const T*>(inputs[k]) + i,
                   static_cast<const std::uint8_t*>(inputs[2 + k]) + i, n, present[k]);
    }
    const void* const both[] = {present[0], present[1]};
    map_binary<Access, LogAddExp>(both, static_cast<T*>(out) + i, n, parameters);
  }
}

template <class Access>
constexpr ElementwiseKernel present_kernel{
    map_present<Access>,
    {dtype_of<typename Access::In>(), dtype_of<typename Access::In>(), DType::boolean,
     DType::boolean},
    dtype_of<typename Access::Out>(),
    LogAddExp::cost};

/// log2(2^x + 2^y).
struct LogAddExp2 {
  static constexpr std::int64_t cost = 8;
  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    const auto larger = hn::IfThenElse(hn::Gt(x, y), x, y);
    const auto e = wide_exp2(d, hn::Neg(hn::Abs(hn::Sub(x, y))));
    const auto log2e = hn::Set(d, std::numbers::log2e);
    const auto result = hn::MulAdd(wide_log1p(d, e), log2e, larger);
    return hn::IfThenElse(hn::Eq(x, y), hn::Add(x, hn::Set(d, 1.0)), result);
  }
  double operator()(double x, double y) const {
    if (x == y) return x + 1;
    const double larger = x > y ? x : y;
    return larger + std::log1p(std::exp2(-std::abs(x - y))) * std::numbers::log2e;
  }
};

/// The next number from x towards y: as integers, the bits of numbers of one sign are in order.
struct NextAfter {
  static constexpr std::int64_t cost = 2;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x, V y) const {
    const hn::RebindToSigned<D> words;
    using T = hn::TFromD<D>;
    const auto is_up = hn::Lt(x, y);
    const auto is_positive = hn::Gt(x, hn::Zero(d));
    const auto one = hn::Set(words, 1);
    const auto grows = hn::RebindMask(words, hn::Not(hn::Xor(is_up, is_positive)));
    const auto bits = hn::BitCast(words, x);
    const auto moved = hn::IfThenElse(grows, hn::Add(bits, one), hn::Sub(bits, one));
    const auto least = hn::CopySign(hn::Set(d, std::numeric_limits<T>::denorm_min()), y);
    auto result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), least, hn::BitCast(d, moved));
    result = hn::IfThenElse(hn::Eq(x, y), y, result);
    const auto is_nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
    return hn::IfThenElse(is_nan, hn::Add(x, y), result);
  }
};

template <class T>
const ElementwiseKernel* find_integer(BinaryOp op) {
  switch (op) {
    case BinaryOp::fmod: return &binary_kernel<Scalars<T>, Fmod<0>>;
    case BinaryOp::remainder: return &binary_kernel<Scalars<T>, Remainder<0>>;
    default: return nullptr;
  }
}

const ElementwiseKernel* find_float(BinaryOp op) {
  // A quotient of 29 bits times a float fits a double.
  constexpr int quotient_bits = 29;
  switch (op) {
    case BinaryOp::fmod: return &binary_kernel<WideLanes, Fmod<quotient_bits>>;
    case BinaryOp::remainder: return &binary_kernel<WideLanes, Remainder<quotient_bits>>;
    case BinaryOp::atan2: return &binary_kernel<Lanes<float>, Atan2>;
    case BinaryOp::logaddexp: return &binary_kernel<WideLanes, LogAddExp>;
    case BinaryOp::logaddexp2: return &binary_kernel<WideLanes, LogAddExp2>;
    case BinaryOp::nextafter: return &binary_kernel<Lanes<float>, NextAfter>;
    default: return nullptr;
  }
}

const ElementwiseKernel* find_double(BinaryOp op) {
  // With fused multiplication any quotient that is a whole number will do.
  constexpr int quotient_bits = 53;
  using Exact = std::conditional_t<HWY_NATIVE_FMA, Lanes<double>, Scalars<double>>;
  switch (op) {
    case BinaryOp::fmod: return &binary_kernel<Exact, Fmod<quotient_bits>>;
    case BinaryOp::remainder: return &binary_kernel<Exact, Remainder<quotient_bits>>;
    case BinaryOp::atan2: return &binary_kernel<Scalars<double>, Atan2>;
    case BinaryOp::logaddexp: return &binary_kernel<Scalars<double>, LogAddExp>;
    case BinaryOp::logaddexp2: return &binary_kernel<Scalars<double>, LogAddExp2>;
    case BinaryOp::nextafter: return &binary_kernel<Lanes<double>, NextAfter>;
    default: return nullptr;
  }
}

}  // namespace

const ElementwiseKernel* find_binary_special(BinaryOp op, ComputeType type) {
  switch (type) {
    case ComputeType::i32: return find_integer<std::int32_t>(op);
    case ComputeType::i64: return find_integer<std::int64_t>(op);
    case ComputeType::f32: return find_float(op);
    case ComputeType::f64: return find_double(op);
  }
  return nullptr;
}

const ElementwiseKernel* find_present_logaddexp(ComputeType type) {
  return type == ComputeType::f64 ? &present_kernel<Scalars<double>> : &present_kernel<WideLanes>;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_binary_special);
HWY_EXPORT(find_present_logaddexp);
const ElementwiseKernel* binary_special(BinaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_binary_special)(op, type);
}
const ElementwiseKernel& present_logaddexp(ComputeType type) {
  return *HWY_DYNAMIC_DISPATCH(find_present_logaddexp)(type);
}
}  // namespace loup::kernels
#endif
