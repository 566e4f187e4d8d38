// Where the largest and the least element are. Included once per instruction set.

#if defined(LOUP_KERNELS_ARG_EXTREME_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ARG_EXTREME_INL_H_
#undef LOUP_KERNELS_ARG_EXTREME_INL_H_
#else
#define LOUP_KERNELS_ARG_EXTREME_INL_H_
#endif

#include "loup/kernels/extreme-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// A state is an element and its index. Of equal elements (and of several NaNs) the one with the
/// least index is meant, in whatever order they are seen.
///
/// A block of a row is searched for its extreme without regard to positions, and only if that is
/// beyond all before it is it looked up, while the block is still in the first-level cache.
template <class T, bool is_largest>
struct ArgExtreme {
  using Element = T;
  using Lane = ComparedAs<T>;
  // Both hold an element and an index exactly.
  using Partial = std::conditional_t<std::is_floating_point_v<Lane>, double, std::int64_t>;
  using Order = Further<Lane, is_largest>;
  using Wide = Further<Partial, is_largest>;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = DType::i64;
  static constexpr DType second = dtype_of<Lane>();
  static constexpr std::int64_t block = 1024;
  /// Larger than every index.
  static constexpr Partial no_index = Wide::highest;

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
    Lane best = Order::identity;
    std::int64_t at = -1;
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      const Lane found = hn::GetLane(reduce_elements<Extreme<T, is_largest>>(row, first, end).a);
      if (at >= 0 && !Order::is_beyond(found, best)) continue;
      const std::int64_t position = find(row, first, end, found);
      if (position == end) continue;  // nothing counts in this block
      best = found;
      at = position;
      if constexpr (std::is_floating_point_v<Lane>) {
        if (std::isnan(best)) break;
      }
    }
    out[0] = static_cast<Partial>(best);
    out[plane] = at < 0 ? no_index : static_cast<Partial>(row.index + at * row.index_step);
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

  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, Partial* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    const hn::RebindToSigned<D> di;
    auto best = hn::Set(d, Order::identity);
    auto at = hn::Set(di, -1);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto v = load(d, tile.x[r] + c);
      // The first one that counts is taken whatever it is; the first NaN stays.
      auto is_better = Order::is_beyond(d, v, best);
      if constexpr (std::is_floating_point_v<Lane>) {
        is_better = hn::AndNot(hn::IsNaN(best), is_better);
      }
      is_better = hn::Or(is_better, hn::RebindMask(d, hn::Lt(at, hn::Zero(di))));
      const auto taken = lanes_that_count(d, tile.mask[r] + c).both(d, is_better);
      best = hn::IfThenElse(taken, v, best);
      at = hn::IfThenElse(hn::RebindMask(di, taken),
                          hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(r)), at);
    }
    HWY_ALIGN Lane values[lanes<D>];
    HWY_ALIGN hn::TFromD<decltype(di)> places[lanes<D>];
    hn::Store(best, d, values);
    hn::Store(at, di, places);
    for (std::int64_t i = 0; i < lanes<D>; ++i) {
      if (places[i] < 0) continue;
      absorb_one(state + i, n, static_cast<Partial>(values[i]),
                 static_cast<Partial>(tile.index[places[i]]));
    }
  }

  static void init(void* states, std::int64_t n) {
    auto* const state = static_cast<Partial*>(states);
    std::fill_n(state, n, Wide::identity);
    std::fill_n(state + n, n, no_index);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    const auto* const other = static_cast<const Partial*>(from);
    for (std::int64_t i = 0; i < n; ++i) {
      absorb_one(static_cast<Partial*>(into) + i, n, other[i], other[n + i]);
    }
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
