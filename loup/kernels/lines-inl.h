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

#include "loup/kernels/lines.h"
#include "loup/kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

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
template <class D, class Mask, class Map, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V choose_first(D d, const T* x, Mask mask, std::int64_t count, Map map, V no) {
  HWY_ALIGN T rest[lanes<D>] = {};
  HWY_ALIGN std::uint8_t counts[lanes<D>] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    rest[i] = x[i];
    counts[i] = mask[i] ? 1 : 0;
  }
  return hn::IfThenElse(ByteMask{counts}.lanes_of(d), map(hn::Load(d, rest)), no);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* to, std::int64_t count) {
  HWY_ALIGN T rest[lanes<D>];
  hn::Store(v, d, rest);
  std::copy_n(rest, count, to);
}

/// Copies the elements that count, changed by `map`, to padded(count) elements of scratch, `absent`
/// elsewhere. `each` sees all vectors on the way, four or one at a time.
template <class D, class Mask, class Map, class Each, class T = hn::TFromD<D>>
HWY_INLINE void gather_row(D d, const T* x, Mask mask, std::int64_t count, T absent, T* scratch,
                           Map map, Each each) {
  constexpr std::int64_t N = lanes<D>;
  const auto none = hn::Set(d, absent);
  const auto at = [&](std::int64_t i) HWY_ATTR {
    const auto v = choose(d, mask + i, map(hn::LoadU(d, x + i)), none);
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

/// Writes value(i), a vector of the elements from i on, to all of a row. It may be asked for one
/// vector beyond the end.
template <class D, class Value, class T = hn::TFromD<D>>
HWY_INLINE void write_row(D d, T* to, std::int64_t count, bool streams, Value value) {
  constexpr std::int64_t N = lanes<D>;
  std::int64_t i = 0;
  if (streams) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T));
    const std::int64_t head = std::min((N - past % N) % N, count);
    if (head > 0) store_first(d, value(0), to, head);
    i = head;
    for (; i + N <= count; i += N) hn::Stream(value(i), d, to + i);
  } else {
    for (; i + N <= count; i += N) hn::StoreU(value(i), d, to + i);
  }
  if (i < count) store_first(d, value(i), to + i, count - i);
}

template <class T>
HWY_INLINE T* out_row(const LineBlock& b, std::int64_t r) {
  return static_cast<T*>(b.out) + r * b.out_row;
}

/// Writes `absent` wherever the mask is false in one line of the output.
template <class T>
HWY_NOINLINE void hide(const LineBlock& b, bool is_row, std::int64_t line, T absent) {
  if (b.in.mask == nullptr) return;
  const std::int64_t count = is_row ? b.in.cols : b.in.rows;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t r = is_row ? line : i;
    const std::int64_t c = is_row ? i : line;
    if (b.in.mask[r * b.in.mask_row + c * b.in.mask_col] == 0) out_row<T>(b, r)[c] = absent;
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

/// A block in scratch, `stride` elements from row to row, and what is known of its columns.
template <class T>
struct Strip {
  double* sums;
  T* tops;
  T* scales;
  T* x;
  std::int64_t stride;

  template <class D>
  Strip(D d, const LineBlock& b)
      : sums(static_cast<double*>(b.scratch)), stride(padded(d, b.in.cols)) {
    tops = reinterpret_cast<T*>(sums + stride);
    scales = tops + stride;
    x = scales + stride;
  }
};

/// gather_row() for all rows of a block; `each(c, vectors…)` sees the vectors of up to four rows at
/// column c.
template <class D, class Rows, class Map, class Each, class T = hn::TFromD<D>>
HWY_INLINE void gather_strip(D d, const Block& b, Rows rows, T absent, const Strip<T>& strip,
                             Map map, Each each) {
  constexpr std::int64_t N = lanes<D>;
  const auto none = hn::Set(d, absent);
  const T* const x = static_cast<const T*>(b.x);
  const auto at = [&](std::int64_t r, std::int64_t c) HWY_ATTR {
    auto v = none;
    if (rows.counts(r)) {
      const auto mask = rows.mask(r) + c;
      const T* const from = x + r * b.x_row + c;
      v = c + N <= b.cols ? choose(d, mask, map(hn::LoadU(d, from)), none)
                          : choose_first(d, from, mask, b.cols - c, map, none);
    }
    hn::Store(v, d, strip.x + r * strip.stride + c);
    return v;
  };
  std::int64_t r = 0;
  for (; r + 4 <= b.rows; r += 4) {
    for (std::int64_t c = 0; c < b.cols; c += N) {
      const auto first = at(r, c);
      const auto second = at(r + 1, c);
      const auto third = at(r + 2, c);
      each(c, first, second, third, at(r + 3, c));
    }
  }
  for (; r < b.rows; ++r) {
    for (std::int64_t c = 0; c < b.cols; c += N) each(c, at(r, c));
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
