// What the kernels of lines share. Included once per instruction set, from kernel files only.
//
// A line is first written to scratch with a harmless value in place of what does not count: no
// later step needs the mask, and vectors may run over the end.

#if defined(LOUP_KERNELS_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_LINES_INL_H_
#undef LOUP_KERNELS_LINES_INL_H_
#else
#define LOUP_KERNELS_LINES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include <hwy/cache_control.h>

#include "loup/kernels/convert-inl.h"
#include "loup/kernels/lines.h"
#include "loup/kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// E is what elements are in memory, T what they are computed in: half types are floats then.

template <class T>
inline constexpr T infinite = std::numeric_limits<T>::infinity();

/// Rounded up to whole vectors.
template <class D>
HWY_INLINE std::int64_t padded(D /*d*/, std::int64_t count) {
  return (count + lanes<D> - 1) / lanes<D> * lanes<D>;
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V choose(D /*d*/, NoMask /*mask*/, V yes, V /*no*/) {
  return yes;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V choose(D d, ByteMask mask, V yes, V no) {
  return hn::IfThenElse(mask.lanes_of(d), yes, no);
}

/// The same for the elements at x changed by `map`, of which only `count` may be read.
template <class D, class E, class Mask, class Map, class V = hn::Vec<D>>
HWY_INLINE V choose_first(D d, const E* x, Mask mask, std::int64_t count, Map map, V no) {
  HWY_ALIGN E rest[lanes<D>] = {};
  std::copy_n(x, count, rest);
  const auto is_inside = hn::FirstN(d, static_cast<std::size_t>(count));
  const auto v = hn::IfThenElse(is_inside, map(load_widened(d, rest)), no);
  if constexpr (std::is_same_v<Mask, NoMask>) {
    return v;
  } else {
    HWY_ALIGN std::uint8_t counts[lanes<D>] = {};
    std::copy_n(mask.bytes, count, counts);
    return choose(d, ByteMask{counts}, v, no);
  }
}

/// The vector at i of a row of `count` elements.
template <class D, class E, class Mask, class Map, class V = hn::Vec<D>>
HWY_INLINE V choose_at(D d, const E* row, Mask mask, std::int64_t i, std::int64_t count, Map map,
                       V no) {
  if (HWY_LIKELY(i + lanes<D> <= count)) {
    return choose(d, mask + i, map(load_widened(d, row + i)), no);
  }
  return choose_first(d, row + i, mask + i, count - i, map, no);
}

template <class D, class E>
HWY_INLINE void store_first(D d, hn::Vec<D> v, E* to, std::int64_t count) {
  HWY_ALIGN E rest[lanes<D>];
  store_narrowed(d, v, rest);
  std::copy_n(rest, count, to);
}

/// Copies the elements that count, changed by `map`, to padded(count) elements of scratch, `absent`
/// elsewhere. `each` sees all vectors on the way, four or one at a time.
template <class D, class E, class Mask, class Map, class Each, class T = hn::TFromD<D>>
HWY_INLINE void gather_row(D d, const E* x, Mask mask, std::int64_t count, T absent, T* scratch,
                           Map map, Each each) {
  constexpr std::int64_t N = lanes<D>;
  const auto none = hn::Set(d, absent);
  const auto at = [&](std::int64_t i) HWY_ATTR {
    const auto v = choose(d, mask + i, map(load_widened(d, x + i)), none);
    hn::Store(v, d, scratch + i);
    return v;
  };
  std::int64_t i = 0;
  for (; i + 4 * N <= count; i += 4 * N) {
    const auto a = at(i);
    const auto b = at(i + N);
    const auto c = at(i + 2 * N);
    each(a, b, c, at(i + 3 * N));
  }
  for (; i + N <= count; i += N) each(at(i));
  if (i == count) return;
  const auto v = choose_first(d, x + i, mask + i, count - i, map, none);
  hn::Store(v, d, scratch + i);
  each(v);
}

/// How many elements of its rows a block has to look at: behind them a mask that all rows share is
/// false, as that of padded sequences. In steps of four vectors, so that sums come out as from the
/// same mask written out.
template <class D>
HWY_INLINE std::int64_t reach(D /*d*/, const Block& b) {
  if (b.mask == nullptr || b.mask_row != 0 || b.mask_col != 1) return b.cols;
  std::int64_t last = b.cols;
  while (last > 0 && b.mask[last - 1] == 0) --last;
  constexpr std::int64_t step = 4 * lanes<D>;
  return std::min(b.cols, (last + step - 1) / step * step);
}

/// A vector of elements as they are in memory: of half types it has two of lanes.
template <class D, class E>
struct Stored {
  using Word = std::conditional_t<is_half<E>, std::uint16_t, E>;
  using Tag = hn::Repartition<Word, D>;
  static constexpr std::int64_t size = lanes<Tag>;

  /// Of the elements that `value(i)` and, of half types, `value(i + lanes)` give.
  template <class Value>
  static HWY_INLINE hn::Vec<Tag> of(Value value, std::int64_t i) {
    if constexpr (is_half<E>) {
      const auto low = narrow_to_half<E>(D(), value(i));
      return hn::Combine(Tag(), narrow_to_half<E>(D(), value(i + lanes<D>)), low);
    } else {
      return value(i);
    }
  }
  static HWY_INLINE void store(hn::Vec<Tag> v, E* to) {
    hn::StoreU(v, Tag(), reinterpret_cast<Word*>(to));
  }
  static HWY_INLINE void stream(hn::Vec<Tag> v, E* to) {
    hn::Stream(v, Tag(), reinterpret_cast<Word*>(to));
  }
};

/// Writes a row vector by vector, so that it may be done beside the computation of the next one:
/// whoever only writes waits for the memory. `value(i)` gives the elements from i on, which lie
/// inside of the row, but for the last of a vector.
template <class D, class E>
class RowWriter {
 public:
  using Vector = Stored<D, E>;
  static constexpr std::int64_t size = Vector::size;

  RowWriter() = default;
  HWY_INLINE RowWriter(E* to, std::int64_t count, bool streams)
      : to_(to), count_(count), end_(size), streams_(streams) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(E));
    if (streams) end_ -= past % size;
  }

  bool is_done() const { return next_ >= count_; }

  /// Writes the next vector; the first and the last may have fewer elements.
  template <class Value>
  HWY_INLINE void step(Value value) {
    const std::int64_t last = std::min(end_, count_);
    if (HWY_UNLIKELY(last - next_ != size)) {
      for (; next_ < last; next_ += lanes<D>) {
        store_first(D(), value(next_), to_ + next_, std::min(last - next_, lanes<D>));
      }
    } else if (streams_) {
      Vector::stream(Vector::of(value, next_), to_ + next_);
    } else {
      Vector::store(Vector::of(value, next_), to_ + next_);
    }
    next_ = end_;
    end_ += size;
  }

  /// Writes as many elements as four vectors of lanes have.
  template <class Value>
  HWY_INLINE void step_four(Value value) {
    for (std::int64_t k = 0; k < 4 * lanes<D> && !is_done(); k += size) step(value);
  }

  /// Writes all that is left.
  template <class Value>
  HWY_INLINE void finish(Value value) {
    if (is_done()) return;
    step(value);
    const auto each = [&](auto store) HWY_ATTR {
      for (; end_ <= count_; end_ += size) {
        store(Vector::of(value, next_), to_ + next_);
        next_ = end_;
      }
    };
    if (streams_) {
      each([](hn::Vec<typename Vector::Tag> v, E* at) HWY_ATTR { Vector::stream(v, at); });
    } else {
      each([](hn::Vec<typename Vector::Tag> v, E* at) HWY_ATTR { Vector::store(v, at); });
    }
    if (!is_done()) step(value);
  }

 private:
  E* to_ = nullptr;
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
  std::int64_t end_ = 0;  // of the next vector
  bool streams_ = false;
};

/// Writes value(i), a vector of the elements from i on, to all of a row.
template <class D, class E, class Value>
HWY_INLINE void write_row(D /*d*/, E* to, std::int64_t count, bool streams, Value value) {
  RowWriter<D, E>(to, count, streams).finish(value);
}

/// What a kernel reads next, fetched to the first cache while it computes.
struct Ahead {
  std::uintptr_t x, mask;  // addresses
  std::uintptr_t cols;

  /// `count` elements from i on. (Addresses that nobody may read are ignored.)
  template <class E, std::int64_t count>
  HWY_INLINE void fetch(std::int64_t i) const {
    constexpr std::int64_t step = 64 / static_cast<std::int64_t>(sizeof(E));
    const std::uintptr_t at = x + static_cast<std::uintptr_t>(i) * sizeof(E);
    for (std::uintptr_t k = 0; k < count * sizeof(E); k += 64) prefetch(at + k);
    if (count >= step * 4 || i % 64 == 0) prefetch(mask + static_cast<std::uintptr_t>(i));
    // Rows seldom start where cache lines do: then they end in one more.
    if (i == 0) {
      prefetch(x + cols * sizeof(E) - 1);
      prefetch(mask + cols - 1);
    }
  }
  static HWY_INLINE void prefetch(std::uintptr_t at) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): may lie behind the array, where no pointer may.
    __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 3);
  }
};

/// Row r of a block, which may be behind its last one.
template <class E>
HWY_INLINE Ahead ahead_of(const Block& b, std::int64_t r) {
  const auto at = [r](const void* first, std::int64_t row, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(first) + static_cast<std::uintptr_t>(r * row) * bytes;
  };
  const std::uintptr_t x = at(b.x, b.x_row, sizeof(E));
  const bool has_bytes = b.mask != nullptr && b.mask_row != 0 && b.mask_col != 0;
  return {x, has_bytes ? at(b.mask, b.mask_row, 1) : x, static_cast<std::uintptr_t>(b.cols)};
}

/// How many rows further to fetch: memory wants to be asked that long before.
template <class E>
HWY_INLINE std::int64_t rows_to_fetch(const Block& b) {
  constexpr std::int64_t bytes = 8 * 1024;
  return std::max<std::int64_t>(1, bytes / (b.cols * static_cast<std::int64_t>(sizeof(E)) + 1));
}

template <class E>
HWY_INLINE E* out_row(const LineBlock& b, std::int64_t r) {
  return static_cast<E*>(b.out) + r * b.out_row;
}

template <class E>
HWY_INLINE const E* in_row(const LineBlock& b, std::int64_t r) {
  return static_cast<const E*>(b.in.x) + r * b.in.x_row;
}

/// Writes `absent` wherever the mask is false in a row of the output.
template <class E>
HWY_NOINLINE void hide(const LineBlock& b, std::int64_t r, E absent) {
  if (b.in.mask == nullptr) return;
  for (std::int64_t c = 0; c < b.in.cols; ++c) {
    if (b.in.mask[r * b.in.mask_row + c * b.in.mask_col] == 0) out_row<E>(b, r)[c] = absent;
  }
}

/// Calls `use(rows)` with what says which rows and elements of the block count.
template <class Use>
HWY_INLINE void with_mask(const Block& b, Use use) {
  if (b.mask == nullptr || b.mask_col == 0) {
    use(WholeRows{b.mask, b.mask_row});
  } else {
    use(MaskedRows{b.mask, b.mask_row});
  }
}

HWY_INLINE void finish_streaming(const LineBlock& b) {
  if (b.streams) hwy::FlushStream();
}

/// What is known of the columns of a block, in scratch; padded to whole vectors.
template <class T>
struct Columns {
  std::int64_t count;
  double* sums;
  T* tops;
  T* scales;

  template <class D>
  Columns(D d, const LineBlock& b)
      : count(padded(d, b.in.cols)), sums(static_cast<double*>(b.scratch)) {
    tops = reinterpret_cast<T*>(sums + count);
    scales = tops + count;
  }
  /// Adds the lanes of v to the sums from column c on.
  template <class D>
  HWY_INLINE void add(D d, std::int64_t c, hn::Vec<D> v) const {
    const auto add_part = [&](auto wide, std::int64_t at, auto part) HWY_ATTR {
      double* const to = sums + c + at;
      hn::StoreU(hn::Add(hn::LoadU(wide, to), part), wide, to);
    };
    if constexpr (sizeof(T) == 8) {
      add_part(d, 0, v);
    } else {
      widen<double>(d, v, add_part);
    }
  }
};

/// Calls `use(c, first, last)` for all vectors of columns of tiles of rows: what is gathered in
/// registers down a tile need not go to memory at every row. What lies `ahead` rows further is
/// fetched meanwhile, unless that is 0: rows lie far apart, and hardware fetches little of them.
template <class E, class D, class Use>
HWY_INLINE void for_each_tile(D /*d*/, const Block& b, std::int64_t ahead, Use use) {
  constexpr std::int64_t N = lanes<D>;
  constexpr std::int64_t tile = 8;
  for (std::int64_t first = 0; first < b.rows; first += tile) {
    const std::int64_t last = std::min(b.rows, first + tile);
    for (std::int64_t c = 0; c < b.cols; c += N) {
      for (std::int64_t r = first; ahead != 0 && r < last; ++r) {
        ahead_of<E>(b, r + ahead).template fetch<E, N>(c);
      }
      use(c, first, last);
    }
  }
}
/// Without a second pass over the block, in which the next one could be fetched.
inline constexpr std::int64_t rows_ahead = 16;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
