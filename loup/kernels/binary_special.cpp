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

/// The sign bit of a number that may be NaN, 0 or infinite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> has_sign(D d, V x) {
  const hn::RebindToSigned<D> words;
  return hn::RebindMask(d, hn::Lt(hn::BitCast(words, x), hn::Zero(words)));
}

/// Floats: exp2(y log2|x|), and the special cases of IEEE 754 where that is NaN or x negative.
/// Integers wrap; a negative exponent gives 1/x^-y rounded towards 0, and 0 for x = 0.
struct Pow {
  static constexpr std::int64_t cost = 8;

  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    const auto exponent = hn::Mul(y, careful_log2(d, hn::Abs(x)));
    const auto result = wide_exp2(d, exponent);
    const auto is_special = hn::Or(hn::IsNaN(exponent), has_sign(d, x));
    if (HWY_LIKELY(hn::AllFalse(d, is_special))) return result;
    return special(d, x, y, result);
  }
  static HWY_NOINLINE DoubleVec special(Doubles d, DoubleVec x, DoubleVec y, DoubleVec result) {
    const auto zero = hn::Zero(d);
    const auto one = hn::Set(d, 1.0);
    const auto inf = hn::Set(d, infinity);
    const auto half = hn::Mul(y, hn::Set(d, 0.5));
    const auto is_whole = hn::Eq(hn::Round(y), y);
    const auto is_odd = hn::And(is_whole, hn::Ne(hn::Round(half), half));
    const auto signed_result = hn::CopySign(result, hn::IfThenElse(is_odd, x, one));
    // Negative numbers, not -inf, have whole powers only.
    const auto is_negative = hn::And(hn::Lt(x, zero), hn::Gt(x, hn::Neg(inf)));
    const auto is_undefined = hn::AndNot(is_whole, is_negative);
    result = hn::IfThenElse(is_undefined, hn::Set(d, not_a_number), signed_result);
    // 0 times infinity or NaN in the exponent: x^0 and 1^y are 1, and so is (-1)^inf.
    const auto is_power_of_one =
        hn::And(hn::Eq(hn::Abs(x), one), hn::Or(hn::Eq(hn::Abs(y), inf), hn::Eq(x, one)));
    return hn::IfThenElse(hn::Or(hn::Eq(y, zero), is_power_of_one), one, result);
  }

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

// Powers with one exponent for all elements, as in x**2, that need no logarithm.

struct Squared {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Mul(x, x);
  }
};
struct Cubed {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Mul(hn::Mul(x, x), x);
  }
};
/// Unlike a root, +0 for -0 and +inf for -inf.
struct HalfPower {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto inf = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
    const auto root = hn::Sqrt(hn::Add(x, hn::Zero(d)));
    return hn::IfThenElse(hn::Eq(x, hn::Neg(inf)), inf, root);
  }
};
struct Inverse {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>{1}), x);
  }
};
struct InverseSquared {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const auto one = hn::Set(d, 1.0);
    const auto square = hn::Mul(x, x);
    const auto result = hn::Div(one, square);
    // The square may have lost bits, or be infinite when its inverse is still a number.
    const auto is_usual = hn::And(hn::Gt(square, hn::Set(d, std::numeric_limits<double>::min())),
                                  hn::Lt(square, hn::Set(d, infinity)));
    if (HWY_LIKELY(hn::AllTrue(d, is_usual))) return result;
    const auto inverse = hn::Div(one, x);
    return hn::IfThenElse(is_usual, result, hn::Mul(inverse, inverse));
  }
};

template <class T>
bool are_equal(const T* y, std::int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const auto first = hn::Set(d, y[0]);
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, y + i), first))) return false;
  }
  for (; i < count; ++i) {
    if (!(y[i] == y[0])) return false;
  }
  return true;
}

template <class T, class Access>
void map_pow(const void* const* inputs, void* out, std::int64_t count, const double* parameters) {
  const T* const y = static_cast<const T*>(inputs[1]);
  ElementwiseRun map = map_binary<Access, Pow>;
  if (count > 0 && are_equal(y, count)) {
    if (y[0] == 2) map = map_unary<Lanes<T>, Squared>;
    if (y[0] == 3) map = map_unary<Wide<T>, Cubed>;
    if (y[0] == T{0.5}) map = map_unary<Lanes<T>, HalfPower>;
    if (y[0] == -1) map = map_unary<Lanes<T>, Inverse>;
    if (y[0] == -2) map = map_unary<Wide<T>, InverseSquared>;
  }
  map(inputs, out, count, parameters);
}
template <class T, class Access>
constexpr ElementwiseKernel pow_kernel{
    map_pow<T, Access>, {dtype_of<T>(), dtype_of<T>()}, dtype_of<T>(), Pow::cost};

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
    case BinaryOp::pow: return &binary_kernel<Scalars<T>, Pow>;
    case BinaryOp::fmod: return &binary_kernel<Scalars<T>, Fmod<0>>;
    case BinaryOp::remainder: return &binary_kernel<Scalars<T>, Remainder<0>>;
    default: return nullptr;
  }
}

const ElementwiseKernel* find_float(BinaryOp op) {
  // A quotient of 29 bits times a float fits a double.
  constexpr int quotient_bits = 29;
  switch (op) {
    case BinaryOp::pow: return &pow_kernel<float, WideLanes>;
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
    case BinaryOp::pow: return &pow_kernel<double, Scalars<double>>;
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
