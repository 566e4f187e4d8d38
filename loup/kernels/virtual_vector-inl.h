// The virtual vector that sums are made of, whatever the width of real ones. Included once per
// instruction set.
//
// Element i of a row belongs to virtual lane i mod 32 (four-byte types) or i mod 16 (eight-byte
// types). Blocks of 16 elements per lane are added in the element's own precision and folded to
// eight lanes; at the end of the row neighbouring lanes are added.

#if defined(LOUP_KERNELS_VIRTUAL_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_VIRTUAL_VECTOR_INL_H_
#undef LOUP_KERNELS_VIRTUAL_VECTOR_INL_H_
#else
#define LOUP_KERNELS_VIRTUAL_VECTOR_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "loup/kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Eight partial sums for each row, on every instruction set.
inline constexpr std::int64_t sum_lanes = 8;

/// The virtual vector: K real ones. A recursion, not an array: g++ 12 keeps arrays in memory.
template <class D, int K>
struct VirtualVector {
  static constexpr std::int64_t N = lanes<D>;
  hn::Vec<D> first;
  VirtualVector<D, K - 1> rest;

  HWY_INLINE void clear() {
    first = hn::Zero(D());
    rest.clear();
  }
  template <class T, class Mask>
  HWY_INLINE void add(const T* x, Mask mask) {
    if constexpr (is_paired<T, D>) {
      add_pair(load_pair(D(), x, mask, T{}));
    } else {
      first = hn::Add(first, mask.keep(D(), load(D(), x)));
      rest.add(x + N, mask + N);
    }
  }
  /// Adds the first `count` elements of a chunk that may be read to the end of its last vector.
  template <class T, class Mask>
  HWY_INLINE void add_tail(const T* x, Mask mask, std::int64_t count) {
    if (count <= 0) return;
    if constexpr (is_paired<T, D>) {
      add_pair(load_pair(D(), x, mask, T{}, count));
    } else {
      const hn::Vec<D> v = mask.keep(D(), load(D(), x));
      first = hn::Add(
          first,
          count >= N ? v : hn::IfThenElseZero(hn::FirstN(D(), static_cast<std::size_t>(count)), v));
      rest.add_tail(x + N, mask + N, count - N);
    }
  }
  HWY_INLINE void add_pair(const Pair<D>& pair) {
    first = hn::Add(first, pair.even);
    rest.first = hn::Add(rest.first, pair.odd);
  }
  template <int J>
  HWY_INLINE hn::Vec<D> get() const {
    if constexpr (J == 0) {
      return first;
    } else {
      return rest.template get<J - 1>();
    }
  }
};
template <class D>
struct VirtualVector<D, 0> {
  HWY_INLINE void clear() {}
  template <class T, class Mask>
  HWY_INLINE void add(const T* /*x*/, Mask /*mask*/) {}
  template <class T, class Mask>
  HWY_INLINE void add_tail(const T* /*x*/, Mask /*mask*/, std::int64_t /*count*/) {}
};

/// out[i] = in[2 i] + in[2 i + 1] for `count` sums.
template <class T>
HWY_INLINE void add_neighbours(const T* in, T* out, std::int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  for (std::int64_t i = 0; i < count; i += N) {
    const auto low = hn::Load(d, in + 2 * i);
    const auto high = hn::Load(d, in + 2 * i + N);
    if constexpr (N == 2) {
      hn::Store(hn::Add(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low)), d,
                out + i);
    } else {
      hn::Store(hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, out + i);
    }
  }
}

/// The eight partial sums of each row into one: neighbours first.
template <class P>
HWY_INLINE void fold_sums(const P* in, P* out, std::int64_t rows) {
  if (rows == group_rows) {
    HWY_ALIGN P half[group_rows * sum_lanes / 2];
    HWY_ALIGN P quarter[group_rows * sum_lanes / 4];
    add_neighbours(in, half, group_rows * sum_lanes / 2);
    add_neighbours(half, quarter, group_rows * sum_lanes / 4);
    add_neighbours(quarter, out, group_rows);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      const P* const p = in + r * sum_lanes;
      out[r] = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
    }
  }
}

/// Walks a row block by block: `flush(v, is_first)` gets the virtual vector of each, and whether it
/// is the first as a constant: most rows have only one.
template <std::int64_t block, class T, class Mask, class Flush>
HWY_INLINE void for_each_block(const Row<T, Mask>& row, Flush flush) {
  using D = hn::ScalableTag<std::conditional_t<sizeof(T) == 8, double, float>>;
  constexpr std::int64_t step = chunk_lanes<T>;
  const std::int64_t full = row.cols - row.cols % step;
  VirtualVector<D, static_cast<int>(step / lanes<D>)> v;
  v.clear();
  std::int64_t i = 0;
  std::int64_t end = std::min(full, block);
  for (; i < end; i += step) {
    prefetch<static_cast<int>(step * sizeof(T) / 64)>(row.x + i, row.mask + i);
    v.add(row.x + i, row.mask + i);
  }
  if (end == full) v.add_tail(row.x_tail, row.mask_tail, row.cols - full);
  if constexpr (is_paired<T, D>) unpair(D(), v.first, v.rest.first);
  flush(v, std::true_type());
  while (i < full) {
    v.clear();
    end = std::min(full, i + block);
    for (; i < end; i += step) {
      prefetch<static_cast<int>(step * sizeof(T) / 64)>(row.x + i, row.mask + i);
      v.add(row.x + i, row.mask + i);
    }
    if (end == full) v.add_tail(row.x_tail, row.mask_tail, row.cols - full);
    if constexpr (is_paired<T, D>) unpair(D(), v.first, v.rest.first);
    flush(v, std::false_type());
  }
}

/// Some rows side by side, each in a virtual vector of its own.
template <class D, class T, class Mask, int count>
struct RowVectors {
  static constexpr std::int64_t step = chunk_lanes<T>;
  const T* x;
  Mask mask;
  VirtualVector<D, static_cast<int>(step / lanes<D>)> v;
  RowVectors<D, T, Mask, count - 1> rest;

  template <class Rows>
  HWY_INLINE void start(const Block& b, Rows rows, std::int64_t r) {
    x = static_cast<const T*>(b.x) + r * b.x_row;
    mask = rows.mask(r);
    v.clear();
    rest.start(b, rows, r + 1);
  }
  HWY_INLINE void add(std::int64_t i) {
    v.add(x + i, mask + i);
    rest.add(i);
  }
  HWY_INLINE void add_tail(std::int64_t i, std::int64_t left) {
    v.add_tail(x + i, mask + i, left);
    rest.add_tail(i, left);
  }
  template <class Flush>
  HWY_INLINE void flush(std::int64_t r, Flush use) {
    if constexpr (is_paired<T, D>) unpair(D(), v.first, v.rest.first);
    use(r, v);
    rest.flush(r + 1, use);
  }
};
template <class D, class T, class Mask>
struct RowVectors<D, T, Mask, 0> {
  template <class Rows>
  HWY_INLINE void start(const Block& /*b*/, Rows /*rows*/, std::int64_t /*r*/) {}
  HWY_INLINE void add(std::int64_t /*i*/) {}
  HWY_INLINE void add_tail(std::int64_t /*i*/, std::int64_t /*left*/) {}
  template <class Flush>
  HWY_INLINE void flush(std::int64_t /*r*/, Flush /*use*/) {}
};

/// The same for a group of rows that all count, are no longer than a block and may be read past
/// their end: `flush(r, v)` gets the virtual vector of row `first` + r. Several at a time, because
/// one short row leaves nothing to do while its additions wait for each other.
template <class T, class Rows, class Flush>
HWY_INLINE void for_each_short_row(const Block& b, Rows rows, std::int64_t first, Flush flush) {
  using D = hn::ScalableTag<std::conditional_t<sizeof(T) == 8, double, float>>;
  using Mask = decltype(rows.mask(0));
  constexpr std::int64_t step = chunk_lanes<T>;
  constexpr int at_once = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  const std::int64_t full = b.cols - b.cols % step;
  for (std::int64_t r = 0; r < group_rows; r += at_once) {
    RowVectors<D, T, Mask, at_once> some;
    some.start(b, rows, first + r);
    for (std::int64_t i = 0; i < full; i += step) some.add(i);
    if (full < b.cols) some.add_tail(full, b.cols - full);
    some.flush(r, flush);
  }
}

/// Adds the 32 or 16 lanes of a virtual vector down to eight, in order l + 16, l + 8, and hands
/// them out as `store(d, lane, vector)`, lane by lane group.
template <class D, int K, class Store>
HWY_INLINE void fold_to_eight(const VirtualVector<D, K>& v, Store store) {
  constexpr std::int64_t N = lanes<D>;
  constexpr std::int64_t total = N * K;
  static_assert(total == 32 || total == 16);
  if constexpr (N == 16) {  // two vectors of 16 lanes
    const hn::Half<D> half;
    const auto sum = hn::Add(v.template get<0>(), v.template get<1>());
    store(half, 0, hn::Add(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)));
  } else if constexpr (total == 32) {  // 4 × 8 or 8 × 4 lanes
    constexpr int vectors = static_cast<int>(8 / N);
    const auto fold = [&]<int J>() HWY_ATTR {
      return hn::Add(hn::Add(v.template get<J>(), v.template get<J + 2 * vectors>()),
                     hn::Add(v.template get<J + vectors>(), v.template get<J + 3 * vectors>()));
    };
    store(D(), 0, fold.template operator()<0>());
    if constexpr (vectors == 2) store(D(), N, fold.template operator()<1>());
  } else {  // 2 × 8, 4 × 4 or 8 × 2 lanes
    constexpr int vectors = static_cast<int>(8 / N);
    const auto fold = [&]<int J>() HWY_ATTR {
      return hn::Add(v.template get<J>(), v.template get<J + vectors>());
    };
    store(D(), 0, fold.template operator()<0>());
    if constexpr (vectors >= 2) store(D(), N, fold.template operator()<1>());
    if constexpr (vectors == 4) {
      store(D(), 2 * N, fold.template operator()<2>());
      store(D(), 3 * N, fold.template operator()<3>());
    }
  }
}

/// Widens v and calls `use(d, offset, wide)`: at once where one vector can hold it, else by halves.
/// (Partial sums are stored as wide as they are loaded again, or the load would have to wait.)
template <class Wide, class D, class Use>
HWY_INLINE void widen(D /*d*/, hn::Vec<D> v, Use use) {
  if constexpr (lanes<D> * static_cast<std::int64_t>(sizeof(Wide)) <= HWY_MAX_BYTES) {
    const hn::Rebind<Wide, D> dw;
    use(dw, 0, hn::PromoteTo(dw, v));
  } else {
    const hn::Half<D> dh;
    const hn::Rebind<Wide, decltype(dh)> dw;
    use(dw, 0, hn::PromoteTo(dw, hn::LowerHalf(dh, v)));
    use(dw, lanes<decltype(dh)>, hn::PromoteTo(dw, hn::UpperHalf(dh, v)));
  }
}
template <class Wide, class D>
HWY_INLINE void store_wide(D d, hn::Vec<D> v, Wide* to) {
  if constexpr (std::is_same_v<hn::TFromD<D>, Wide>) {
    hn::StoreU(v, d, to);
  } else {
    widen<Wide>(
        d, v, [&](auto dw, std::int64_t at, auto wide) HWY_ATTR { hn::StoreU(wide, dw, to + at); });
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
