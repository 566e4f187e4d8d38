// Trigonometric functions of floats, with errors of at most about one unit in the last place.
// Included once per instruction set, from kernel files only.
//
// sin and cos are computed in double lanes: they need few operations beside the reduction, which
// is done in doubles anyway. The others are computed in float lanes.

#if defined(LOUP_KERNELS_ANGLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ANGLE_INL_H_
#undef LOUP_KERNELS_ANGLE_INL_H_
#else
#define LOUP_KERNELS_ANGLE_INL_H_
#endif

#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// Adding this to a number of less than 22 bits rounds it to an integer.
inline constexpr float angle_shift = 0x1.8p23F;

inline constexpr float float_pi_high = 3.1415927F;
inline constexpr float float_pi_low = -8.742278e-8F;

/// Beyond this, multiples of pi are not subtracted exactly enough below.
inline constexpr float largest_angle = 0x1p16F;

inline constexpr double pi_high = 0x1.921fb54400000p+1;  // 33 bits: exact times an integer
inline constexpr double pi_low = 0x1.0b4611a626331p-33;

/// x - n pi, where 2n is an integer.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V minus_multiple_of_pi(D d, V x, V n) {
  return hn::NegMulAdd(n, hn::Set(d, pi_low), hn::NegMulAdd(n, hn::Set(d, pi_high), x));
}

// (sin(r) - r) / r^3 as a function of r^2, for |r| <= pi / 2: 35 bits.
inline constexpr double sin_rest[] = {-0.16666666626063853, 0.008333331104895645,
                                      -0.00019840867715554194, 2.7525358573184923e-06,
                                      -2.3888445243853326e-08};

/// sin(r) for |r| <= pi / 2, negated when `turns`, of which the last bit counts, is odd.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sin_of_reduced(D d, V r, V turns) {
  const hn::RebindToUnsigned<D> words;
  const auto sign = hn::BitCast(d, hn::ShiftLeft<63>(hn::BitCast(words, turns)));
  const auto square = hn::Mul(r, r);
  // A product, as a sum would lose the sign of 0.
  const auto quotient = hn::MulAdd(square, polynomial<sin_rest>(d, square), hn::Set(d, 1.0));
  return hn::Mul(hn::Xor(r, sign), quotient);
}

/// An integer's last bits are those of its sum with this.
inline constexpr double integer_shift = 0x1.8p52;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sin(D d, V x) {
  const auto shift = hn::Set(d, integer_shift);
  const auto turns = hn::MulAdd(x, hn::Set(d, std::numbers::inv_pi), shift);
  const auto r = minus_multiple_of_pi(d, x, hn::Sub(turns, shift));
  return sin_of_reduced(d, r, turns);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V cos(D d, V x) {
  // cos(x) = sin(r) (-1)^n with r = x - (n - 1/2) pi.
  const auto half = hn::Set(d, 0.5);
  const auto shift = hn::Set(d, integer_shift);
  const auto turns = hn::Add(hn::MulAdd(x, hn::Set(d, std::numbers::inv_pi), half), shift);
  const auto r = minus_multiple_of_pi(d, x, hn::Sub(hn::Sub(turns, shift), half));
  return sin_of_reduced(d, r, turns);
}

/// high + low = x - n pi, where 2n is an integer. All bits of x may cancel.
struct ReducedAngle {
  FloatVec high, low;
};
#if HWY_NATIVE_FMA
HWY_INLINE ReducedAngle reduce_angle(Floats d, FloatVec x, FloatVec n) {
  const auto second = hn::Set(d, -0x1.777a5cp-24F);
  // Exact: a multiple of 2^-23 that is less than 1.
  const auto first = hn::NegMulAdd(n, hn::Set(d, float_pi_high), x);
  const auto product = hn::Mul(n, second);
  const auto high = hn::Sub(first, product);
  const auto change = hn::Sub(high, first);
  const auto lost = hn::Sub(hn::Sub(first, hn::Sub(high, change)), hn::Add(product, change));
  const auto product_low = hn::MulSub(n, second, product);
  const auto third = hn::Set(d, -0x1.ee59dap-49F);
  return {high, hn::NegMulAdd(n, third, hn::Sub(lost, product_low))};
}
#else
template <class Half>
struct HalfAngle {
  Half high, low;
};
template <class Half>
HWY_INLINE HalfAngle<Half> reduce_half(Half x, Half n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto r = minus_multiple_of_pi(d, hn::PromoteTo(d, x), hn::PromoteTo(d, n));
  const auto high = hn::DemoteTo(narrow, r);
  return {high, hn::DemoteTo(narrow, hn::Sub(r, hn::PromoteTo(d, high)))};
}
HWY_INLINE ReducedAngle reduce_angle(Floats d, FloatVec x, FloatVec n) {
  const hn::Half<Floats> half;
  const auto lower = reduce_half(hn::LowerHalf(half, x), hn::LowerHalf(half, n));
  const auto upper = reduce_half(hn::UpperHalf(half, x), hn::UpperHalf(half, n));
  return {hn::Combine(d, upper.high, lower.high), hn::Combine(d, upper.low, lower.low)};
}
#endif

// (tan(r) - r) / r^3 as a function of r^2, for |r| <= pi / 4: 29 bits.
inline constexpr float tan_rest[] = {0.3333335F,   0.13332634F,    0.05406341F,  0.02126362F,
                                     0.010885286F, 2.5177646e-05F, 0.0044088005F};

HWY_INLINE FloatVec tan(Floats d, FloatVec x) {
  const hn::RebindToUnsigned<Floats> words;
  const auto shift = hn::Set(d, angle_shift);
  const auto quarters =
      hn::MulAdd(x, hn::Set(d, static_cast<float>(2 * std::numbers::inv_pi)), shift);
  const auto n = hn::Mul(hn::Sub(quarters, shift), hn::Set(d, 0.5F));
  const auto [r, low] = reduce_angle(d, x, n);
  const auto square = hn::Mul(r, r);
  // The derivative of tan is about 1 + r^2.
  const auto rest = hn::MulAdd(low, square, low);
  const auto cube = hn::Mul(r, square);
  const auto t = hn::Add(r, hn::MulAdd(cube, polynomial<tan_rest>(d, square), rest));
  const auto is_odd = hn::TestBit(hn::BitCast(words, quarters), hn::Set(words, 1));
  const auto result = hn::IfThenElse(hn::RebindMask(d, is_odd), hn::Div(hn::Set(d, -1.0F), t), t);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result);  // the reduction loses the sign of 0
}

// (asin(s) - s) / s^3 as a function of s^2, for |s| <= 1/2: 27 bits.
inline constexpr float asin_rest[] = {0.16666752F, 0.07495289F, 0.045471534F, 0.024173316F,
                                      0.04217762F};

/// The angle high + low is asin|x| for |x| <= 1/2, and acos|x| = 2 asin(sqrt((1 - |x|) / 2)) for
/// larger ones.
struct FloatAngle {
  hn::Mask<Floats> is_acos;
  FloatVec high, low;
};
HWY_INLINE FloatAngle reduce_asin(Floats d, FloatVec x) {
  const auto half = hn::Set(d, 0.5F);
  const auto size = hn::Abs(x);
  const auto is_acos = hn::Gt(size, half);
  const auto rest = hn::NegMulAdd(half, size, half);
  const auto root = hn::Sqrt(rest);
  const auto square = hn::IfThenElse(is_acos, rest, hn::Mul(x, x));
  const auto high = hn::IfThenElse(is_acos, hn::Add(root, root), size);
  return {is_acos, high, hn::Mul(hn::Mul(high, square), polynomial<asin_rest>(d, square))};
}

HWY_INLINE FloatVec asin(Floats d, FloatVec x) {
  const auto [is_acos, high, low] = reduce_asin(d, x);
  const auto half_pi = hn::Set(d, float_pi_high / 2);
  const auto difference = hn::Sub(half_pi, high);
  const auto lost = hn::Sub(hn::Sub(half_pi, difference), high);
  const auto small = hn::Sub(hn::Add(lost, hn::Set(d, float_pi_low / 2)), low);
  const auto complement = hn::Add(difference, small);
  return hn::CopySign(hn::IfThenElse(is_acos, complement, hn::Add(high, low)), x);
}

HWY_INLINE FloatVec acos(Floats d, FloatVec x) {
  const auto [is_acos, high, low] = reduce_asin(d, x);
  // base - (high + low), with signs: pi/2 - asin(x), pi - acos(-x) or 0 + acos(x).
  const auto sign = hn::IfThenElse(is_acos, hn::Neg(x), x);
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const auto whole = hn::IfThenElseZero(is_negative, hn::Set(d, 1.0F));
  const auto factor = hn::IfThenElse(is_acos, whole, hn::Set(d, 0.5F));
  const auto base = hn::Mul(factor, hn::Set(d, float_pi_high));
  const auto base_low = hn::Mul(factor, hn::Set(d, float_pi_low));
  return hn::Sub(hn::Sub(base, hn::CopySign(high, sign)),
                 hn::Sub(hn::CopySign(low, sign), base_low));
}

// (atan(t) - t) / t^3 as a function of t^2, for |t| <= 1: 28 bits.
inline constexpr float atan_rest[] = {-0.333333F,    0.19998549F,  -0.14264241F,
                                      0.10952184F,   -0.08403447F, 0.057957545F,
                                      -0.031177796F, 0.010914577F, -0.001793615F};

/// atan(t) - t for |t| <= 1.
HWY_INLINE FloatVec atan_of_reduced(Floats d, FloatVec t) {
  const auto square = hn::Mul(t, t);
  return hn::Mul(hn::Mul(t, square), polynomial<atan_rest>(d, square));
}

/// pi/2 - (t + low), for t below pi/2.
HWY_INLINE FloatVec minus_from_half_pi(Floats d, FloatVec t, FloatVec low) {
  const auto difference = hn::Sub(hn::Set(d, float_pi_high / 2), t);
  return hn::Sub(difference, hn::Sub(low, hn::Set(d, float_pi_low / 2)));
}

HWY_INLINE FloatVec atan(Floats d, FloatVec x) {
  const auto one = hn::Set(d, 1.0F);
  const auto size = hn::Abs(x);
  const auto is_large = hn::Gt(size, one);
  const auto t = hn::IfThenElse(is_large, hn::Div(one, size), size);
  const auto low = atan_of_reduced(d, t);
  const auto complement = minus_from_half_pi(d, t, low);
  return hn::CopySign(hn::IfThenElse(is_large, complement, hn::Add(t, low)), x);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
