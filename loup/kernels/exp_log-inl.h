// Exponentials and logarithms in the precision of their lanes, with errors of about one unit in the
// last place: vectors of floats and of doubles alike. Included once per instruction set, from
// kernel files only.

#if defined(LOUP_KERNELS_EXP_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_EXP_LOG_INL_H_
#undef LOUP_KERNELS_EXP_LOG_INL_H_
#else
#define LOUP_KERNELS_EXP_LOG_INL_H_
#endif

#include <type_traits>

#include "loup/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// What differs between floats and doubles.
template <class T>
struct ExpLog;

template <>
struct ExpLog<float> {
  // Adding this to a number of less than 22 bits rounds it to an integer.
  static constexpr float shift = 0x1.8p23F;
  static constexpr float ln2_high = 0x1.62e4p-1F;  // times any exponent: exact
  static constexpr float ln2_low = 1.4286068e-6F;
  // Beyond these, results are 0 and infinite.
  static constexpr float exp_least = -104, exp_most = 89;
  static constexpr float exp2_least = -151, exp2_most = 129;
  // (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2, (2^r - 1) / r for |r| <= 1/2: 27 bits.
  static constexpr float exp_rest[] = {0.5F, 0.16666577F, 0.041666375F, 0.008363205F,
                                       0.0013941164F};
  static constexpr float exp2_rest[] = {0.6931472F,   0.2402265F,    0.05550357F,
                                        0.009618031F, 0.0013390889F, 0.00015469796F};
  // (log(1 + f) - f + f^2 / 2) / f^3 between sqrt(1/2) - 1 and sqrt(2) - 1: 27 bits.
  static constexpr float log_rest[] = {0.3333333F,  -0.25000823F, 0.20001236F, -0.16623333F,
                                       0.14201556F, -0.13160223F, 0.1276307F,  -0.0763629F};
};

template <>
struct ExpLog<double> {
  static constexpr double shift = 0x1.8p52;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1;
  static constexpr double ln2_low = 1.9082149292705877e-10;
  static constexpr double exp_least = -750, exp_most = 710;
  static constexpr double exp2_least = -1080, exp2_most = 1025;
  static constexpr double exp_rest[] = {0.5,
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
  static constexpr double exp2_rest[] = {
      0.6931471805599453,     0.24022650695910072,   0.055504108664821625,   0.009618129107628487,
      0.0013333558146406434,  0.000154035303933547,  1.5252733841602806e-05, 1.3215486823379091e-06,
      1.0178057063986603e-07, 7.054891431650668e-09, 4.455822133018659e-10,  2.573786878596948e-11};
  // (log(1 + f) - 2s) / s^3 as a function of s^2, s = f / (2 + f), for the same f.
  static constexpr double log_rest[] = {
      0.6666666666666666,  0.4000000000000089,  0.2857142857079645,  0.2222222239322406,
      0.18181795488745783, 0.15386247484449872, 0.13268574999188035, 0.13088606271230044};
};

template <class D>
using ExpLogOf = ExpLog<hn::TFromD<D>>;

/// y 2^n for an integer n that fits an exponent twice; rounds once also where 2^n or the result is
/// no normal number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale([[maybe_unused]] D d, V y, V n) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<D, Floats>) {
    return V{_mm512_scalef_ps(y.raw, n.raw)};
  } else {
    return V{_mm512_scalef_pd(y.raw, n.raw)};
  }
#else
  // In two steps; the low bits of n + shift + bias are those of the exponent of 2^n.
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> words;
  constexpr int position = std::is_same_v<T, float> ? 23 : 52;
  constexpr T bias = std::is_same_v<T, float> ? 127 : 1023;
  const auto shift = hn::Set(d, ExpLog<T>::shift + bias);
  const auto half = hn::MulAdd(n, hn::Set(d, T{0.5}), shift);
  const auto rest = hn::Add(hn::Sub(n, hn::Sub(half, shift)), shift);
  const auto first = hn::BitCast(d, hn::ShiftLeft<position>(hn::BitCast(words, half)));
  const auto second = hn::BitCast(d, hn::ShiftLeft<position>(hn::BitCast(words, rest)));
  return hn::Mul(hn::Mul(y, first), second);
#endif
}

#if HWY_TARGET <= HWY_AVX3
/// 2^(k / 32).
HWY_ALIGN inline constexpr float roots_of_2[32] = {
    1.0F,       1.0218972F, 1.0442737F, 1.0671405F, 1.0905077F, 1.1143868F, 1.1387886F, 1.1637249F,
    1.1892071F, 1.2152474F, 1.2418578F, 1.269051F,  1.2968396F, 1.3252367F, 1.3542556F, 1.38391F,
    1.4142135F, 1.4451808F, 1.4768262F, 1.5091645F, 1.5422108F, 1.5759809F, 1.6104903F, 1.6457555F,
    1.6817929F, 1.7186193F, 1.7562522F, 1.7947091F, 1.8340081F, 1.8741677F, 1.9152066F, 1.9571441F};
/// For the k whose five bits the words of `at` end in.
HWY_INLINE FloatVec root_of_2(FloatVec at) {
  const auto k = _mm512_castps_si512(at.raw);
  return FloatVec{
      _mm512_permutex2var_ps(_mm512_load_ps(roots_of_2), k, _mm512_load_ps(roots_of_2 + 16))};
}

/// exp(x) of floats by less than half of the polynomial: x = (n + k / 32) ln 2 + r, and two
/// registers hold all 2^(k / 32).
HWY_INLINE FloatVec exp_by_roots(FloatVec x) {
  using C = ExpLog<float>;
  const Floats d;
  const auto shift = hn::Set(d, C::shift / 32);
  const auto shifted = hn::MulAdd(x, hn::Set(d, std::numbers::log2e_v<float>), shift);
  const auto n = hn::Sub(shifted, shift);  // with k / 32: scaling takes the integer below
  const auto high = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  const auto r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), high);
  const auto root = root_of_2(shifted);
  const auto slope =
      hn::MulAdd(hn::MulAdd(r, hn::Set(d, 1 / 6.0F), hn::Set(d, 0.5F)), r, hn::Set(d, 1.0F));
  return scale(d, hn::MulAdd(hn::Mul(r, root), slope, root), n);
}
#endif

/// x = n ln 2 + r with an integer n and |r| <= ln 2 / 2.
template <class V>
struct ReducedExp {
  V n;
  V high;  // x - n ln2_high: exact
  V r;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE ReducedExp<V> reduce_exp(D d, V x) {
  using C = ExpLogOf<D>;
  const auto shift = hn::Set(d, C::shift);
  const auto log2e = hn::Set(d, static_cast<hn::TFromD<D>>(std::numbers::log2e));
  const auto n = hn::Sub(hn::MulAdd(x, log2e, shift), shift);
  const auto high = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  return {n, high, hn::NegMulAdd(n, hn::Set(d, C::ln2_low), high)};
}

/// exp(x) within 1.1 units in the last place, for x between exp_least and exp_most.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_within(D d, V x) {
  using C = ExpLogOf<D>;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<D, Floats>) return exp_by_roots(x);
#endif
  const auto e = reduce_exp(d, x);
  const auto expm1 = hn::MulAdd(hn::Mul(e.r, e.r), polynomial<C::exp_rest>(d, e.r), e.r);
  return scale(d, hn::Add(hn::Set(d, hn::TFromD<D>{1}), expm1), e.n);
}

/// The same for all x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  using C = ExpLogOf<D>;
  return exp_within(d, clamp(d, x, C::exp_least, C::exp_most));
}

/// (y + low) 2^n = exp(x), for what has roundings of its own to add; y alone is within 0.6 units in
/// the last place.
template <class V>
struct ExpParts {
  V y, low, n;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE ExpParts<V> careful_exp(D d, V x) {
  using C = ExpLogOf<D>;
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  const auto e = reduce_exp(d, x);
  const auto rest = polynomial<C::exp_rest>(d, e.r);
  const auto sum = hn::Add(one, e.high);
  const auto lost = hn::Sub(e.high, hn::Sub(sum, one));
  const auto known = hn::NegMulAdd(e.n, hn::Set(d, C::ln2_low), lost);
  const auto small = hn::MulAdd(hn::Mul(e.r, e.r), rest, known);
  const auto y = hn::Add(sum, small);
  return {y, hn::Sub(small, hn::Sub(y, sum)), e.n};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2(D d, V x) {
  using C = ExpLogOf<D>;
  const auto clamped = clamp(d, x, C::exp2_least, C::exp2_most);
  const auto shift = hn::Set(d, C::shift);
  const auto n = hn::Sub(hn::Add(clamped, shift), shift);
  const auto r = hn::Sub(clamped, n);
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  return scale(d, hn::MulAdd(r, polynomial<C::exp2_rest>(d, r), one), n);
}

/// 2^x within 2.5 units in the last place, by half of the instructions that exp takes: sums that
/// are rounded to half types ask for no more. What is too large becomes infinite, NaN stays NaN,
/// and 2^x of hardly anything is 1.
HWY_INLINE FloatVec brief_exp2(FloatVec x) {
  const Floats d;
#if HWY_TARGET <= HWY_AVX3
  // x = n + k / 32 + r.
  constexpr int to_nearest_32nd = 5 << 4;
  const FloatVec r{_mm512_reduce_ps(x.raw, to_nearest_32nd)};
  // As an integer this ends in k. (It does not wait for r.)
  const auto root = root_of_2(hn::Add(x, hn::Set(d, ExpLog<float>::shift / 32)));
  const auto slope = hn::MulAdd(hn::Set(d, 0.2402285F), r, hn::Set(d, 0.69315734F));
  return scale(d, hn::MulAdd(hn::Mul(r, root), slope, root), hn::Sub(x, r));
#else
  const auto clamped = clamp(d, x, ExpLog<float>::exp2_least, ExpLog<float>::exp2_most);
  const auto shift = hn::Set(d, ExpLog<float>::shift);
  const auto n = hn::Sub(hn::Add(clamped, shift), shift);
  // 2^r for |r| <= 1/2. Each multiplication waits for the one before, but there are fewer of them
  // than by Estrin's scheme, and other vectors to go on with.
  const auto r = hn::Sub(clamped, n);
  auto y = hn::MulAdd(hn::Set(d, 0.0013264718F), r, hn::Set(d, 0.009671513F));
  y = hn::MulAdd(y, r, hn::Set(d, 0.05550734F));
  y = hn::MulAdd(y, r, hn::Set(d, 0.24022242F));
  y = hn::MulAdd(y, r, hn::Set(d, 0.693147F));
  return scale(d, hn::MulAdd(y, r, hn::Set(d, 1.0F)), n);
#endif
}

/// exp(x) - 1; the sign of 0 is lost.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  using C = ExpLogOf<D>;
  const auto half = hn::Set(d, hn::TFromD<D>{0.5});
  const auto e = reduce_exp(d, clamp(d, x, -40, C::exp_most));
  const auto known = hn::Mul(e.n, hn::Set(d, -C::ln2_low));
  const auto small = hn::MulAdd(hn::Mul(e.r, e.r), polynomial<C::exp_rest>(d, e.r), known);
  // Half of (2^n - 1) + 2^n (high + small), as 2^n may be infinite already.
  const auto power = scale(d, half, e.n);
  const auto base = hn::Sub(power, half);
  const auto sum = hn::MulAdd(power, e.high, base);
  const auto lost = hn::MulAdd(power, e.high, hn::Sub(base, sum));
  const auto result = hn::Add(sum, hn::MulAdd(power, small, lost));
  return hn::Add(result, result);
}

/// x = 2^k (1 + f) with an integer k and 1 + f between sqrt(1/2) and sqrt(2), for positive x. (What
/// it gives for others is put right by with_log_limits.)
template <class V>
struct ReducedLog {
  V k, f;
};
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE FloatVec exponent_of(FloatVec x) { return FloatVec{_mm512_getexp_ps(x.raw)}; }
HWY_INLINE DoubleVec exponent_of(DoubleVec x) { return DoubleVec{_mm512_getexp_pd(x.raw)}; }
/// Between 1 and 2; NaN for negative x.
HWY_INLINE FloatVec significand_of(FloatVec x) {
  return FloatVec{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
}
HWY_INLINE DoubleVec significand_of(DoubleVec x) {
  return DoubleVec{_mm512_getmant_pd(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE ReducedLog<V> reduce_log(D d, V x) {
  using T = hn::TFromD<D>;
  const auto one = hn::Set(d, T{1});
  const auto exponent = exponent_of(x);
  const auto m = significand_of(x);
  const auto is_large = hn::Gt(m, hn::Set(d, static_cast<T>(std::numbers::sqrt2)));
  const auto halved = hn::IfThenElse(is_large, hn::Mul(m, hn::Set(d, T{0.5})), m);
  return {hn::IfThenElse(is_large, hn::Add(exponent, one), exponent), hn::Sub(halved, one)};
}
/// Infinite exponents already made it -inf and inf for 0 and inf.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V with_log_limits(D /*d*/, V /*x*/, V result) {
  return result;
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE ReducedLog<V> reduce_log(D d, V x) {
  using T = hn::TFromD<D>;
  using Word = hn::TFromD<hn::RebindToUnsigned<D>>;
  const hn::RebindToUnsigned<D> words;
  constexpr int position = std::is_same_v<T, float> ? 23 : 52;
  constexpr auto one = std::bit_cast<Word>(T{1});
  constexpr auto lowest = std::bit_cast<Word>(static_cast<T>(std::numbers::sqrt2 / 2));
  // The low bits of this are an integer, to which an exponent can be added.
  constexpr T integer = std::is_same_v<T, float> ? T{0x1p23} : T{0x1p52};
  constexpr T bias = std::is_same_v<T, float> ? 127 : 1023;
  const auto is_denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const auto scaled = hn::Mul(x, hn::Set(d, integer));
  const auto normal = hn::BitCast(words, hn::IfThenElse(is_denormal, scaled, x));
  const auto moved = hn::Add(normal, hn::Set(words, one - lowest));
  const auto exponent =
      hn::Or(hn::ShiftRight<position>(moved), hn::Set(words, std::bit_cast<Word>(integer)));
  const auto added = hn::IfThenElse(is_denormal, hn::Set(d, integer + bias + position),
                                    hn::Set(d, integer + bias));
  const auto fraction = hn::And(moved, hn::Set(words, (Word{1} << position) - 1));
  const auto m = hn::BitCast(d, hn::Add(fraction, hn::Set(words, lowest)));
  return {hn::Sub(hn::BitCast(d, exponent), added), hn::Sub(m, hn::Set(d, T{1}))};
}
/// `result`, but what a logarithm is where x is not a positive finite number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V with_log_limits(D d, V x, V result) {
  using T = hn::TFromD<D>;
  const auto zero = hn::Zero(d);
  const auto inf = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const auto is_regular = hn::And(hn::Gt(x, zero), hn::Lt(x, inf));
  if (HWY_LIKELY(hn::AllTrue(d, is_regular))) return result;
  auto limit = hn::IfThenElse(hn::Lt(x, zero), nan, x);
  limit = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), limit);
  return hn::IfThenElse(is_regular, result, limit);
}
#endif

/// log(1 + f) - f between sqrt(1/2) - 1 and sqrt(2) - 1.
HWY_INLINE FloatVec log1p_rest(Floats d, FloatVec f) {
  const auto rest = polynomial<ExpLog<float>::log_rest>(d, f);
  return hn::Mul(hn::Mul(f, f), hn::MulAdd(f, rest, hn::Set(d, -0.5F)));
}
HWY_INLINE DoubleVec log1p_rest(Doubles d, DoubleVec f) {
  // 2s + s^3 R = f - (f^2/2 - s (f^2/2 + s^2 R))
  const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const auto square = hn::Mul(s, s);
  const auto half_f2 = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
  const auto rest = hn::MulAdd(square, polynomial<ExpLog<double>::log_rest>(d, square), half_f2);
  return hn::MulSub(s, rest, half_f2);
}

/// k ln 2 + f + rest.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_parts(D d, V k, V f, V rest) {
  using C = ExpLogOf<D>;
  const auto small = hn::MulAdd(k, hn::Set(d, C::ln2_low), rest);
  return hn::MulAdd(k, hn::Set(d, C::ln2_high), hn::Add(small, f));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const auto [k, f] = reduce_log(d, x);
  return with_log_limits(d, x, log_of_parts(d, k, f, log1p_rest(d, f)));
}

/// The logarithm to a base b, given by log_b(e) and log_b(2), each in two parts.
template <class T>
struct LogBase {
  T e_high, e_low;
  T two_high, two_low;
};
template <class T>
inline constexpr LogBase<T> base_two{};
template <class T>
inline constexpr LogBase<T> base_ten{};
template <>
inline constexpr LogBase<float> base_two<float>{1.442695F, 1.925963e-8F, 1, 0};
template <>
inline constexpr LogBase<float> base_ten<float>{0.4342945F, -1.010305e-8F, 0x1.344p-2F,
                                                4.605039e-6F};
template <>
inline constexpr LogBase<double> base_two<double>{0x1.71547652b82fep+0, 2.0355273740931033e-17, 1,
                                                  0};
template <>
inline constexpr LogBase<double> base_ten<double>{0x1.bcb7b1526e50ep-2, 1.098319650216765e-17,
                                                  0x1.3441350800000p-2, 1.1451100898021838e-10};

template <const auto& base, class D, class V = hn::Vec<D>>
HWY_INLINE V log_to_base(D d, V x) {
  const auto [k, f] = reduce_log(d, x);
  const auto e_high = hn::Set(d, base.e_high);
  auto small = hn::MulAdd(f, hn::Set(d, base.e_low), hn::Mul(log1p_rest(d, f), e_high));
  if constexpr (base.two_low != 0) small = hn::MulAdd(k, hn::Set(d, base.two_low), small);
  const auto fraction = hn::MulAdd(f, e_high, small);
  return with_log_limits(d, x, hn::MulAdd(k, hn::Set(d, base.two_high), fraction));
}

/// log(1 + x).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p(D d, V x) {
  using T = hn::TFromD<D>;
  const auto one = hn::Set(d, T{1});
  const auto sum = hn::Add(one, x);
  const auto [k, rounded] = reduce_log(d, sum);
  // What the addition rounded away; for large x it is the 1 that suffers.
  const auto is_large = hn::Gt(x, one);
  const auto larger = hn::IfThenElse(is_large, x, one);
  const auto smaller = hn::IfThenElse(is_large, one, x);
  const auto lost = hn::Sub(smaller, hn::Sub(sum, larger));
  // At -1 and inf, k may be infinite and `lost` NaN.
  const auto is_usual = hn::Lt(hn::Abs(k), hn::Set(d, T{2000}));
  const auto scaled = hn::IfThenElseZero(is_usual, scale(d, lost, hn::Neg(k)));
  const auto f = hn::Add(rounded, scaled);
  const auto low = hn::Sub(scaled, hn::Sub(f, rounded));
  const auto result = log_of_parts(d, k, f, hn::Add(log1p_rest(d, f), low));
  return hn::CopySign(with_log_limits(d, sum, result), x);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
