// Where the largest and the least element are. Included once per instruction set.

#if defined(LOUP_KERNELS_ARG_EXTREME_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ARG_EXTREME_INL_H_
#undef LOUP_KERNELS_ARG_EXTREME_INL_H_
#else
#define LOUP_KERNELS_ARG_EXTREME_INL_H_
#endif

#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// A state is an element and its index. Of equal elements (and of several NaNs) the one with the
/// least index is meant, in whatever order they are seen.
///
/// Along a row each lane remembers the block of its extreme; only the block of the row's own is
/// searched for the position.
template <class T, bool is_largest>
struct ArgExtreme {
  using Element = T;
  using Lane = FullType<T>;
  // Both hold an element and an index exactly.
  using Partial = std::conditional_t<std::is_floating_point_v<Lane>, double, std::int64_t>;
  using Values = Extreme<T, is_largest>;
  using Order = Further<Lane, is_largest>;
  using Wide = Further<Partial, is_largest>;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = DType::i64;
  static constexpr DType second = dtype_of<Lane>();
  static constexpr std::int64_t block = 512;
  /// Larger than every index.
  static constexpr Partial no_index = Wide::highest;
  /// The row of a tile of which nothing counts.
  static constexpr Lane nowhere = -1;

  /// Whether b is to replace a.
  static HWY_INLINE bool replaces(Partial b, Partial b_index, Partial a, Partial a_index) {
    if constexpr (std::is_floating_point_v<Partial>) {
      const bool a_is_nan = std::isnan(a);
      if (a_is_nan || std::isnan(b))
        return a_is_nan && std::isnan(b) ? b_index < a_index : !a_is_nan;
    }
    if (a == b) return b_index < a_index;
    return is_largest ? b > a : b < a;
  }
  static HWY_INLINE void absorb_one(Partial* state, std::int64_t n, Partial value, Partial index) {
    if (index == no_index || !replaces(value, index, state[0], state[n])) return;
    state[0] = value;
    state[n] = index;
  }

  template <class D>
  static HWY_INLINE void absorb_lanes(D d, Partial* state, std::int64_t n, hn::Vec<D> value,
                                      hn::Vec<D> index) {
    const auto old = hn::LoadU(d, state);
    const auto old_index = hn::LoadU(d, state + n);
    auto is_further = is_largest ? hn::Gt(value, old) : hn::Lt(value, old);
    auto is_equal = hn::Eq(value, old);
    if constexpr (std::is_floating_point_v<Partial>) {
      const auto is_nan = hn::IsNaN(value);
      const auto was_nan = hn::IsNaN(old);
      is_further = hn::Or(is_further, hn::AndNot(was_nan, is_nan));
      is_equal = hn::Or(is_equal, hn::And(was_nan, is_nan));
    }
    const auto is_new = hn::And(hn::Lt(index, hn::Set(d, no_index)),
                                hn::Or(is_further, hn::And(is_equal, hn::Lt(index, old_index))));
    hn::StoreU(hn::IfThenElse(is_new, value, old), d, state);
    hn::StoreU(hn::IfThenElse(is_new, index, old_index), d, state + n);
  }

  /// The first element of `row` from `first` on that counts and is `value`; `end` if there is none.
  template <class Mask>
  static HWY_INLINE std::int64_t find(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                                      Lane value) {
    using D = hn::ScalableTag<Lane>;
    const D d;
    constexpr std::int64_t N = lanes<D>;
    const std::int64_t full = row.cols - row.cols % chunk_lanes<T>;
    const auto wanted = hn::Set(d, value);
    const auto place = [&](const T* x, Mask mask, std::int64_t count) HWY_ATTR {
      const auto v = load(d, x);
      auto equal = hn::Eq(v, wanted);
      if constexpr (std::is_floating_point_v<Lane>) {
        if (std::isnan(value)) equal = hn::IsNaN(v);
      }
      return hn::FindFirstTrue(d, lanes_that_count(d, mask, std::min(count, N)).both(d, equal));
    };
    for (std::int64_t i = first; i < end; i += N) {
      const bool is_tail = i >= full;
      const T* const x = is_tail ? row.x_tail + (i - full) : row.x + i;
      const Mask mask = is_tail ? row.mask_tail + (i - full) : row.mask + i;
      const auto at = place(x, mask, end - i);
      if (at >= 0) return i + at;
    }
    return end;
  }

  template <class Mask>
  static HWY_NOINLINE void row(const Row<T, Mask>& row, Partial* out, std::int64_t plane) {
    const hn::ScalableTag<Lane> d;
    auto best = reduce_lanes<Values>(row, 0, std::min(row.cols, block));
    auto blocks = hn::Zero(d);  // exact: rows have fewer than 2^24
    for (std::int64_t first = block; first < row.cols; first += block) {
      const auto found = reduce_lanes<Values>(row, first, std::min(row.cols, first + block)).a;
      auto is_new = Order::is_beyond(d, found, best.a);
      if constexpr (std::is_floating_point_v<Lane>) is_new = hn::AndNot(hn::IsNaN(best.a), is_new);
      best.a = hn::IfThenElse(is_new, found, best.a);
      const std::int64_t number = first / block;
      blocks = hn::IfThenElse(is_new, hn::Set(d, static_cast<Lane>(number)), blocks);
    }
    const Lane value = hn::GetLane(join_lanes<Values>(d, best).a);
    std::int64_t first = 0;
    std::int64_t end = row.cols;
    // The extreme of nothing may be that of some elements, too: it says of no block that it is
    // there.
    if (row.cols > block && value != Order::identity) {
      auto is_best = hn::Eq(best.a, hn::Set(d, value));
      if constexpr (std::is_floating_point_v<Lane>) {
        if (std::isnan(value)) is_best = hn::IsNaN(best.a);
      }
      const auto candidates = hn::IfThenElse(is_best, blocks, hn::Set(d, Order::highest));
      first = static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(d, candidates))) * block;
      end = std::min(row.cols, first + block);
    }
    const std::int64_t at = find(row, first, end, value);
    out[0] = static_cast<Partial>(value);
    out[plane] = at == end ? no_index : static_cast<Partial>(row.index + at * row.index_step);
  }
  static HWY_INLINE void empty_row(Partial* out, std::int64_t plane) {
    out[0] = Wide::identity;
    out[plane] = no_index;
  }
  static HWY_INLINE void fold(const Partial* from, Partial* to, std::int64_t rows) {
    std::copy_n(from, rows, to);
  }
  static HWY_INLINE void absorb(Partial* state, std::int64_t n, const Partial* row) {
    absorb_one(state, n, row[0], row[group_rows]);
  }
  static HWY_INLINE void absorb_group(Partial* state, std::int64_t n, const Partial* rows) {
    for (std::int64_t i = 0; i < group_rows; ++i) absorb(state + i, n, rows + i);
  }

  /// Which row of a tile its r-th row that counts is; known beforehand where all of them do.
  template <std::int64_t fixed_rows, class Mask>
  static HWY_INLINE Lane place_of(const Tile<T, Mask>& tile, std::int64_t r) {
    return static_cast<Lane>(fixed_rows == group_rows ? r : tile.place[r]);
  }

  /// Numbers are compared with nothing (a NaN) or the best so far; the few tiles in which a NaN
  /// counts are looked at again.
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, Partial* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    if constexpr (std::is_floating_point_v<Lane>) {
      const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
      auto best = hn::Set(d, std::numeric_limits<Lane>::quiet_NaN());
      auto at = hn::Set(d, nowhere);
      auto is_nan = hn::FirstN(d, 0);
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto v = (tile.mask[r] + c).keep(d, load(d, tile.x[r] + c));
        const auto is_within = is_largest ? hn::Le(v, best) : hn::Ge(v, best);
        const auto taken = lanes_that_count(d, tile.mask[r] + c).both(d, hn::Not(is_within));
        best = hn::IfThenElse(taken, v, best);
        at = hn::IfThenElse(taken, hn::Set(d, place_of<fixed_rows>(tile, r)), at);
        is_nan = hn::Or(is_nan, hn::IsNaN(v));
      }
      if (HWY_LIKELY(hn::AllFalse(d, is_nan))) {
        absorb_numbers(d, state, n, tile, best, at);
        return;
      }
    }
    search_tile<fixed_rows>(d, state, n, tile, c);
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_NOINLINE void search_tile(D d, Partial* state, std::int64_t n,
                                       const Tile<T, Mask>& tile, std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    auto best = hn::Set(d, Order::identity);
    auto at = hn::Set(d, nowhere);
    // Lanes that take whatever counts next, and lanes that hold a NaN: the first one stays.
    auto is_empty = hn::Eq(at, at);
    auto is_nan = hn::FirstN(d, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto v = load(d, tile.x[r] + c);
      auto is_better = hn::Or(Order::is_beyond(d, v, best), is_empty);
      if constexpr (std::is_floating_point_v<Lane>) is_better = hn::AndNot(is_nan, is_better);
      const auto taken = lanes_that_count(d, tile.mask[r] + c).both(d, is_better);
      best = hn::IfThenElse(taken, v, best);
      at = hn::IfThenElse(taken, hn::Set(d, place_of<fixed_rows>(tile, r)), at);
      is_empty = hn::AndNot(taken, is_empty);
      if constexpr (std::is_floating_point_v<Lane>) is_nan = hn::IsNaN(best);
    }
    absorb_tile(d, state, n, tile, best, at);
  }
  /// The best number of each column of a tile, and at which of its rows it is. A NaN says that
  /// there is none, and loses every comparison.
  template <class D, class Mask>
  static HWY_INLINE void absorb_numbers(D d, Partial* state, std::int64_t n,
                                        const Tile<T, Mask>& tile, hn::Vec<D> best, hn::Vec<D> at) {
    const auto absorb_part = [&](auto dp, Partial* to, auto value, auto place) HWY_ATTR {
      const auto index =
          hn::Add(hn::Set(dp, static_cast<Partial>(tile.index)),
                  hn::Mul(place, hn::Set(dp, static_cast<Partial>(tile.index_step))));
      const auto old = hn::LoadU(dp, to);
      const auto old_index = hn::LoadU(dp, to + n);
      const auto is_further = is_largest ? hn::Gt(value, old) : hn::Lt(value, old);
      const auto is_first = hn::And(hn::Eq(value, old), hn::Lt(index, old_index));
      const auto replaced = hn::Or(is_further, is_first);
      hn::StoreU(hn::IfThenElse(replaced, value, old), dp, to);
      hn::StoreU(hn::IfThenElse(replaced, index, old_index), dp, to + n);
    };
    if constexpr (std::is_same_v<Lane, Partial>) {
      absorb_part(d, state, best, at);
    } else {
      widen<Partial>(d, best, [&](auto dp, std::int64_t first, auto value) HWY_ATTR {
        widen<Partial>(d, at, [&](auto, std::int64_t other, auto place) HWY_ATTR {
          if (first == other) absorb_part(dp, state + first, value, place);
        });
      });
    }
  }
  /// The best of each column of a tile, and at which of its rows it is.
  template <class D, class Mask>
  static HWY_INLINE void absorb_tile(D d, Partial* state, std::int64_t n, const Tile<T, Mask>& tile,
                                     hn::Vec<D> best, hn::Vec<D> at) {
    HWY_ALIGN Partial values[lanes<D>];
    HWY_ALIGN Partial places[lanes<D>];
    store_wide(d, best, values);
    store_wide(d, at, places);
    const hn::ScalableTag<Partial> dp;
    for (std::int64_t i = 0; i < lanes<D>; i += lanes<decltype(dp)>) {
      const auto place = hn::Load(dp, places + i);
      const auto index =
          hn::Add(hn::Set(dp, static_cast<Partial>(tile.index)),
                  hn::Mul(place, hn::Set(dp, static_cast<Partial>(tile.index_step))));
      absorb_lanes(dp, state + i, n, hn::Load(dp, values + i),
                   hn::IfThenElse(hn::Lt(place, hn::Zero(dp)), hn::Set(dp, no_index), index));
    }
  }

  static void init(void* states, std::int64_t n) {
    auto* const state = static_cast<Partial*>(states);
    std::fill_n(state, n, Wide::identity);
    std::fill_n(state + n, n, no_index);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    const auto* const other = static_cast<const Partial*>(from);
    auto* const state = static_cast<Partial*>(into);
    const hn::ScalableTag<Partial> d;
    std::int64_t i = 0;
    for (; i + lanes<decltype(d)> <= n; i += lanes<decltype(d)>) {
      absorb_lanes(d, state + i, n, hn::LoadU(d, other + i), hn::LoadU(d, other + n + i));
    }
    for (; i < n; ++i) absorb_one(state + i, n, other[i], other[n + i]);
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const indices = static_cast<const Partial*>(states) + n;
    std::transform(indices, indices + n, static_cast<std::int64_t*>(out), [](Partial index) {
      return index == no_index ? 0 : static_cast<std::int64_t>(index);
    });
  }
  /// The element itself.
  static void finish_second(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const values = static_cast<const Partial*>(states);
    std::transform(values, values + n, static_cast<Lane*>(out), [](Partial value) {
      // The extreme of nothing is one of the wider type.
      if (value == Wide::identity) return Order::identity;
      return static_cast<Lane>(value);
    });
  }
};

template <bool is_largest>
const Reducer* find_arg_extreme(DType dtype) {
  switch (dtype) {
    case DType::i32: return &reducer_of<ArgExtreme<std::int32_t, is_largest>>;
    case DType::i64: return &reducer_of<ArgExtreme<std::int64_t, is_largest>>;
    case DType::f32: return &reducer_of<ArgExtreme<float, is_largest>>;
    case DType::f64: return &reducer_of<ArgExtreme<double, is_largest>>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
