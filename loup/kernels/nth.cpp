#include "loup/kernels/nth.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/nth.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/simd-inl.h"

// Selection by brackets: a sample of the keys tells between which two the wanted one lies, most
// likely; one pass counts what is below and keeps what is inside. A few keys are told apart by
// counting for each how many are smaller. Nothing branches on single elements.

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
/// The shortest integers that hold the keys, of which vectors have the most.
template <class T>
using ShortKeyOf = std::conditional_t<sizeof(T) <= 2, std::int16_t, KeyOf<T>>;

/// So many keys at most are told apart by counting; also the size of a sample.
constexpr std::int64_t few = 64;
/// After so many brackets the keys are of a kind that samples do not describe.
constexpr int most_brackets = 16;

// --- from elements to keys ---

/// Elements as they are in memory, widened to the size of keys.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_bits(D d, const T* x) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(x));
  } else {
    using Stored = std::conditional_t<
        sizeof(T) == 2, std::int16_t,
        std::conditional_t<std::is_same_v<T, std::int8_t>, std::int8_t, std::uint8_t>>;
    const hn::Rebind<Stored, D> stored;
    return hn::PromoteTo(d, hn::LoadU(stored, reinterpret_cast<const Stored*>(x)));
  }
}

template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// All bits but the sign, and those of infinity, above which there are only NaN.
template <class T>
constexpr KeyOf<T> magnitude_bits() {
  return static_cast<KeyOf<T>>(sizeof(T) == 2 ? 0x7FFF : std::numeric_limits<KeyOf<T>>::max());
}
template <class T>
constexpr KeyOf<T> infinity_bits() {
  if constexpr (std::is_same_v<T, Float16>) {
    return 0x7C00;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x7F80;
  } else if constexpr (sizeof(T) == 4) {
    return 0x7F800000;
  } else {
    return static_cast<KeyOf<T>>(0x7FF0000000000000);
  }
}

/// Of negative numbers the greater magnitude is the smaller. Its own inverse.
template <class T, class D, class V = hn::Vec<D>>
HWY_INLINE V ordered(D d, V bits) {
  if constexpr (is_real<T>) {
    const auto negative = hn::BroadcastSignBit(bits);
    return hn::Xor(bits, hn::And(negative, hn::Set(d, magnitude_bits<T>())));
  } else {
    return bits;
  }
}

/// Which of the lanes count.
template <class D>
HWY_INLINE hn::Mask<D> counted(D d, ByteMask mask) {
  return mask.lanes_of(d);
}
template <class D>
HWY_INLINE hn::Mask<D> counted(D d, NoMask /*mask*/) {
  return hn::FirstN(d, hn::MaxLanes(d));
}

/// The chosen lanes, side by side. Not by Highway for 64 bits: 1.0.3 looks them up in a table that
/// it copies for every vector.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V compressed(D d, V v, hn::Mask<D> mask) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_maskz_compress_epi64(mask.raw, v.raw)};
#else
    const hn::Repartition<std::uint32_t, D> words;  // pairs
    const auto both = hn::MaskFromVec(hn::BitCast(words, hn::VecFromMask(d, mask)));
    return hn::BitCast(d, hn::Compress(hn::BitCast(words, v), both));
#endif
  } else {
    return hn::Compress(v, mask);
  }
}

template <class T, class Mask>
HWY_INLINE std::int64_t collect_run(const T* x, Mask mask, std::int64_t count, KeyOf<T>* keys,
                                    bool& has_nan) {
  const hn::ScalableTag<KeyOf<T>> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  auto greatest = hn::Zero(d);  // magnitude
  std::int64_t written = 0;
  const auto magnitude = hn::Set(d, magnitude_bits<T>());
  const auto take = [&](const T* from, auto chosen) HWY_ATTR {
    const auto bits = load_bits(d, from);
    const auto counts = counted(d, chosen);
    if constexpr (is_real<T>) {
      greatest = hn::Max(greatest, hn::IfThenElseZero(counts, hn::And(bits, magnitude)));
    }
    const auto key = ordered<T>(d, bits);
    if constexpr (std::is_same_v<decltype(chosen), NoMask>) {
      hn::StoreU(key, d, keys + written);
      written += N;
    } else {
      hn::StoreU(compressed(d, key, counts), d, keys + written);
      written += static_cast<std::int64_t>(hn::CountTrue(d, counts));
    }
  };
  std::int64_t i = 0;
  // Narrower elements take longer to compute than to read.
  constexpr std::int64_t turn = 8;  // elements of a cache line
  if constexpr (sizeof(T) == 8) {
    for (; i + turn <= count; i += turn) {
      prefetch<1>(x + i, mask + i);
      for (std::int64_t k = 0; k < turn; k += N) take(x + i + k, mask + i + k);
    }
  }
  for (; i + N <= count; i += N) take(x + i, mask + i);
  if (i < count) {
    // Nobody can predict masks, so not one by one.
    T rest[N] = {};
    std::uint8_t chosen[N] = {};
    std::copy_n(x + i, count - i, rest);
    if constexpr (std::is_same_v<Mask, NoMask>) {
      std::fill_n(chosen, count - i, std::uint8_t{1});
    } else {
      std::copy_n(mask.bytes + i, count - i, chosen);
    }
    take(rest, ByteMask{chosen});
  }
  if constexpr (is_real<T>) {
    has_nan |= hn::GetLane(hn::MaxOfLanes(d, greatest)) > infinity_bits<T>();
  }
  return written;
}

template <class T>
std::int64_t collect(const std::byte* x, const std::uint8_t* mask, std::int64_t count,
                     std::byte* keys, bool& has_nan) {
  const T* const from = reinterpret_cast<const T*>(x);
  auto* const to = reinterpret_cast<KeyOf<T>*>(keys);
  if (mask == nullptr) return collect_run(from, NoMask{}, count, to, has_nan);
  return collect_run(from, ByteMask{mask}, count, to, has_nan);
}

// --- selection ---

template <class D, class V = hn::Vec<D>>
HWY_INLINE V count_where(D d, V counts, hn::Mask<D> mask) {
#if HWY_TARGET <= HWY_AVX3
  return hn::IfThenElse(mask, hn::Add(counts, hn::Set(d, hn::TFromD<D>{1})), counts);
#else
  return hn::Sub(counts, hn::VecFromMask(d, mask));
#endif
}

template <class K>
struct Bracket {
  K low, high;
};

/// Up to `few` keys, and room for whole vectors.
template <class K>
using FewKeys = std::array<K, few + 2 * lanes<hn::ScalableTag<K>>>;

/// The keys at two places of the first `count` keys when those are sorted. Writes the greatest key
/// behind them, up to whole vectors: it stands last.
template <class K>
HWY_INLINE Bracket<K> pick_few(FewKeys<K>& all, std::int64_t count, std::int64_t first,
                               std::int64_t second) {
  const hn::ScalableTag<K> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  K* const keys = all.data();
  hn::StoreU(hn::Set(d, std::numeric_limits<K>::max()), d, keys + count);
  hn::StoreU(hn::Set(d, std::numeric_limits<K>::max()), d, keys + count + N);
  // The key at place p is the greatest of those that have at most p smaller ones.
  const auto at_first = hn::Set(d, static_cast<K>(first));
  const auto at_second = hn::Set(d, static_cast<K>(second));
  const auto least = hn::Set(d, std::numeric_limits<K>::min());
  auto low = least;
  auto high = least;
  const auto consider = [&](auto candidates, auto smaller) HWY_ATTR {
    low = hn::Max(low, hn::IfThenElse(hn::Gt(smaller, at_first), least, candidates));
    high = hn::Max(high, hn::IfThenElse(hn::Gt(smaller, at_second), least, candidates));
  };
  for (std::int64_t c = 0; c < count; c += 2 * N) {
    const auto first_ones = hn::LoadU(d, keys + c);
    const auto others = hn::LoadU(d, keys + c + N);
    auto below_first = hn::Zero(d);
    auto below_others = hn::Zero(d);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto key = hn::Set(d, keys[i]);
      below_first = count_where(d, below_first, hn::Lt(key, first_ones));
      below_others = count_where(d, below_others, hn::Lt(key, others));
    }
    consider(first_ones, below_first);
    consider(others, below_others);
  }
  return {hn::GetLane(hn::MaxOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
}

/// Two keys of `all` between which the wanted one stands, most likely.
template <class Short, class K>
HWY_INLINE Bracket<K> bracket_of(const K* keys, std::int64_t count, std::int64_t nth,
                                 const Bracket<K>& all) {
  alignas(64) FewKeys<Short> sample;
  for (std::int64_t i = 0; i < few; ++i) {
    sample[static_cast<std::size_t>(i)] = static_cast<Short>(keys[(2 * i + 1) * count / (2 * few)]);
  }
  const std::int64_t place = nth * few / count;
  constexpr std::int64_t margin = 8;  // twice the deviation of the middle's place in a sample
  const bool is_first = place < margin;
  const bool is_last = place + margin >= few;
  const Bracket<Short> found = pick_few<Short>(sample, few, is_first ? 0 : place - margin,
                                               is_last ? few - 1 : place + margin);
  return {is_first ? all.low : found.low, is_last ? all.high : found.high};
}

struct Cut {
  std::int64_t below, inside;
};

/// Moves the keys of a bracket to `to`, which may be where they are, and counts the smaller ones.
template <class K>
HWY_INLINE Cut cut(const K* keys, std::int64_t count, const Bracket<K>& bracket, K* to) {
  const hn::ScalableTag<K> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const auto low = hn::Set(d, bracket.low);
  const auto high = hn::Set(d, bracket.high);
  Cut result{0, 0};
  auto below = hn::Zero(d);  // of each lane
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    const auto v = hn::LoadU(d, keys + i);
    const auto is_below = hn::Lt(v, low);
    const auto is_inside = hn::Not(hn::Or(is_below, hn::Gt(v, high)));
    hn::StoreU(compressed(d, v, is_inside), d, to + result.inside);
    below = count_where(d, below, is_below);
    result.inside += static_cast<std::int64_t>(hn::CountTrue(d, is_inside));
  }
  // In 64 bits: a lane of keys of 32 holds its own share of a long line, but not all of it.
  HWY_ALIGN K counts[N];
  hn::Store(below, d, counts);
  result.below = std::accumulate(counts, counts + N, std::int64_t{0});
  for (; i < count; ++i) {
    const K key = keys[i];
    result.below += key < bracket.low ? 1 : 0;
    to[result.inside] = key;
    result.inside += key >= bracket.low && key <= bracket.high ? 1 : 0;
  }
  return result;
}

template <class K>
std::int64_t count_of(const K* keys, std::int64_t count, K key) {
  const hn::ScalableTag<K> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  std::int64_t total = 0;
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    total += static_cast<std::int64_t>(
        hn::CountTrue(d, hn::Eq(hn::LoadU(d, keys + i), hn::Set(d, key))));
  }
  for (; i < count; ++i) total += keys[i] == key ? 1 : 0;
  return total;
}

/// Keys that stay where they are; `spare` has room for as many.
template <class Short, class K>
K select_key(K* keys, std::int64_t count, std::int64_t nth, K* spare) {
  // The keys that are left are those of `all`: they stand at `from`, `left` of them.
  Bracket<K> all{std::numeric_limits<K>::min(), std::numeric_limits<K>::max()};
  K* from = keys;
  std::int64_t left = count;
  const auto collect_again = [&] {
    left = cut(keys, count, all, spare).inside;
    from = spare;
  };
  for (int round = 0; left > few; ++round) {
    if (round == most_brackets) {
      if (from == keys) std::copy_n(keys, count, spare);
      std::nth_element(spare, spare + nth, spare + left);
      return spare[nth];
    }
    const Bracket<K> bracket = bracket_of<Short>(from, left, nth, all);
    const Cut found = cut(from, left, bracket, spare);
    if (nth < found.below) {  // the sample was wrong, and what is needed was not kept
      all.high = static_cast<K>(bracket.low - 1);
      collect_again();
      continue;
    }
    if (nth >= found.below + found.inside) {
      nth -= found.below + found.inside;
      all.low = static_cast<K>(bracket.high + 1);
      collect_again();
      continue;
    }
    nth -= found.below;
    all = bracket;
    if (all.low == all.high) return all.low;
    const bool is_little = 2 * found.inside > left;
    left = found.inside;
    from = spare;
    if (is_little) {  // many equal keys, perhaps: those of the bracket itself
      const std::int64_t lowest = count_of(spare, left, all.low);
      if (nth < lowest) return all.low;
      if (nth >= left - count_of(spare, left, all.high)) return all.high;
      nth -= lowest;
      all = {static_cast<K>(all.low + 1), static_cast<K>(all.high - 1)};
      left = cut(spare, left, all, spare).inside;
    }
  }
  alignas(64) FewKeys<Short> last;
  std::transform(from, from + left, last.begin(), [](K key) { return static_cast<Short>(key); });
  return pick_few<Short>(last, left, nth, nth).low;
}

template <class T>
std::int64_t select(std::byte* keys, std::int64_t count, std::int64_t nth, std::byte* spare) {
  using K = KeyOf<T>;
  return select_key<ShortKeyOf<T>>(reinterpret_cast<K*>(keys), count, nth,
                                   reinterpret_cast<K*>(spare));
}

template <class K>
std::int64_t next(const std::byte* keys, std::int64_t count, std::int64_t nth, std::int64_t key) {
  const hn::ScalableTag<K> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  const K* const from = reinterpret_cast<const K*>(keys);
  const K here = static_cast<K>(key);
  const auto most = hn::Set(d, std::numeric_limits<K>::max());
  auto nearest = most;
  std::int64_t not_greater = 0;
  std::int64_t i = 0;
  for (; i + N <= count; i += N) {
    const auto v = hn::LoadU(d, from + i);
    const auto is_greater = hn::Gt(v, hn::Set(d, here));
    nearest = hn::Min(nearest, hn::IfThenElse(is_greater, v, most));
    not_greater += N - static_cast<std::int64_t>(hn::CountTrue(d, is_greater));
  }
  K result = hn::GetLane(hn::MinOfLanes(d, nearest));
  for (; i < count; ++i) {
    if (from[i] > here) {
      result = std::min(result, from[i]);
    } else {
      ++not_greater;
    }
  }
  return not_greater > nth + 1 ? here : result;
}

template <class T>
const NthKernel* kernel_of() {
  using K = KeyOf<T>;
  static constexpr NthKernel kernel{sizeof(K), collect<T>, select<T>, next<K>};
  return &kernel;
}

const NthKernel* find_nth(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) { return kernel_of<T>(); });
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_nth);

const NthKernel& nth_kernel(DType dtype) { return *HWY_DYNAMIC_DISPATCH(find_nth)(dtype); }
}  // namespace loup::kernels
#endif
