// Helpers shared by the SIMD kernels. Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SIMD_INL_H_
#undef LOUP_KERNELS_SIMD_INL_H_
#else
#define LOUP_KERNELS_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "loup/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes of a tag as a signed constant. (MaxLanes is exact on every target we compile.)
template <class D>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));

/// Highway's type with the bits of ours.
template <class T>
struct SimdType {
  using type = T;
};
template <>
struct SimdType<Float16> {
  using type = hwy::float16_t;
};
template <>
struct SimdType<BFloat16> {
  using type = hwy::bfloat16_t;
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
/// What scalar code computes elements in, and what reductions of them give: half types are float.
template <class T>
using FullType = std::conditional_t<is_half<T>, float, T>;

/// Without F16C Highway 1.0.3 widens inf and NaN of float16 to finite numbers.
inline constexpr bool widens_float16 = HWY_TARGET <= HWY_AVX2;

/// Float16 by arithmetic on bits, where the instruction set has nothing or nothing right for it.
template <class D>
HWY_INLINE hn::Vec<D> float16_to_float(D d, hn::Vec<hn::RebindToUnsigned<D>> half) {
  const hn::RebindToUnsigned<D> du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(du, 0x7FFFU)));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000U)));
  // The exponents are 112 apart, also those of subnormal numbers.
  const auto scaled = hn::BitCast(du, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112F)));
  const auto is_finite = hn::Lt(magnitude, hn::Set(du, 0x0F800000U));
  const auto bits = hn::IfThenElse(is_finite, scaled, hn::Or(magnitude, hn::Set(du, 0x7F800000U)));
  return hn::BitCast(d, hn::Or(bits, sign));
}

/// Loads one vector of elements, widened to the lanes; half types also as their bits.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    return hn::LoadU(d, x);
  } else if constexpr (is_half<T> && std::is_same_v<hn::TFromD<D>, double>) {
    return hn::PromoteTo(d, load(hn::Rebind<float, D>(), x));
  } else if constexpr (is_half<T> && std::is_same_v<hn::TFromD<D>, std::int16_t>) {
    return hn::LoadU(d, reinterpret_cast<const std::int16_t*>(x));
  } else if constexpr (std::is_same_v<T, Float16> && !widens_float16) {
    const hn::Rebind<std::uint16_t, D> stored;
    const auto bits = hn::LoadU(stored, reinterpret_cast<const std::uint16_t*>(x));
    return float16_to_float(d, hn::PromoteTo(hn::RebindToUnsigned<D>(), bits));
  } else {
    const hn::Rebind<typename SimdType<T>::type, D> stored;
    return hn::PromoteTo(
        d, hn::LoadU(stored, reinterpret_cast<const hn::TFromD<decltype(stored)>*>(x)));
  }
}

/// A chunk of 32 bfloat16 is two vectors of float lanes: one shift gives the elements at even
/// places, one AND those at odd ones, where widening in order takes twice as many instructions and
/// a mask for each vector. What does not count is replaced before, as bfloat16.
template <class T, class D>
inline constexpr bool is_paired = HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, BFloat16> &&
                                  std::is_same_v<hn::TFromD<D>, float> && lanes<D> == 16;

template <class D>
struct Pair {
  hn::Vec<D> even, odd;
};
/// `fill` where elements do not count, or lie behind the first `count`.
template <class D, class Mask>
HWY_INLINE Pair<D> load_pair(D d, const BFloat16* x, Mask mask, BFloat16 fill,
                             std::int64_t count = 2 * lanes<D>) {
  const hn::Repartition<std::uint16_t, D> halves;
  const hn::RebindToUnsigned<D> words;
  auto v = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(x));
  const auto none = hn::Set(halves, fill.bits);
  v = mask.select(halves, v, none);
  if (count < 2 * lanes<D>) {
    v = hn::IfThenElse(hn::FirstN(halves, static_cast<std::size_t>(count)), v, none);
  }
  const auto both = hn::BitCast(words, v);
  return {hn::BitCast(d, hn::ShiftLeft<16>(both)),
          hn::BitCast(d, hn::And(both, hn::Set(words, 0xffff0000U)))};
}
/// Lanes of pairs in the order of their elements: the first half of them is `even`, the other
/// `odd`.
template <class D>
HWY_INLINE void unpair([[maybe_unused]] D d, [[maybe_unused]] hn::Vec<D>& even,
                       [[maybe_unused]] hn::Vec<D>& odd) {
#if HWY_TARGET <= HWY_AVX3
  HWY_ALIGN constexpr std::int32_t low[16] = {0, 16, 1, 17, 2, 18, 3, 19,
                                              4, 20, 5, 21, 6, 22, 7, 23};
  const auto first = _mm512_load_si512(low);
  const auto second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
  const auto elements = even;
  even = hn::Vec<D>{_mm512_permutex2var_ps(elements.raw, first, odd.raw)};
  odd = hn::Vec<D>{_mm512_permutex2var_ps(elements.raw, second, odd.raw)};
#endif
}

/// Every element counts.
struct NoMask {
  HWY_INLINE NoMask operator+(std::int64_t /*offset*/) const { return {}; }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V keep(D /*d*/, V v) const {
    return v;
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V select(D /*d*/, V yes, V /*no*/) const {
    return yes;
  }
  HWY_INLINE bool operator[](std::int64_t /*i*/) const { return true; }
};

/// One byte for each element; nonzero counts.
struct ByteMask {
  const std::uint8_t* bytes;

  HWY_INLINE ByteMask operator+(std::int64_t offset) const { return {bytes + offset}; }

  template <class D>
  HWY_INLINE hn::Mask<D> lanes_of(D d) const {
    const hn::Rebind<std::uint8_t, D> d8;
#if HWY_TARGET <= HWY_AVX3
    // A test of bytes gives a bit for each, which is what masks of all lanes are.
    using Mask = hn::Mask<D>;
    return Mask{static_cast<typename Mask::Raw>(hn::Ne(hn::LoadU(d8, bytes), hn::Zero(d8)).raw)};
#else
    if constexpr (sizeof(hn::TFromD<D>) == 2) {
      const hn::Rebind<std::int16_t, D> d16;
      return hn::RebindMask(d, hn::Ne(hn::PromoteTo(d16, hn::LoadU(d8, bytes)), hn::Zero(d16)));
    } else {
      const hn::Rebind<std::int32_t, D> d32;
      const auto wide = hn::PromoteTo(d32, hn::LoadU(d8, bytes));
      if constexpr (sizeof(hn::TFromD<D>) == 8) {
        const hn::Rebind<std::int64_t, D> d64;
        return hn::RebindMask(d, hn::Ne(hn::PromoteTo(d64, wide), hn::Zero(d64)));
      } else {
        return hn::RebindMask(d, hn::Ne(wide, hn::Zero(d32)));
      }
    }
#endif
  }

  /// Selects, never multiplies: what is masked may be NaN.
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V keep(D d, V v) const {
    return hn::IfThenElseZero(lanes_of(d), v);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V select(D d, V yes, V no) const {
    return hn::IfThenElse(lanes_of(d), yes, no);
  }
  HWY_INLINE bool operator[](std::int64_t i) const { return bytes[i] != 0; }
};

HWY_INLINE void prefetch_bytes(NoMask /*m*/, std::int64_t /*ahead*/) {}
HWY_INLINE void prefetch_bytes(ByteMask m, std::int64_t ahead) { hwy::Prefetch(m.bytes + ahead); }

/// How far ahead a loop along a row fetches.
inline constexpr std::int64_t bytes_ahead = 4096;

/// Fetches what a loop along a row will read some turns later, of `lines_per_turn` cache lines
/// each: hardware does so, too, but stops at the end of every page.
template <int lines_per_turn, std::int64_t ahead = bytes_ahead, class T, class Mask>
HWY_INLINE void prefetch(const T* x, Mask mask) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x) + ahead;
  for (int i = 0; i < lines_per_turn; ++i) hwy::Prefetch(bytes + 64 * i);
  prefetch_bytes(mask, ahead / static_cast<std::int64_t>(sizeof(T)));
}

// Which lanes of a vector count.
struct AllLanes {
  template <class D>
  HWY_INLINE hn::Vec<D> keep(D /*d*/, hn::Vec<D> v) const {
    return v;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> select(D /*d*/, hn::Vec<D> yes, hn::Vec<D> /*no*/) const {
    return yes;
  }
  template <class D>
  HWY_INLINE hn::Mask<D> both(D /*d*/, hn::Mask<D> other) const {
    return other;
  }
};
template <class D>
struct SomeLanes {
  hn::Mask<D> counts;
  HWY_INLINE hn::Vec<D> keep(D /*d*/, hn::Vec<D> v) const { return hn::IfThenElseZero(counts, v); }
  HWY_INLINE hn::Vec<D> select(D /*d*/, hn::Vec<D> yes, hn::Vec<D> no) const {
    return hn::IfThenElse(counts, yes, no);
  }
  HWY_INLINE hn::Mask<D> both(D /*d*/, hn::Mask<D> other) const { return hn::And(counts, other); }
};
template <class D>
HWY_INLINE AllLanes lanes_that_count(D /*d*/, NoMask /*m*/) {
  return {};
}
template <class D>
HWY_INLINE SomeLanes<D> lanes_that_count(D d, ByteMask m) {
  return {m.lanes_of(d)};
}
/// Of which only the first `count` are inside the row.
template <class D>
HWY_INLINE SomeLanes<D> lanes_that_count(D d, NoMask /*m*/, std::int64_t count) {
  return {hn::FirstN(d, static_cast<std::size_t>(count))};
}
template <class D>
HWY_INLINE SomeLanes<D> lanes_that_count(D d, ByteMask m, std::int64_t count) {
  return {hn::And(hn::FirstN(d, static_cast<std::size_t>(count)), m.lanes_of(d))};
}

// Which rows of a block count, and which of their columns.
struct WholeRows {
  const std::uint8_t* bytes;  // null: all rows count
  std::int64_t step;
  HWY_INLINE bool all() const { return bytes == nullptr; }
  HWY_INLINE bool counts(std::int64_t r) const { return all() || bytes[r * step] != 0; }
  HWY_INLINE NoMask mask(std::int64_t /*r*/) const { return {}; }
};
struct MaskedRows {
  const std::uint8_t* bytes;
  std::int64_t step;
  HWY_INLINE bool all() const { return true; }
  HWY_INLINE bool counts(std::int64_t /*r*/) const { return true; }
  HWY_INLINE ByteMask mask(std::int64_t r) const { return {bytes + r * step}; }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
