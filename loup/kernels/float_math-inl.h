// Exponentials and logarithms of vectors of floats, for the functions that are used most: twice as
// fast as double lanes, with errors of about one unit in the last place. Included once per
// instruction set, from kernel files only.

#if defined(LOUP_KERNELS_FLOAT_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_FLOAT_MATH_INL_H_
#undef LOUP_KERNELS_FLOAT_MATH_INL_H_
#else
#define LOUP_KERNELS_FLOAT_MATH_INL_H_
#endif

#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;
using FloatVec = hn::Vec<Floats>;

// Adding this to a number below 2^22 rounds it to an integer.
inline constexpr float float_shift = 0x1.8p23F;
inline constexpr float float_ln2_high = 0x1.62e4p-1F;  // 15 bits: exact times an exponent
inline constexpr float float_ln2_low = 1.4286068e-6F;

/// y 2^n for an integer n, of which `shifted` is the sum with float_shift; rounds once also where
/// 2^n or the result is no normal number.
HWY_INLINE FloatVec scale(Floats d, FloatVec y, FloatVec n, FloatVec shifted) {
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  (void)shifted;
  return FloatVec{_mm512_scalef_ps(y.raw, n.raw)};
#else
  (void)n;
  const hn::RebindToSigned<Floats> words;
  constexpr auto shift_bits = std::bit_cast<std::int32_t>(float_shift);
  const auto exponent = hn::Sub(hn::BitCast(words, shifted), hn::Set(words, shift_bits));
  const auto half = hn::ShiftRight<1>(exponent);
  const auto bias = hn::Set(words, 127);
  const auto first = hn::ShiftLeft<23>(hn::Add(half, bias));
  const auto second = hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias));
  return hn::Mul(hn::Mul(y, hn::BitCast(d, first)), hn::BitCast(d, second));
#endif
}

/// 2^n where that is a normal number.
HWY_INLINE FloatVec small_power_of_two(Floats d, FloatVec shifted) {
  const hn::RebindToUnsigned<Floats> words;
  const auto exponent = hn::Add(hn::BitCast(words, shifted), hn::Set(words, 127));
  return hn::BitCast(d, hn::ShiftLeft<23>(exponent));
}

// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2: 27 bits.
inline constexpr float exp_rest_float[] = {0.5F, 0.16666577F, 0.041666375F, 0.008363205F,
                                           0.0013941164F};

/// x = n ln 2 + r with an integer n and |r| <= ln 2 / 2.
struct ReducedFloatExp {
  FloatVec shifted;  // n + float_shift
  FloatVec n;
  FloatVec high;  // x - n float_ln2_high: exact
  FloatVec r;
};
HWY_INLINE ReducedFloatExp reduce_exp(Floats d, FloatVec x) {
  const auto shift = hn::Set(d, float_shift);
  const auto log2e = hn::Set(d, static_cast<float>(std::numbers::log2e));
  const auto shifted = hn::MulAdd(x, log2e, shift);
  const auto n = hn::Sub(shifted, shift);
  const auto high = hn::NegMulAdd(n, hn::Set(d, float_ln2_high), x);
  return {shifted, n, high, hn::NegMulAdd(n, hn::Set(d, float_ln2_low), high)};
}

/// exp(x) within 1.1 units in the last place.
HWY_INLINE FloatVec exp(Floats d, FloatVec x) {
  const auto e = reduce_exp(d, clamp(d, x, -104, 89));
  const auto rest = polynomial<exp_rest_float>(d, e.r);
  const auto expm1 = hn::MulAdd(hn::Mul(e.r, e.r), rest, e.r);
  return scale(d, hn::Add(hn::Set(d, 1.0F), expm1), e.n, e.shifted);
}

/// (y + low) 2^n = exp(x), for what has roundings of its own to add; y alone is within 0.6 units in
/// the last place.
struct FloatExpParts {
  FloatVec y, low, n, shifted;
};
HWY_INLINE FloatExpParts careful_exp(Floats d, FloatVec x) {
  const auto one = hn::Set(d, 1.0F);
  const auto e = reduce_exp(d, x);
  const auto rest = polynomial<exp_rest_float>(d, e.r);
  const auto sum = hn::Add(one, e.high);
  const auto lost = hn::Sub(e.high, hn::Sub(sum, one));
  const auto known = hn::NegMulAdd(e.n, hn::Set(d, float_ln2_low), lost);
  const auto small = hn::MulAdd(hn::Mul(e.r, e.r), rest, known);
  const auto y = hn::Add(sum, small);
  return {y, hn::Sub(small, hn::Sub(y, sum)), e.n, e.shifted};
}
HWY_INLINE FloatVec scale(Floats d, const FloatExpParts& e) {
  return scale(d, e.y, e.n, e.shifted);
}

// (2^r - 1) / r for |r| <= 1/2: 27 bits.
inline constexpr float exp2_rest_float[] = {0.6931472F,   0.2402265F,    0.05550357F,
                                            0.009618031F, 0.0013390889F, 0.00015469796F};

HWY_INLINE FloatVec exp2(Floats d, FloatVec x) {
  const auto shift = hn::Set(d, float_shift);
  const auto clamped = clamp(d, x, -151, 129);
  const auto shifted = hn::Add(clamped, shift);
  const auto n = hn::Sub(shifted, shift);
  const auto r = hn::Sub(clamped, n);
  const auto y = hn::MulAdd(r, polynomial<exp2_rest_float>(d, r), hn::Set(d, 1.0F));
  return scale(d, y, n, shifted);
}

/// exp(x) - 1; the sign of 0 is lost.
HWY_INLINE FloatVec expm1(Floats d, FloatVec x) {
  const auto half = hn::Set(d, 0.5F);
  const auto e = reduce_exp(d, clamp(d, x, -20, 89));
  const auto known = hn::Mul(e.n, hn::Set(d, -float_ln2_low));
  const auto small = hn::MulAdd(hn::Mul(e.r, e.r), polynomial<exp_rest_float>(d, e.r), known);
  // Half of (2^n - 1) + 2^n (high + small), as 2^n may be infinite already.
  const auto power = scale(d, half, e.n, e.shifted);
  const auto base = hn::Sub(power, half);
  const auto sum = hn::MulAdd(power, e.high, base);
  const auto lost = hn::MulAdd(power, e.high, hn::Sub(base, sum));
  const auto result = hn::Add(sum, hn::MulAdd(power, small, lost));
  return hn::Add(result, result);
}

/// x = 2^k m with an integer k and m between sqrt(1/2) and sqrt(2), for positive x.
struct ReducedFloatLog {
  FloatVec k, m;
};
HWY_INLINE ReducedFloatLog reduce_log(Floats d, FloatVec x) {
#if HWY_TARGET <= HWY_AVX3
  // These give what makes the logarithms of 0, infinity and negative numbers right.
  const FloatVec exponent{_mm512_getexp_ps(x.raw)};
  const FloatVec m{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
  const auto is_large = hn::Gt(m, hn::Set(d, static_cast<float>(std::numbers::sqrt2)));
  return {hn::IfThenElse(is_large, hn::Add(exponent, hn::Set(d, 1.0F)), exponent),
          hn::IfThenElse(is_large, hn::Mul(m, hn::Set(d, 0.5F)), m)};
#else
  const hn::RebindToSigned<Floats> words;
  const auto is_denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const auto normal = hn::IfThenElse(is_denormal, hn::Mul(x, hn::Set(d, 0x1p25F)), x);
  const auto bits = hn::BitCast(words, normal);
  const auto lowest =
      hn::Set(words, std::bit_cast<std::int32_t>(static_cast<float>(std::numbers::sqrt2 / 2)));
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, lowest));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const auto added = hn::IfThenElseZero(is_denormal, hn::Set(d, 25.0F));
  return {hn::Sub(hn::ConvertTo(d, exponent), added), m};
#endif
}

#if HWY_TARGET <= HWY_AVX3
/// Whether k is finite: for 0 and infinity the hardware gives infinite exponents.
HWY_INLINE hn::Mask<Floats> is_exponent(Floats d, FloatVec k) {
  return hn::Lt(hn::Abs(k), hn::Set(d, 200.0F));
}
#endif

// (log(1 + f) - f + f^2 / 2) / f^3 between sqrt(1/2) - 1 and sqrt(2) - 1: 27 bits.
inline constexpr float log_rest_float[] = {0.3333333F,  -0.25000823F, 0.20001236F, -0.16623333F,
                                           0.14201556F, -0.13160223F, 0.1276307F,  -0.0763629F};

/// log(1 + f) - f for the same f.
HWY_INLINE FloatVec log1p_rest(Floats d, FloatVec f) {
  const auto half = hn::Set(d, -0.5F);
  return hn::Mul(hn::Mul(f, f), hn::MulAdd(f, polynomial<log_rest_float>(d, f), half));
}

/// k ln 2 + f + rest.
HWY_INLINE FloatVec log_of_parts(Floats d, FloatVec k, FloatVec f, FloatVec rest) {
  const auto small = hn::MulAdd(k, hn::Set(d, float_ln2_low), rest);
  return hn::MulAdd(k, hn::Set(d, float_ln2_high), hn::Add(small, f));
}

HWY_INLINE FloatVec log(Floats d, FloatVec x) {
  const auto [k, m] = reduce_log(d, x);
  const auto f = hn::Sub(m, hn::Set(d, 1.0F));
  const auto result = log_of_parts(d, k, f, log1p_rest(d, f));
  return with_log_limits(d, x, result);
}

/// The logarithm to a base b, given as numbers in two parts, log_b(e) and log_b(2).
struct LogBase {
  float e_high, e_low;
  float two_high, two_low;
};
inline constexpr LogBase base_two{1.4426950216293335F, 1.925963033500011e-08F, 1, 0};
inline constexpr LogBase base_ten{0.4342944920063019F, -1.0103049952192578e-08F, 0x1.3440p-2F,
                                  4.605039066518657e-06F};

template <const LogBase& base>
HWY_INLINE FloatVec log_to_base(Floats d, FloatVec x) {
  const auto [k, m] = reduce_log(d, x);
  const auto f = hn::Sub(m, hn::Set(d, 1.0F));
  const auto e_high = hn::Set(d, base.e_high);
  auto small = hn::MulAdd(f, hn::Set(d, base.e_low), hn::Mul(log1p_rest(d, f), e_high));
  if constexpr (base.two_low != 0) small = hn::MulAdd(k, hn::Set(d, base.two_low), small);
  const auto fraction = hn::MulAdd(f, e_high, small);
  return with_log_limits(d, x, hn::MulAdd(k, hn::Set(d, base.two_high), fraction));
}

/// log(1 + x).
HWY_INLINE FloatVec log1p(Floats d, FloatVec x) {
  const auto one = hn::Set(d, 1.0F);
  const auto sum = hn::Add(one, x);
  const auto [k, m] = reduce_log(d, sum);
  // What the addition rounded away; for large x it is the 1 that suffers.
  const auto is_large = hn::Gt(x, one);
  const auto larger = hn::IfThenElse(is_large, x, one);
  const auto smaller = hn::IfThenElse(is_large, one, x);
  const auto lost = hn::Sub(smaller, hn::Sub(sum, larger));
#if HWY_TARGET <= HWY_AVX3
  const FloatVec scaled{_mm512_maskz_scalef_ps(is_exponent(d, k).raw, lost.raw, hn::Neg(k).raw)};
#else
  const auto shift = hn::Set(d, float_shift);
  const auto inverse = hn::Max(hn::Set(d, -126.0F), hn::Neg(k));
  const auto scaled = scale(d, lost, inverse, hn::Add(inverse, shift));
#endif
  const auto rounded = hn::Sub(m, one);
  const auto f = hn::Add(rounded, scaled);
  const auto low = hn::Sub(scaled, hn::Sub(f, rounded));
  const auto log = log_of_parts(d, k, f, hn::Add(log1p_rest(d, f), low));
  const auto result = with_log_limits(d, sum, log);
  return hn::CopySign(result, x);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
