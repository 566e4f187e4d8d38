// Elementary functions of vectors of doubles. Included once per instruction set, from kernel files
// only.
//
// Each comes in two precisions. `single` is for results that are rounded to float: relative errors
// stay below 2^-28, and arguments are floats, so that squares neither overflow nor vanish. `full`
// is for double results: errors stay below 1.5 units in the last place.

#if defined(LOUP_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_MATH_INL_H_
#undef LOUP_KERNELS_MATH_INL_H_
#else
#define LOUP_KERNELS_MATH_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

enum class Precision : std::uint8_t { single, full };

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Polynomials by Estrin's scheme: halves are independent, so that vectors do not wait for each
/// other's last multiplication.
template <const auto& coefficients, std::size_t from, std::size_t count, class D, class V>
HWY_INLINE V polynomial_part(D d, const V* powers) {
  if constexpr (count == 1) {
    return hn::Set(d, static_cast<hn::TFromD<D>>(coefficients[from]));
  } else {
    constexpr std::size_t half = std::bit_floor(count - 1);
    return hn::MulAdd(powers[std::bit_width(half) - 1],
                      polynomial_part<coefficients, from + half, count - half>(d, powers),
                      polynomial_part<coefficients, from, half>(d, powers));
  }
}
/// The sum of coefficients[i] x^i.
template <const auto& coefficients, class D, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V x) {
  constexpr std::size_t count = std::size(coefficients);
  V powers[4] = {x, x, x, x};
  if constexpr (count > 2) powers[1] = hn::Mul(x, x);
  if constexpr (count > 4) powers[2] = hn::Mul(powers[1], powers[1]);
  if constexpr (count > 8) powers[3] = hn::Mul(powers[2], powers[2]);
  static_assert(count <= 16);
  return polynomial_part<coefficients, 0, count>(d, powers);
}

/// x between low and high; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(D d, V x, double low, double high) {
  // The order matters: when one operand is NaN, x86 takes the second.
  using T = hn::TFromD<D>;
  const auto below = hn::Min(hn::Set(d, static_cast<T>(high)), x);
  return hn::Max(hn::Set(d, static_cast<T>(low)), below);
}

/// 1/x to 46 bits, for |x| in the range of floats: a third of the time of a division.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V quick_reciprocal(D d, V x) {
  const hn::Rebind<float, D> narrow;
  const auto one = hn::Set(d, 1.0);
  const auto guess = hn::PromoteTo(d, hn::Div(hn::Set(narrow, 1.0F), hn::DemoteTo(narrow, x)));
  return hn::MulAdd(guess, hn::NegMulAdd(x, guess, one), guess);
}

/// sqrt(x) to 46 bits, for x in the range of floats but not denormal: a third of the time of an
/// exact one. 0 becomes about 1e-18.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V quick_sqrt(D d, V x) {
  const hn::Rebind<float, D> narrow;
  const auto half = hn::Set(d, 0.5);
  const auto positive = hn::Add(x, hn::Set(d, 1e-36));
  const auto guess =
      hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(narrow, positive)));
  // Goldschmidt: root goes to sqrt(x) and half_inverse to 0.5 / sqrt(x); 11 bits, 22, 44.
  auto root = hn::Mul(positive, guess);
  auto half_inverse = hn::Mul(half, guess);
  const auto error = hn::NegMulAdd(root, half_inverse, half);
  root = hn::MulAdd(root, error, root);
  half_inverse = hn::MulAdd(half_inverse, error, half_inverse);
  return hn::MulAdd(root, hn::NegMulAdd(root, half_inverse, half), root);
}

/// `result`, but f(x) in the lanes of `wrong`.
template <double (*f)(double), class D, class V = hn::Vec<D>>
HWY_NOINLINE V replace_lanes(D d, V x, hn::Mask<D> wrong, V result) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T in[lanes<D>];
  HWY_ALIGN T out[lanes<D>];
  hn::Store(x, d, in);
  hn::Store(hn::IfThenElseZero(wrong, hn::Set(d, T{1})), d, out);
  for (std::int64_t i = 0; i < lanes<D>; ++i) {
    if (out[i] != 0) out[i] = static_cast<T>(f(in[i]));
  }
  return hn::IfThenElse(wrong, hn::Load(d, out), result);
}

/// The same for functions of two numbers.
template <double (*f)(double, double), class D, class V = hn::Vec<D>>
HWY_NOINLINE V replace_lanes(D d, V x, V y, hn::Mask<D> wrong, V result) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T a[lanes<D>];
  HWY_ALIGN T b[lanes<D>];
  HWY_ALIGN T out[lanes<D>];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  hn::Store(hn::IfThenElseZero(wrong, hn::Set(d, T{1})), d, out);
  for (std::int64_t i = 0; i < lanes<D>; ++i) {
    if (out[i] != 0) out[i] = static_cast<T>(f(a[i], b[i]));
  }
  return hn::IfThenElse(wrong, hn::Load(d, out), result);
}

// exp

// Adding this to a number below 2^51 rounds it to an integer n; the low bits then hold n + 1023,
// which is what the exponent of 2^n looks like.
inline constexpr double exponent_shift = 0x1.8p52 + 1023;
inline constexpr double ln2 = std::numbers::ln2;
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;  // times any exponent: exact
inline constexpr double ln2_low = 1.9082149292705877e-10;

/// 2^n of a number made by adding exponent_shift to n.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_of_two(D d, V shifted) {
  const hn::RebindToUnsigned<D> words;
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(words, shifted)));
}

/// x = n ln 2 + r with an integer n and |r| <= ln 2 / 2.
template <class V>
struct ReducedExp {
  V shifted;  // n + exponent_shift
  V n;
  V high;  // x - n ln2_high: exact
  V r;
};
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE ReducedExp<V> reduce_exp(D d, V x) {
  const auto shift = hn::Set(d, exponent_shift);
  ReducedExp<V> result;
  result.shifted = hn::MulAdd(x, hn::Set(d, std::numbers::log2e), shift);
  result.n = hn::Sub(result.shifted, shift);
  if constexpr (precision == Precision::single) {
    result.high = x;
    result.r = hn::NegMulAdd(result.n, hn::Set(d, ln2), x);
  } else {
    result.high = hn::NegMulAdd(result.n, hn::Set(d, ln2_high), x);
    result.r = hn::NegMulAdd(result.n, hn::Set(d, ln2_low), result.high);
  }
  return result;
}

// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
inline constexpr double exp_rest_single[] = {0.5000000013502013,    0.16666666756669643,
                                             0.041666464575468076,  0.008333285930578119,
                                             0.0013933688096123204, 0.00019907638835380554};
inline constexpr double exp_rest_full[] = {0.5,
                                           0.1666666666666667,
                                           0.041666666666666685,
                                           0.008333333333326112,
                                           0.0013888888888874337,
                                           0.00019841269874902384,
                                           2.4801587347481444e-05,
                                           2.7557255296507495e-06,
                                           2.7557252777315106e-07,
                                           2.5105260138815775e-08,
                                           2.092163451788944e-09};

/// exp(r) - 1 for |r| <= ln 2 / 2, with a small relative error.
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_near_zero(D d, V r) {
  const auto square = hn::Mul(r, r);
  if constexpr (precision == Precision::single) {
    return hn::MulAdd(square, polynomial<exp_rest_single>(d, r), r);
  } else {
    return hn::MulAdd(square, polynomial<exp_rest_full>(d, r), r);
  }
}

// exp(r) and 2^r, 29 bits.
inline constexpr double exp_single[] = {
    1.0000000005561818,  1.0000000364297517,   0.49999992057067727, 0.16666419683122188,
    0.04166822854739559, 0.008374856988051098, 0.001383680018285112};
inline constexpr double exp2_single[] = {
    1.0000000005566239,   0.6931472058260973,   0.24022646877424178, 0.055503285822419354,
    0.009618489788138163, 0.001340001032685878, 0.000153457497343508};

/// y 2^n also where 2^n itself is no double, as the result may still be one.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale(D d, V y, V n) {
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  return V{_mm512_scalef_pd(y.raw, n.raw)};
#else
  const auto shift = hn::Set(d, exponent_shift);
  const auto half = hn::MulAdd(n, hn::Set(d, 0.5), shift);
  const auto rest = hn::Add(hn::Sub(n, hn::Sub(half, shift)), shift);
  return hn::Mul(hn::Mul(y, power_of_two(d, half)), power_of_two(d, rest));
#endif
}

/// y 2^n = exp(x), y within 0.6 units in the last place.
template <class V>
struct ExpParts {
  V y, n;
};
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE ExpParts<V> exp_parts(D d, V x) {
  static_assert(precision == Precision::full);
  const auto one = hn::Set(d, 1.0);
  const auto e = reduce_exp<precision>(d, x);
  const auto rest = hn::Mul(hn::Mul(e.r, e.r), polynomial<exp_rest_full>(d, e.r));
  const auto y = hn::Add(one, e.high);
  const auto lost = hn::Sub(e.high, hn::Sub(y, one));
  const auto small = hn::NegMulAdd(e.n, hn::Set(d, ln2_low), lost);
  return {hn::Add(y, hn::Add(rest, small)), e.n};
}

template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  if constexpr (precision == Precision::single) {
    const auto e = reduce_exp<precision>(d, clamp(d, x, -700, 700));
    return hn::Mul(polynomial<exp_single>(d, e.r), power_of_two(d, e.shifted));
  } else {
    const auto e = exp_parts<precision>(d, clamp(d, x, -750, 710));
    return scale(d, e.y, e.n);
  }
}

template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V exp2(D d, V x) {
  const auto shift = hn::Set(d, exponent_shift);
  const auto clamped =
      precision == Precision::single ? clamp(d, x, -1000, 1000) : clamp(d, x, -1100, 1025);
  const auto shifted = hn::Add(clamped, shift);
  const auto n = hn::Sub(shifted, shift);
  const auto r = hn::Sub(clamped, n);
  if constexpr (precision == Precision::single) {
    return hn::Mul(polynomial<exp2_single>(d, r), power_of_two(d, shifted));
  } else {
    const auto rest = expm1_near_zero<precision>(d, hn::Mul(r, hn::Set(d, ln2)));
    return scale(d, hn::Add(hn::Set(d, 1.0), rest), n);
  }
}

/// exp(x) - 1 with a small relative error also near 0.
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  const auto one = hn::Set(d, 1.0);
  const auto e = reduce_exp<precision>(d, clamp(d, x, -100, 709));
  const auto power = power_of_two(d, e.shifted);
  return hn::MulAdd(power, expm1_near_zero<precision>(d, e.r), hn::Sub(power, one));
}

// log

// (log(1 + f) - f) / f^2 between sqrt(1/2) - 1 and sqrt(2) - 1: 30 bits.
inline constexpr double log_single[] = {
    -0.4999999975204582,  0.3333331075607971, -0.25000025907106993, 0.20002224380482397,
    -0.166676843356081,   0.1421758043316461, -0.12407332231025925, 0.11901734894738715,
    -0.11676520802732535, 0.06723869586740495};
// (log(1 + f) - 2s) / s^3 as a function of s^2, s = f / (2 + f).
inline constexpr double log_full[] = {0.6666666666666666,  0.4000000000000089,  0.2857142857079645,
                                      0.2222222239322406,  0.18181795488745783, 0.15386247484449872,
                                      0.13268574999188035, 0.13088606271230044};

/// x = 2^k (1 + f) with an integer k and 1 + f between sqrt(1/2) and sqrt(2), for positive x.
/// Denormals are taken care of in full precision only.
template <class V>
struct ReducedLog {
  V k;
  V f;
};
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE ReducedLog<V> reduce_log(D d, V x) {
  const auto one = hn::Set(d, 1.0);
#if HWY_TARGET <= HWY_AVX3
  // These give what makes the logarithms of 0, infinity and negative numbers right.
  const V exponent{_mm512_getexp_pd(x.raw)};
  const V m{_mm512_getmant_pd(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
  const auto is_large = hn::Gt(m, hn::Set(d, std::numbers::sqrt2));
  return {hn::IfThenElse(is_large, hn::Add(exponent, one), exponent),
          hn::Sub(hn::IfThenElse(is_large, hn::Mul(m, hn::Set(d, 0.5)), m), one)};
#else
  const hn::RebindToUnsigned<D> words;
  constexpr auto one_bits = std::bit_cast<std::uint64_t>(1.0);
  constexpr auto lowest = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  constexpr auto integer = std::bit_cast<std::uint64_t>(0x1p52);  // its low bits are an integer
  auto bias = hn::Set(d, 0x1p52 + 1023);
  if constexpr (precision == Precision::full) {
    const auto is_denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
    x = hn::IfThenElse(is_denormal, hn::Mul(x, hn::Set(d, 0x1p54)), x);
    bias = hn::IfThenElse(is_denormal, hn::Set(d, 0x1p52 + 1023 + 54), bias);
  }
  const auto moved = hn::Add(hn::BitCast(words, x), hn::Set(words, one_bits - lowest));
  const auto exponent = hn::Or(hn::ShiftRight<52>(moved), hn::Set(words, integer));
  const auto fraction = hn::And(moved, hn::Set(words, 0x000F'FFFF'FFFF'FFFF));
  const auto m = hn::BitCast(d, hn::Add(fraction, hn::Set(words, lowest)));
  return {hn::Sub(hn::BitCast(d, exponent), bias), hn::Sub(m, one)};
#endif
}

/// `result`, but what a logarithm is where x is not a positive finite number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V with_log_limits([[maybe_unused]] D d, [[maybe_unused]] V x, V result) {
#if HWY_TARGET <= HWY_AVX3
  return result;  // as reduce_log made it
#else
  using T = hn::TFromD<D>;
  const auto zero = hn::Zero(d);
  const auto inf = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const auto is_regular = hn::And(hn::Gt(x, zero), hn::Lt(x, inf));
  if (HWY_LIKELY(hn::AllTrue(d, is_regular))) return result;
  auto limit = hn::IfThenElse(hn::Lt(x, zero), nan, x);
  limit = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), limit);
  return hn::IfThenElse(is_regular, result, limit);
#endif
}

template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  if constexpr (precision == Precision::single) {
    const auto [k, f] = reduce_log<precision>(d, x);
    const auto log1p = hn::MulAdd(hn::Mul(f, f), polynomial<log_single>(d, f), f);
    return with_log_limits(d, x, hn::MulAdd(k, hn::Set(d, ln2), log1p));
  } else {
    const auto [k, f] = reduce_log<precision>(d, x);
    const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
    const auto square = hn::Mul(s, s);
    // log(1 + f) = 2s + s^3 R = f - (f^2/2 - s (f^2/2 + s^2 R)), where f is exact.
    const auto half_f2 = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
    const auto rest = hn::MulAdd(square, polynomial<log_full>(d, square), half_f2);
    const auto low = hn::MulAdd(s, rest, hn::Mul(k, hn::Set(d, ln2_low)));
    const auto sum = hn::Sub(f, hn::Sub(half_f2, low));
    return with_log_limits(d, x, hn::MulAdd(k, hn::Set(d, ln2_high), sum));
  }
}

// log2(1 + f) / s as a function of s^2, s = f / (2 + f): 43 bits.
inline constexpr double log2_of_quotient[] = {2.8853900817779268, 0.9617966939363589,
                                              0.5770779988193512, 0.41220331868642207,
                                              0.3201523758542834, 0.2793769634918764};

/// log2(x) for the sake of pow, where the error is multiplied by the exponent. Single precision.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V careful_log2(D d, V x) {
  const auto [k, f] = reduce_log<Precision::single>(d, x);
  const auto s = hn::Mul(f, quick_reciprocal(d, hn::Add(hn::Set(d, 2.0), f)));
  const auto result = hn::MulAdd(s, polynomial<log2_of_quotient>(d, hn::Mul(s, s)), k);
  return with_log_limits(d, x, result);
}

/// log(1 + x) with a small relative error also near 0.
template <Precision precision, class D, class V = hn::Vec<D>>
HWY_INLINE V log1p(D d, V x) {
  static_assert(precision == Precision::single);
  const auto one = hn::Set(d, 1.0);
  const auto sum = hn::Add(one, x);
  const auto lost = hn::Sub(x, hn::Sub(sum, one));  // what the addition rounded away
  const auto result = hn::CopySign(hn::Add(log<precision>(d, sum), lost), x);
  return hn::IfThenElse(hn::Eq(x, hn::Set(d, infinity)), x, result);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
