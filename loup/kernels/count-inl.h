// Counting the elements that count. Included once per instruction set.

#if defined(LOUP_KERNELS_COUNT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_COUNT_INL_H_
#undef LOUP_KERNELS_COUNT_INL_H_
#else
#define LOUP_KERNELS_COUNT_INL_H_
#endif

#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

HWY_INLINE std::int64_t count_of(NoMask /*m*/, std::int64_t count) { return count; }

/// Bytes other than 0.
HWY_INLINE std::int64_t count_of(ByteMask m, std::int64_t count) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::ScalableTag<std::uint64_t> d64;
  constexpr std::int64_t N = lanes<decltype(d8)>;
  const auto one = hn::Set(d8, 1);
  auto sums = hn::Zero(d64);
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    sums = hn::Add(sums, hn::SumsOf8(hn::Min(hn::LoadU(d8, m.bytes + i), one)));
  }
  auto total = static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, m.bytes + i, 8);
    // The high bit of each byte other than 0.
    total += __builtin_popcountll((((word & low_bits) + low_bits) | word) & ~low_bits);
  }
  for (; i < count; ++i) total += m.bytes[i] != 0 ? 1 : 0;
  return total;
}

/// The same as eight numbers that add up to it, for masks that may be read to the end of a chunk of
/// 32 bytes and are not longer than 256.
template <class P>
HWY_INLINE void spread_count(NoMask /*m*/, std::int64_t count, P* out) {
  std::fill_n(out, 8, P{});
  out[0] = static_cast<P>(count);
}
template <class P>
HWY_INLINE void spread_count(ByteMask m, std::int64_t count, P* out) {
  const hn::CappedTag<std::uint8_t, 32> d8;
  const hn::Repartition<std::int64_t, decltype(d8)> d64;
  const hn::Rebind<P, decltype(d64)> dp;
  constexpr std::int64_t N = lanes<decltype(d8)>;
  const auto one = hn::Set(d8, 1);
  auto sums = hn::Zero(d8);
  std::int64_t i = 0;
  for (; i + N <= count; i += N) sums = hn::Add(sums, hn::Min(hn::LoadU(d8, m.bytes + i), one));
  if (i < count) {
    const auto inside = hn::FirstN(d8, static_cast<std::size_t>(count - i));
    sums = hn::Add(sums, hn::Min(hn::IfThenElseZero(inside, hn::LoadU(d8, m.bytes + i)), one));
  }
  const auto eights = hn::BitCast(d64, hn::SumsOf8(sums));
  std::fill_n(out, 8, P{});
  if constexpr (std::is_integral_v<P>) {
    hn::StoreU(eights, dp, out);
  } else {
    hn::StoreU(hn::ConvertTo(dp, eights), dp, out);
  }
}

/// Counts of the lanes of D in up to 255 masks, for counters of type P.
template <class D, class P>
class LaneCounts {
#if HWY_TARGET <= HWY_AVX3
  // The bits that say which lanes count are there already: one addition for each mask.
  static constexpr bool is_wide = sizeof(hn::TFromD<D>) == sizeof(P);
  using DC = hn::Rebind<std::conditional_t<is_wide, P, std::int32_t>, D>;
#else
  static constexpr bool is_wide = false;
  using DC = hn::Rebind<std::uint8_t, D>;
#endif

 public:
  HWY_INLINE LaneCounts() : counts_(hn::Zero(DC())) {}

  HWY_INLINE void add(ByteMask mask) {
    const DC d;
    const auto one = hn::Set(d, hn::TFromD<DC>{1});
#if HWY_TARGET <= HWY_AVX3
    counts_ = mask.select(d, hn::Add(counts_, one), counts_);
#else
    counts_ = hn::Add(counts_, hn::Min(hn::LoadU(d, mask.bytes), one));
#endif
  }
  /// Adds them to a vector of counters.
  HWY_INLINE void into(P* counters) const {
    const auto add_to = [&](auto d, std::int64_t at, auto counts) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, counters + at), counts), d, counters + at);
    };
    const hn::Rebind<std::int32_t, D> words;
    if constexpr (is_wide) {
      add_to(DC(), 0, counts_);
    } else if constexpr (sizeof(hn::TFromD<DC>) == 1) {
      widen<P>(words, hn::PromoteTo(words, counts_), add_to);
    } else {
      widen<P>(words, counts_, add_to);
    }
  }

 private:
  hn::Vec<DC> counts_;
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
