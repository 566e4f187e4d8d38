// Normal numbers from random words, by Box and Muller. Included once per instruction set, from
// kernel files only.
//
// Only operations that IEEE 754 rounds, in a fixed order and without fused multiply-add, so that
// every instruction set gives the same bits. Power series suffice: the errors they leave are below
// those of rounding.

#if defined(LOUP_KERNELS_NORMAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_NORMAL_INL_H_
#undef LOUP_KERNELS_NORMAL_INL_H_
#else
#define LOUP_KERNELS_NORMAL_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <numbers>

#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// 1/3, 1/5, …: (atanh(x) / x - 1) / z = 1/3 + z / 5 + … with z = x^2.
template <class T, std::size_t terms>
struct AtanhSeries {
  T factor[terms];
  constexpr AtanhSeries() : factor{} {
    for (std::size_t k = 0; k < terms; ++k) factor[k] = T(1) / static_cast<T>(2 * k + 3);
  }
};

// -1/3!, 1/5!, …: (sin(x) / x - 1) / z = -1/3! + z / 5! - …; from 2! on those of (cos(x) - 1) / z.
template <class T, std::size_t terms, int first>
struct CircularSeries {
  T factor[terms];
  constexpr CircularSeries() : factor{} {
    double value = 1;
    for (int n = 2; n < first; ++n) value /= n;
    for (std::size_t k = 0; k < terms; ++k) {
      const int n = first + 2 * static_cast<int>(k);
      value /= k == 0 ? -n : -n * (n - 1);
      factor[k] = static_cast<T>(value);
    }
  }
};

/// factor[k] + factor[k + 1] * z + …
template <class Series, std::size_t k = 0, class D, class V = hn::Vec<D>>
HWY_INLINE V series(D d, V z) {
  constexpr Series all;
  if constexpr (k + 1 == std::size(all.factor)) {
    return hn::Set(d, all.factor[k]);
  } else {
    return hn::Add(hn::Mul(series<Series, k + 1>(d, z), z), hn::Set(d, all.factor[k]));
  }
}

template <class T>
struct NormalSeries;
template <>
struct NormalSeries<float> {
  using Log = AtanhSeries<float, 4>;
  using Sin = CircularSeries<float, 4, 3>;
  using Cos = CircularSeries<float, 5, 2>;
};
template <>
struct NormalSeries<double> {
  using Log = AtanhSeries<double, 11>;
  using Sin = CircularSeries<double, 8, 3>;
  using Cos = CircularSeries<double, 9, 2>;
};

/// As many bits of a signed word, from the top, as convert to the float type without surprises.
template <class DI>
HWY_INLINE hn::Vec<DI> significant(DI /*d*/, hn::Vec<DI> v) {
  if constexpr (sizeof(hn::TFromD<DI>) == 8) {
    return hn::ShiftRight<11>(v);
  } else {
    return v;
  }
}

/// sqrt(-2 ln u) with u in (0, 1) from a random word.
template <class D>
HWY_INLINE hn::Vec<D> normal_radius(D d, hn::Vec<hn::RebindToUnsigned<D>> word) {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  using Int = hn::TFromD<decltype(di)>;
  constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
  constexpr T unit = sizeof(T) == 8 ? static_cast<T>(0x1p-53) : static_cast<T>(0x1p-32);
  // The word as a signed number is u where u < 1/2 and u - 1 elsewhere, so it has all its bits
  // both near 0, where the tail of the distribution is, and near 1.
  const auto v = significant(di, hn::BitCast(di, word));
  const V y = hn::Mul(hn::Add(hn::ConvertTo(d, v), hn::Set(d, T(0.5))), hn::Set(d, unit));
  const auto is_upper = hn::RebindMask(d, hn::Lt(v, hn::Zero(di)));
  const V u = hn::Add(y, hn::IfThenElseZero(is_upper, hn::Set(d, T(1))));
  // u = m * 2^e with m from sqrt(1/2) to sqrt(2).
  const auto root_half = hn::BitCast(di, hn::Set(d, std::numbers::sqrt2_v<T> / 2));
  const auto bits = hn::BitCast(di, u);
  const auto e = hn::ShiftRight<mantissa>(hn::Sub(bits, root_half));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<mantissa>(e)));
  const auto is_near_1 = hn::RebindMask(d, hn::Eq(e, hn::Set(di, Int(0))));
  const V f = hn::IfThenElse(is_near_1, y, hn::Sub(m, hn::Set(d, T(1))));
  // ln(1 + f) = 2 atanh(f / (2 + f)).
  const V s = hn::Div(f, hn::Add(f, hn::Set(d, T(2))));
  const V z = hn::Mul(s, s);
  const V atanh = hn::Add(s, hn::Mul(hn::Mul(s, z), series<typename NormalSeries<T>::Log>(d, z)));
  const V exponent = hn::Mul(hn::ConvertTo(d, e), hn::Set(d, T(-2) * std::numbers::ln2_v<T>));
  return hn::Sqrt(hn::Sub(exponent, hn::Mul(hn::Set(d, T(4)), atanh)));
}

/// Cosine and sine of an angle from a random word, all angles being equally likely.
template <class D>
struct Direction {
  hn::Vec<D> cos, sin;

  HWY_INLINE Direction(D d, hn::Vec<hn::RebindToUnsigned<D>> word) {
    using T = hn::TFromD<D>;
    using V = hn::Vec<D>;
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    using Word = hn::TFromD<decltype(du)>;
    constexpr int bits = static_cast<int>(sizeof(T)) * 8;
    constexpr Word quarter = Word(1) << (bits - 2);
    constexpr T unit = static_cast<T>(std::numbers::pi * (sizeof(T) == 8 ? 0x1p-54 : 0x1p-33));
    // The two bits at the top say which quarter of the circle is nearest, counted from 0; the rest
    // is the angle to it, signed and four times too large.
    const auto turned = hn::Add(word, hn::Set(du, quarter / 2));
    const auto rest = hn::ShiftLeft<2>(word);
    const V angle =
        hn::Mul(hn::ConvertTo(d, significant(di, hn::BitCast(di, rest))), hn::Set(d, unit));
    const V z = hn::Mul(angle, angle);
    const V s =
        hn::Add(angle, hn::Mul(hn::Mul(angle, z), series<typename NormalSeries<T>::Sin>(d, z)));
    const V c = hn::Add(hn::Set(d, T(1)), hn::Mul(z, series<typename NormalSeries<T>::Cos>(d, z)));
    const auto is_turned =
        hn::RebindMask(d, hn::Ne(hn::And(turned, hn::Set(du, quarter)), hn::Zero(du)));
    const auto sign = hn::Set(du, Word(1) << (bits - 1));
    const auto cos_sign = hn::And(hn::Add(turned, hn::Set(du, quarter)), sign);
    const auto sin_sign = hn::And(turned, sign);
    cos = hn::Xor(hn::IfThenElse(is_turned, s, c), hn::BitCast(d, cos_sign));
    sin = hn::Xor(hn::IfThenElse(is_turned, c, s), hn::BitCast(d, sin_sign));
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
