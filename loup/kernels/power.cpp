#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/power.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/lanes-inl.h"
#include "loup/kernels/wide_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

// Powers that need no logarithm, as x**2. Where all exponents are equal, one of these is the
// kernel.

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

/// Whether an exponent is that of one of these.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> is_simple(D d, V y) {
  using T = hn::TFromD<D>;
  const auto size = hn::Abs(y);
  const auto is_square = hn::Eq(size, hn::Set(d, T{2}));
  const auto is_other = hn::Or(hn::Eq(y, hn::Set(d, T{3})), hn::Eq(y, hn::Set(d, T{-1})));
  return hn::Or(hn::Or(is_square, is_other), hn::Eq(y, hn::Set(d, T{0.5})));
}
/// `result`, but the simple powers where they are meant.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V with_simple_powers(D d, V x, V y, V result) {
  const auto choose = [&](double exponent, V power) {
    result = hn::IfThenElse(hn::Eq(y, hn::Set(d, exponent)), power, result);
  };
  choose(2, Squared{}(d, x));
  choose(3, Cubed{}(d, x));
  choose(0.5, HalfPower{}(d, x));
  choose(-1, Inverse{}(d, x));
  choose(-2, InverseSquared{}(d, x));
  return result;
}

/// Floats: exp2(y log2|x|), and the special cases of IEEE 754 where that is NaN or x negative.
/// Integers wrap; a negative exponent gives 1/x^-y rounded towards 0, and 0 for x = 0.
struct Pow {
  static constexpr std::int64_t cost = 8;

  HWY_INLINE DoubleVec operator()(Doubles d, DoubleVec x, DoubleVec y) const {
    const auto exponent = hn::Mul(y, careful_log2(d, hn::Abs(x)));
    const auto result = wide_exp2(d, exponent);
    const auto is_special = hn::Or(hn::IsNaN(exponent), has_sign(d, x));
    const auto simple = is_simple(d, y);
    if (HWY_LIKELY(hn::AllFalse(d, hn::Or(is_special, simple)))) return result;
    return with_simple_powers(d, x, y, special(d, x, y, result));
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

  double operator()(double x, double y) const {
    const hn::CappedTag<double, 1> one;
    const auto exponent = hn::Set(one, y);
    if (hn::AllFalse(one, is_simple(one, exponent))) return std::pow(x, y);
    return hn::GetLane(with_simple_powers(one, hn::Set(one, x), exponent, exponent));
  }

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

// Floats in lanes of floats, where multiplication and addition are fused: the exponent of the
// result may be 128, so log2(x) needs 33 bits. It is kept as a sum of two floats.

// log2((1 + s) / (1 - s)) / s = c0 + c1 s^2 + s^4 Q(s^2): two constants in two parts each.
inline constexpr float log2_c0 = 2.88539004F, log2_c0_low = 3.85192607e-08F;
inline constexpr float log2_c1 = 0.961796701F, log2_c1_low = -7.02846181e-09F;
inline constexpr float log2_rest[] = {0.577078044F, 0.412200153F, 0.32033664F, 0.276129216F};

struct TwoFloats {
  FloatVec high, low;
};

/// log2(x) for positive finite x.
HWY_INLINE TwoFloats exact_log2(Floats d, FloatVec x) {
  const auto [k, f] = reduce_log(d, x);
  const auto two = hn::Set(d, 2.0F);
  // s = f / (2 + f)
  const auto below = hn::Add(two, f);
  const auto below_low = hn::Sub(f, hn::Sub(below, two));
  const auto guess = hn::ApproximateReciprocal(below);
  const auto inverse = hn::MulAdd(guess, hn::NegMulAdd(below, guess, hn::Set(d, 1.0F)), guess);
  const auto s = hn::Mul(f, inverse);
  const auto missing = hn::NegMulAdd(s, below_low, hn::NegMulAdd(s, below, f));
  const auto s_low = hn::Mul(inverse, missing);
  // z = s^2, w = c1 z + z^2 Q, v = c0 + w
  const auto z = hn::Mul(s, s);
  const auto z_low = hn::MulAdd(hn::Add(s, s), s_low, hn::MulSub(s, s, z));
  const auto c1 = hn::Set(d, log2_c1);
  const auto w = hn::Mul(c1, z);
  const auto rest = hn::MulAdd(z, polynomial<log2_rest>(d, z), hn::Set(d, log2_c1_low));
  const auto w_low = hn::MulAdd(z, rest, hn::MulAdd(c1, z_low, hn::MulSub(c1, z, w)));
  const auto c0 = hn::Set(d, log2_c0);
  const auto v = hn::Add(c0, w);
  const auto v_low = hn::Add(hn::Sub(w, hn::Sub(v, c0)), hn::Add(w_low, hn::Set(d, log2_c0_low)));
  // log2(x) = k + s v
  const auto fraction = hn::Mul(s, v);
  const auto fraction_low = hn::MulAdd(s, v_low, hn::MulAdd(s_low, v, hn::MulSub(s, v, fraction)));
  const auto sum = hn::Add(k, fraction);
  const auto lost = hn::Sub(fraction, hn::Sub(sum, k));
  return {sum, hn::Add(lost, fraction_low)};
}

struct FloatPow {
  HWY_INLINE FloatVec operator()(Floats d, FloatVec x, FloatVec y) const {
    const auto log2 = exact_log2(d, x);
    const auto exponent = hn::Mul(y, log2.high);
    const auto exponent_low = hn::MulAdd(y, log2.low, hn::MulSub(y, log2.high, exponent));
    const auto n = hn::Round(exponent);
    const auto r = hn::Add(hn::Sub(exponent, n), exponent_low);
    const auto power = hn::MulAdd(r, polynomial<ExpLog<float>::exp2_rest>(d, r), hn::Set(d, 1.0F));
    const auto result = scale(d, power, n);
    // Not so where x is not positive and finite, or the result surely 0 or infinite.
    const auto inf = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto is_usual = hn::And(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, inf)),
                                  hn::Lt(hn::Abs(exponent), hn::Set(d, 160.0F)));
    const auto takes_doubles = hn::Or(hn::Not(is_usual), is_simple(d, y));
    if (HWY_LIKELY(hn::AllFalse(d, takes_doubles))) return result;
    // Lane by lane: an element's power must not depend on its neighbours.
    return hn::IfThenElse(takes_doubles, in_doubles(d, x, y), result);
  }
  static HWY_NOINLINE FloatVec in_doubles(Floats d, FloatVec x, FloatVec y) {
    constexpr std::int64_t N = lanes<Floats>;
    HWY_ALIGN float xs[N];
    HWY_ALIGN float ys[N];
    hn::Store(x, d, xs);
    hn::Store(y, d, ys);
    for (std::int64_t i = 0; i < N; i += lanes<Doubles>) {
      const Doubles wide;
      const auto power = Pow{}(wide, WideLanes::load(wide, xs + i), WideLanes::load(wide, ys + i));
      WideLanes::store(wide, power, xs + i);
    }
    return hn::Load(d, xs);
  }
};

template <class T, class Access, class Op>
void map_pow(const void* const* inputs, void* out, std::int64_t count, const double* parameters) {
  const T* const y = static_cast<const T*>(inputs[1]);
  ElementwiseRun map = map_binary<Access, Op>;
  if (count > 0 && are_equal(y, count)) {
    if (y[0] == 2) map = map_unary<Lanes<T>, Squared>;
    if (y[0] == 3) map = map_unary<Wide<T>, Cubed>;
    if (y[0] == T{0.5}) map = map_unary<Lanes<T>, HalfPower>;
    if (y[0] == -1) map = map_unary<Lanes<T>, Inverse>;
    if (y[0] == -2) map = map_unary<Wide<T>, InverseSquared>;
  }
  map(inputs, out, count, parameters);
}
template <class T, class Access, class Op>
constexpr ElementwiseKernel pow_kernel{
    map_pow<T, Access, Op>, {dtype_of<T>(), dtype_of<T>()}, dtype_of<T>(), Pow::cost};

}  // namespace

const ElementwiseKernel* find_power(BinaryOp op, ComputeType type) {
  if (op != BinaryOp::pow) return nullptr;
  using FloatAccess = std::conditional_t<HWY_NATIVE_FMA, Lanes<float>, WideLanes>;
  using FloatOp = std::conditional_t<HWY_NATIVE_FMA, FloatPow, Pow>;
  switch (type) {
    case ComputeType::i32: return &binary_kernel<Scalars<std::int32_t>, Pow>;
    case ComputeType::i64: return &binary_kernel<Scalars<std::int64_t>, Pow>;
    case ComputeType::f32: return &pow_kernel<float, FloatAccess, FloatOp>;
    case ComputeType::f64: return &pow_kernel<double, Scalars<double>, Pow>;
  }
  return nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_power);
const ElementwiseKernel* power(BinaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_power)(op, type);
}
}  // namespace loup::kernels
#endif
