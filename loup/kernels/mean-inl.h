// Means: a sum and the number of its elements. Included once per instruction set.

#if defined(LOUP_KERNELS_MEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_MEAN_INL_H_
#undef LOUP_KERNELS_MEAN_INL_H_
#else
#define LOUP_KERNELS_MEAN_INL_H_
#endif

#include "loup/kernels/count-inl.h"
#include "loup/kernels/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// The states of a sum, and one more plane: how many elements counted. Counts are whole numbers of
/// the type of partial sums, exact up to 2^53.
template <class Sum>
struct Mean : Sum {
  using T = typename Sum::Element;
  using P = typename Sum::Partial;
  static constexpr int planes = Sum::planes + 1;
  // The mean of integers is a fraction.
  static constexpr bool is_integer = std::is_integral_v<P>;
  static constexpr DType result = is_integer ? DType::f64 : Sum::result;

  static void init(void* states, std::int64_t n) {
    std::fill_n(static_cast<P*>(states), planes * n, P{});
  }
  static HWY_INLINE void empty_row(P* out, std::int64_t plane) {
    Sum::empty_row(out, plane);
    std::fill_n(out + Sum::planes * plane, Sum::kept_lanes, P{});
  }
  template <class D>
  static HWY_INLINE void spread(D d, std::int64_t lane, hn::Vec<D> v, hn::Mask<D> counts, P* out,
                                std::int64_t plane) {
    Sum::spread(d, lane, v, counts, out, plane);
    const auto ones = hn::IfThenElseZero(counts, hn::Set(d, hn::TFromD<D>{1}));
    store_wide(d, ones, out + Sum::planes * plane + lane);
  }
  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, P* out, std::int64_t plane) {
    Sum::row(row, out, plane);
    P* const counts = out + Sum::planes * plane;
    std::fill_n(counts, Sum::kept_lanes, P{});
    counts[0] = static_cast<P>(count_of(row.mask, row.cols));
  }
  template <class Rows>
    requires requires { Sum::short_cols; }
  static HWY_INLINE void short_rows(const Block& b, Rows rows, std::int64_t first, P* out,
                                    std::int64_t plane) {
    Sum::short_rows(b, rows, first, out, plane);
    P* const counts = out + Sum::planes * plane;
    for (std::int64_t r = 0; r < group_rows; ++r) {
      spread_count(rows.mask(first + r), b.cols, counts + r * Sum::kept_lanes);
    }
  }
  static HWY_INLINE void absorb(P* state, std::int64_t n, const P* value) {
    Sum::absorb(state, n, value);
    state[Sum::planes * n] += value[Sum::planes * group_rows];
  }
  static HWY_INLINE void absorb_group(P* state, std::int64_t n, const P* values) {
    Sum::absorb_group(state, n, values);
    for (std::int64_t i = 0; i < group_rows; ++i) {
      state[Sum::planes * n + i] += values[Sum::planes * group_rows + i];
    }
  }
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, P* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    if constexpr (std::is_same_v<Mask, ByteMask>) {
      LaneCounts<D, P> counts;
      Sum::template tile<fixed_rows>(d, state, n, tile, c,
                                     [&](Mask mask) HWY_ATTR { counts.add(mask); });
      counts.into(state + Sum::planes * n);
    } else {
      Sum::template tile<fixed_rows>(d, state, n, tile, c);
    }
  }
  static HWY_INLINE void add_whole_rows(const States& states, std::int64_t cols,
                                        std::int64_t rows) {
    P* const counts = static_cast<P*>(states.data) + Sum::planes * states.count + states.first;
    for (std::int64_t i = 0; i < cols; ++i) counts[i] += static_cast<P>(rows);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    Sum::merge(into, from, n);
    P* const a = static_cast<P*>(into) + Sum::planes * n;
    const P* const b = static_cast<const P*>(from) + Sum::planes * n;
    for (std::int64_t i = 0; i < n; ++i) a[i] += b[i];
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    using Out = std::conditional_t<is_integer || result == DType::f64, double, float>;
    const P* const sums = static_cast<const P*>(states);
    const P* const counts = sums + Sum::planes * n;
    Out* const means = static_cast<Out*>(out);
    for (std::int64_t i = 0; i < n; ++i) {
      means[i] = static_cast<Out>(Sum::total(sums + i, n) / static_cast<double>(counts[i]));
    }
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
