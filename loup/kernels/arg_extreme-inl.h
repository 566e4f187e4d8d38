// Where the largest and the least element are. Included once per instruction set.

#if defined(LOUP_KERNELS_ARG_EXTREME_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ARG_EXTREME_INL_H_
#undef LOUP_KERNELS_ARG_EXTREME_INL_H_
#else
#define LOUP_KERNELS_ARG_EXTREME_INL_H_
#endif

#include <utility>

#include "loup/kernels/arg_columns-inl.h"
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
  using Quick = std::conditional_t<is_half<T>, HalfExtreme<T, is_largest, true>,
                                   FastestExtreme<T, is_largest>>;
  using Order = Further<Lane, is_largest>;
  using Wide = Further<Partial, is_largest>;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = DType::i64;
  static constexpr DType second = dtype_of<Lane>();
  // Half types are compared so fast that joining the lanes of small blocks would be seen.
  static constexpr std::int64_t block = is_half<T> ? 512 : 256;
  static constexpr std::int64_t short_row = 64;
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

  template <class D, class Counts>
  static HWY_INLINE hn::Mask<D> is_wanted(D d, const T* x, Counts counts, Lane value) {
    const auto v = load(d, x);
    auto is_equal = hn::Eq(v, hn::Set(d, value));
    if constexpr (std::is_floating_point_v<Lane>) {
      if (HWY_UNLIKELY(std::isnan(value))) is_equal = hn::IsNaN(v);
    }
    return counts.both(d, is_equal);
  }
  /// Calls `visit(i, mask)` with the lanes from element i on that count and are `value`, until it
  /// returns false.
  template <class D, class Mask, class Visit>
  static HWY_INLINE void visit_wanted(D d, const Row<T, Mask>& row, std::int64_t first,
                                      std::int64_t end, Lane value, Visit visit) {
    constexpr std::int64_t N = lanes<D>;
    const std::int64_t full = row.cols - row.cols % chunk_lanes<T>;
    std::int64_t i = first;
    for (; i < std::min(end, full); i += N) {
      if (!visit(i, is_wanted(d, row.x + i, lanes_that_count(d, row.mask + i), value))) return;
    }
    for (; i < end; i += N) {
      const auto counts = lanes_that_count(d, row.mask_tail + (i - full), std::min(end - i, N));
      if (!visit(i, is_wanted(d, row.x_tail + (i - full), counts, value))) return;
    }
  }
  /// The first element of `row` from `first` on that counts and is `value`; `end` if there is none.
  template <class Mask>
  static HWY_INLINE std::int64_t find(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                                      Lane value) {
    const hn::ScalableTag<Lane> d;
    std::int64_t found = end;
    visit_wanted(d, row, first, end, value, [&](std::int64_t i, auto wanted) HWY_ATTR {
      const auto at = hn::FindFirstTrue(d, wanted);
      if (at >= 0) found = i + at;
      return at < 0;
    });
    return found;
  }
  /// The same in all of a short row, without a branch that depends on where the element is: it
  /// would be mispredicted once in each row.
  template <class Mask>
  static HWY_INLINE std::int64_t find_in_short(const Row<T, Mask>& row, Lane value) {
    const hn::ScalableTag<Lane> d;
    const auto nowhere = hn::Set(d, static_cast<Lane>(row.cols));
    const auto step = hn::Set(d, static_cast<Lane>(lanes<decltype(d)>));
    auto found = nowhere;
    auto here = hn::Iota(d, Lane{0});
    visit_wanted(d, row, 0, row.cols, value, [&](std::int64_t /*i*/, auto wanted) HWY_ATTR {
      found = hn::Min(found, hn::IfThenElse(wanted, here, nowhere));
      here = hn::Add(here, step);
      return true;
    });
    return static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(d, found)));
  }

  /// Where `found` takes the place of an extreme seen before.
  template <class Values, class D, class V = hn::Vec<D>>
  static HWY_INLINE hn::Mask<D> is_new(D d, V found, V best) {
    if constexpr (may_be_nan<Values>) {
      return hn::AndNot(hn::IsNaN(best), Order::is_beyond(d, found, best));
    } else {
      return Values::Order::is_further(found, best);
    }
  }
  template <class Values>
  static constexpr bool may_be_nan =
      std::is_floating_point_v<typename Values::Lane> && !requires { typename Values::Careful; };
  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, Partial* out, std::int64_t plane) {
    search_row<Quick>(row, out, plane);
  }
  template <class Values, class Mask>
  static HWY_NOINLINE void search_row(const Row<T, Mask>& row, Partial* out, std::int64_t plane) {
    using L = typename Values::Lane;
    const hn::ScalableTag<L> d;
    auto best = settled<Values>(d, Values::start(d));
    auto blocks = hn::Zero(d);  // exact also in 16 bits: plans cut rows of more than 2^16
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const auto found = reduce_lanes<Values>(row, first, std::min(row.cols, first + block));
      if constexpr (requires { typename Values::Careful; }) {
        if (HWY_UNLIKELY(Values::is_doubtful(d, found))) {
          return search_row<typename Values::Careful>(row, out, plane);
        }
      }
      const auto improves = is_new<Values>(d, found.a, best.a);
      best.a = hn::IfThenElse(improves, found.a, best.a);
      const std::int64_t number = first / block;
      blocks = hn::IfThenElse(improves, hn::Set(d, static_cast<L>(number)), blocks);
    }
    const L extreme = hn::GetLane(join_lanes<Values>(d, best).a);
    std::int64_t first = 0;
    std::int64_t end = row.cols;
    // The extreme of nothing may be that of some elements, too: it says of no block that it is
    // there.
    if (row.cols > block && extreme != Values::nothing) {
      auto is_best = hn::Eq(best.a, hn::Set(d, extreme));
      if constexpr (may_be_nan<Values>) {
        if (std::isnan(extreme)) is_best = hn::IsNaN(best.a);
      }
      const auto candidates = hn::IfThenElse(is_best, blocks, hn::Set(d, Values::Order::highest));
      first = static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(d, candidates))) * block;
      end = std::min(row.cols, first + block);
    }
    Lane value = Values::element(extreme);
    const std::int64_t at =
        row.cols <= short_row ? find_in_short(row, value) : find(row, first, end, value);
    if constexpr (is_half<T>) {
      // The element itself: lanes know of one 0 only.
      if (at != end) value = element_at(row, at);
    }
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
    absorb_some(state, n, rows, rows + group_rows, group_rows);
  }

  static void across(const States& states, const Block& b) {
    using Columns = ArgColumns<T, is_largest>;
    using D = hn::ScalableTag<Lane>;
    constexpr std::int64_t most_columns = 2048;
    HWY_ALIGN Lane found[2 * most_columns];
    Block part = in_order(b);
    const std::int64_t index = std::exchange(part.index, 0);
    const std::int64_t step = std::exchange(part.index_row, 1);
    auto* const state = static_cast<Partial*>(states.data) + states.first;
    for (std::int64_t c = 0; c < b.cols; c += most_columns) {
      part.cols = std::min(most_columns, b.cols - c);
      const std::int64_t width = (part.cols + lanes<D> - 1) / lanes<D> * lanes<D>;
      Columns::clear(found, width);
      HWY_NAMESPACE::across<Columns>({found, width, 0}, part);
      for (std::int64_t i = 0; i < part.cols; i += lanes<D>) {
        absorb_columns(D(), state + c + i, states.count, found + i, found + width + i,
                       std::min(lanes<D>, part.cols - i), index, step);
      }
      part.x = static_cast<const T*>(part.x) + part.cols;
      if (part.mask != nullptr) part.mask += part.cols * part.mask_col;
    }
  }
  /// The same rows by rising index.
  static Block in_order(const Block& b) {
    if (b.index_row >= 0 || b.rows == 0) return b;
    Block turned = b;
    turned.x = static_cast<const T*>(b.x) + (b.rows - 1) * b.x_row;
    turned.x_row = -b.x_row;
    if (b.mask != nullptr) turned.mask = b.mask + (b.rows - 1) * b.mask_row;
    turned.mask_row = -b.mask_row;
    turned.index = b.index + (b.rows - 1) * b.index_row;
    turned.index_row = -b.index_row;
    return turned;
  }
  /// A vector of what ArgColumns found, of which the first `count` are columns.
  template <class D>
  static HWY_INLINE void absorb_columns(D d, Partial* state, std::int64_t n, const Lane* best,
                                        const Lane* rows, std::int64_t count, std::int64_t index,
                                        std::int64_t step) {
    using Columns = ArgColumns<T, is_largest>;
    auto value = hn::LoadU(d, best);
    auto row = hn::LoadU(d, rows);
    if constexpr (Columns::has_nan) {
      const auto is_nan = hn::Lt(row, hn::Set(d, Columns::nowhere));
      value = hn::IfThenElse(is_nan, hn::Set(d, std::numeric_limits<Lane>::quiet_NaN()), value);
      row = hn::IfThenElse(is_nan, hn::Sub(hn::Set(d, Columns::first_nan), row), row);
    }
    HWY_ALIGN Partial values[lanes<D>];
    HWY_ALIGN Partial indices[lanes<D>];
    store_wide(d, value, values);
    store_wide(d, row, indices);
    const hn::ScalableTag<Partial> dp;
    for (std::int64_t i = 0; i < lanes<D>; i += lanes<decltype(dp)>) {
      const auto at = hn::Load(dp, indices + i);
      const auto scaled = hn::Add(hn::Set(dp, static_cast<Partial>(index)),
                                  hn::Mul(at, hn::Set(dp, static_cast<Partial>(step))));
      const auto is_nowhere = hn::Lt(at, hn::Zero(dp));
      hn::Store(hn::IfThenElse(is_nowhere, hn::Set(dp, no_index), scaled), dp, indices + i);
    }
    absorb_some(state, n, values, indices, count);
  }
  /// `count` elements with their indices into as many states.
  static HWY_INLINE void absorb_some(Partial* state, std::int64_t n, const Partial* values,
                                     const Partial* indices, std::int64_t count) {
    const hn::ScalableTag<Partial> d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    std::int64_t i = 0;
    for (; i + N <= count; i += N) {
      absorb_lanes(d, state + i, n, hn::LoadU(d, values + i), hn::LoadU(d, indices + i));
    }
    for (; i < count; ++i) absorb_one(state + i, n, values[i], indices[i]);
  }

  static void init(void* states, std::int64_t n) {
    auto* const state = static_cast<Partial*>(states);
    std::fill_n(state, n, Wide::identity);
    std::fill_n(state + n, n, no_index);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    const auto* const other = static_cast<const Partial*>(from);
    absorb_some(static_cast<Partial*>(into), n, other, other + n, n);
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
