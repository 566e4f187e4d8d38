// Philox for as many blocks at once as there are 64-bit lanes. Included once per instruction set,
// from kernel files only.

#if defined(LOUP_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_PHILOX_INL_H_
#undef LOUP_KERNELS_PHILOX_INL_H_
#else
#define LOUP_KERNELS_PHILOX_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "loup/kernels/philox.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

using LongTag = hn::ScalableTag<std::uint64_t>;
using WordTag = hn::ScalableTag<std::uint32_t>;
using LongVec = hn::Vec<LongTag>;
using WordVec = hn::Vec<WordTag>;

/// How many blocks are made at once.
inline constexpr std::int64_t philox_lanes = lanes<LongTag>;

/// Exchanges the 32-bit halves of every 64-bit lane.
HWY_INLINE LongVec swap_halves(LongVec v) {
  return hn::BitCast(LongTag(), hn::Shuffle2301(hn::BitCast(WordTag(), v)));
}

/// The lower halves of `low` and, above them, those of `high`.
HWY_INLINE LongVec join_halves(LongVec low, LongVec high) {
  const WordTag d;
  return hn::BitCast(LongTag(),
                     hn::OddEven(hn::BitCast(d, swap_halves(high)), hn::BitCast(d, low)));
}

/// Word j of each block in the lower halves of word[j]; the upper halves hold anything.
struct PhiloxWords {
  LongVec word[4];

  // Lane 2 * j belongs to block j and lane 2 * j + 1 to block lanes / 2 + j, so that interleaving
  // inside of 128 bits, which is cheap, puts everything in order.

  /// Interleaves what the blocks' first and second halves became: the first part of the elements.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first_part(D d, V a, V b) {
    return hn::InterleaveLower(d, a, b);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second_part(D d, V a, V b) {
    return hn::InterleaveUpper(d, a, b);
  }
  /// The words in the order of the stream, as two vectors.
  HWY_INLINE LongVec first() const { return first_part(LongTag(), lower(), upper()); }
  HWY_INLINE LongVec second() const { return second_part(LongTag(), lower(), upper()); }
  /// Words 0 and 1 of each block, and words 2 and 3.
  HWY_INLINE LongVec lower() const { return join_halves(word[0], word[1]); }
  HWY_INLINE LongVec upper() const { return join_halves(word[2], word[3]); }
};

/// Makes the blocks of a stream, some after the other.
class Philox {
 public:
  explicit HWY_INLINE Philox(const RandomStream& stream)
      : key0_(static_cast<std::uint32_t>(stream.key)),
        key1_(static_cast<std::uint32_t>(stream.key >> 32U)) {
    constexpr auto half = static_cast<std::uint64_t>(philox_lanes / 2);
    HWY_ALIGN std::uint64_t blocks[philox_lanes];
    for (std::uint64_t j = 0; j < half; ++j) {
      blocks[2 * j] = stream.first_block + j;
      blocks[2 * j + 1] = stream.first_block + half + j;
    }
    counter_ = hn::Load(LongTag(), blocks);
  }

  HWY_INLINE PhiloxWords next() {
    const LongTag d;
    PhiloxWords state{{counter_, swap_halves(counter_), hn::Zero(d), hn::Zero(d)}};
    counter_ = hn::Add(counter_, hn::Set(d, static_cast<std::uint64_t>(philox_lanes)));
    std::uint32_t key0 = key0_;
    std::uint32_t key1 = key1_;
    HWY_UNROLL(10)
    for (int round = 0; round < philox_rounds; ++round) {
      const LongVec a = product(state.word[0], philox_multipliers[0]);
      const LongVec b = product(state.word[2], philox_multipliers[1]);
      state.word[0] = hn::Xor3(swap_halves(b), state.word[1], hn::Set(d, key0));
      state.word[2] = hn::Xor3(swap_halves(a), state.word[3], hn::Set(d, key1));
      state.word[1] = b;
      state.word[3] = a;
      key0 += philox_weyl[0];
      key1 += philox_weyl[1];
    }
    return state;
  }

 private:
  static HWY_INLINE LongVec product(LongVec v, std::uint32_t factor) {
    const WordTag d;
    return hn::MulEven(hn::BitCast(d, v), hn::Set(d, factor));
  }

  LongVec counter_;
  std::uint32_t key0_;
  std::uint32_t key1_;
};

/// Writes `count` elements of `words` words each: `make(blocks, i, to)` writes all that one call of
/// Philox is good for, from element i on.
template <std::int64_t words, class T, class Make>
HWY_INLINE void generate(const RandomStream& stream, T* to, std::int64_t count, Make make) {
  constexpr std::int64_t step = 4 * philox_lanes / words;
  Philox philox(stream);
  std::int64_t i = 0;
  for (; i + step <= count; i += step) make(philox.next(), i, to + i);
  if (i == count) return;
  T rest[step];
  make(philox.next(), i, rest);
  std::copy_n(rest, count - i, to + i);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
