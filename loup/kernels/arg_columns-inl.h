// The rows of a block where the extremes of its columns are. Included once per instruction set.

#if defined(LOUP_KERNELS_ARG_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ARG_COLUMNS_INL_H_
#undef LOUP_KERNELS_ARG_COLUMNS_INL_H_
#else
#define LOUP_KERNELS_ARG_COLUMNS_INL_H_
#endif

#include "loup/kernels/extreme-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// An operator for across() of reduce-inl.h. A state is an element and its row, the first of
/// several equal ones; rows are exact because blocks have fewer than 2^24. Both are as wide as
/// elements, so that a vector of columns needs one vector of each.
template <class T, bool is_largest>
struct ArgColumns {
  using Element = T;
  using Lane = FullType<T>;
  using Partial = Lane;
  using Order = Further<Lane, is_largest>;
  static constexpr int planes = 2;
  static constexpr bool has_nan = std::is_floating_point_v<Lane>;
  /// The row of nothing.
  static constexpr Lane nowhere = -1;
  /// A NaN at row r: held as what no number is beyond, at `first_nan` - r.
  static constexpr Lane unbeaten = Further<Lane, !is_largest>::identity;
  static constexpr Lane first_nan = -2;

  static void clear(Lane* states, std::int64_t n) {
    std::fill_n(states, n, Order::identity);
    std::fill_n(states + n, n, nowhere);
  }

  /// Which row of a tile its r-th row that counts is; known beforehand where all of them do.
  template <std::int64_t fixed_rows, class Mask>
  static HWY_INLINE Lane place_of(const Tile<T, Mask>& tile, std::int64_t r) {
    return static_cast<Lane>(fixed_rows == group_rows ? r : tile.place[r]);
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, Lane* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    const auto old_row = hn::LoadU(d, state + n);
    auto best = hn::LoadU(d, state);
    auto place = hn::Set(d, nowhere);
    auto is_empty = hn::Eq(old_row, place);
    auto sum = hn::Zero(d);  // NaN if an element is, as that of QuickExtreme
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      const auto v = counts.keep(d, load(d, tile.x[r] + c));
      const auto is_first = counts.both(d, is_empty);
      const auto taken = hn::Or(is_first, counts.both(d, Order::is_further(v, best)));
      is_empty = hn::AndNot(is_first, is_empty);
      // Not by `taken`: the next row would have to wait for it.
      best = counts.select(d, Order::further_number(v, best), best);
      place = hn::IfThenElse(taken, hn::Set(d, place_of<fixed_rows>(tile, r)), place);
      if constexpr (has_nan) sum = hn::Add(sum, v);
    }
    if constexpr (has_nan) {
      if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(sum)))) {
        tile_with_nan<fixed_rows>(d, state, n, tile, c);
        return;
      }
    }
    const auto row = hn::Add(hn::Set(d, static_cast<Lane>(tile.index)), place);
    const auto is_new = hn::Gt(place, hn::Set(d, nowhere));
    hn::StoreU(best, d, state);
    hn::StoreU(hn::IfThenElse(is_new, row, old_row), d, state + n);
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_NOINLINE void tile_with_nan(D d, Lane* state, std::int64_t n,
                                         const Tile<T, Mask>& tile, std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    auto best = hn::LoadU(d, state);
    auto row = hn::LoadU(d, state + n);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      const auto v = load(d, tile.x[r] + c);
      const auto here = hn::Set(d, static_cast<Lane>(tile.index) + place_of<fixed_rows>(tile, r));
      const auto is_nan = hn::IsNaN(v);
      const auto is_better = hn::Or(Order::is_further(v, best), hn::Eq(row, hn::Set(d, nowhere)));
      const auto number = counts.both(d, hn::AndNot(is_nan, is_better));
      const auto nan = counts.both(d, hn::And(is_nan, hn::Ge(row, hn::Set(d, nowhere))));
      best = hn::IfThenElse(nan, hn::Set(d, unbeaten), hn::IfThenElse(number, v, best));
      row = hn::IfThenElse(number, here, row);
      row = hn::IfThenElse(nan, hn::Sub(hn::Set(d, first_nan), here), row);
    }
    hn::StoreU(best, d, state);
    hn::StoreU(row, d, state + n);
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
