// Exponentials and logarithms of doubles that are rounded to floats in the end: relative errors are
// below 2^-28, and arguments are floats, so that their squares neither overflow nor vanish.
// Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_WIDE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_WIDE_MATH_INL_H_
#undef LOUP_KERNELS_WIDE_MATH_INL_H_
#else
#define LOUP_KERNELS_WIDE_MATH_INL_H_
#endif

#include "loup/kernels/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// Adding this to a number of less than 51 bits rounds it to an integer n; the low bits then hold
// n + 1023, which is what the exponent of 2^n looks like.
inline constexpr double exponent_shift = 0x1.8p52 + 1023;

/// 2^n of a number made by adding exponent_shift to n.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_of_two(D d, V shifted) {
  const hn::RebindToUnsigned<D> words;
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(words, shifted)));
}

// exp(r) and 2^r, 29 bits.
inline constexpr double exp_single[] = {
    1.0000000005561818,  1.0000000364297517,   0.49999992057067727, 0.16666419683122188,
    0.04166822854739559, 0.008374856988051098, 0.001383680018285112};
inline constexpr double exp2_single[] = {
    1.0000000005566239,   0.6931472058260973,   0.24022646877424178, 0.055503285822419354,
    0.009618489788138163, 0.001340001032685878, 0.000153457497343508};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_exp(D d, V x) {
  const auto clamped = clamp(d, x, -700, 700);
  const auto shift = hn::Set(d, exponent_shift);
  const auto shifted = hn::MulAdd(clamped, hn::Set(d, std::numbers::log2e), shift);
  const auto n = hn::Sub(shifted, shift);
  const auto r = hn::NegMulAdd(n, hn::Set(d, std::numbers::ln2), clamped);
  return hn::Mul(polynomial<exp_single>(d, r), power_of_two(d, shifted));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_exp2(D d, V x) {
  const auto clamped = clamp(d, x, -1000, 1000);
  const auto shift = hn::Set(d, exponent_shift);
  const auto shifted = hn::Add(clamped, shift);
  const auto r = hn::Sub(clamped, hn::Sub(shifted, shift));
  return hn::Mul(polynomial<exp2_single>(d, r), power_of_two(d, shifted));
}

// (log(1 + f) - f) / f^2 between sqrt(1/2) - 1 and sqrt(2) - 1: 30 bits.
inline constexpr double log_single[] = {
    -0.4999999975204582,  0.3333331075607971, -0.25000025907106993, 0.20002224380482397,
    -0.166676843356081,   0.1421758043316461, -0.12407332231025925, 0.11901734894738715,
    -0.11676520802732535, 0.06723869586740495};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_log(D d, V x) {
  const auto [k, f] = reduce_log(d, x);
  const auto log1p = hn::MulAdd(hn::Mul(f, f), polynomial<log_single>(d, f), f);
  return with_log_limits(d, x, hn::MulAdd(k, hn::Set(d, std::numbers::ln2), log1p));
}

/// log(1 + x) for positive x, with a small relative error also near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_log1p(D d, V x) {
  const auto one = hn::Set(d, 1.0);
  const auto sum = hn::Add(one, x);
  const auto lost = hn::Sub(x, hn::Sub(sum, one));  // what the addition rounded away
  return hn::Add(wide_log(d, sum), lost);
}

// log2(1 + f) / s as a function of s^2, s = f / (2 + f): 43 bits.
inline constexpr double log2_of_quotient[] = {2.8853900817779268, 0.9617966939363589,
                                              0.5770779988193512, 0.41220331868642207,
                                              0.3201523758542834, 0.2793769634918764};

/// log2(x) for the sake of pow, where the error is multiplied by the exponent.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V careful_log2(D d, V x) {
  const auto [k, f] = reduce_log(d, x);
  const auto s = hn::Mul(f, quick_reciprocal(d, hn::Add(hn::Set(d, 2.0), f)));
  const auto result = hn::MulAdd(s, polynomial<log2_of_quotient>(d, hn::Mul(s, s)), k);
  return with_log_limits(d, x, result);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
