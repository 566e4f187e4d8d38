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

/// Adds to counts[i] how many rows of a tile count in column c + i.
template <std::int64_t fixed_rows, class D, class T, class P>
HWY_INLINE void add_counts(D /*d*/, const Tile<T, ByteMask>& tile, std::int64_t c, P* counts) {
  const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
  // At most eight rows, so bytes do not overflow.
  const hn::CappedTag<std::uint8_t, lanes<D>> d8;
  const hn::Rebind<std::int32_t, decltype(d8)> d32;
  const auto one = hn::Set(d8, 1);
  auto sums = hn::Zero(d8);
  for (std::int64_t r = 0; r < rows; ++r) {
    sums = hn::Add(sums, hn::Min(hn::LoadU(d8, tile.mask[r].bytes + c), one));
  }
  widen<P>(d32, hn::PromoteTo(d32, sums), [&](auto dw, std::int64_t at, auto wide) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(dw, counts + at), wide), dw, counts + at);
  });
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
