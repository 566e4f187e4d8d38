#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/log_sum_exp.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/kernels/exp_log-inl.h"
#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// A state is the largest element and the sum of exp(x - largest). Each block of a row is read
/// twice while it is in the first-level cache. Where the largest is infinite or NaN the sum is 1,
/// of nothing it is 0, so that largest + log(sum) is right everywhere.
template <class T>
struct LogSumExp {
  using Element = T;
  using Lane = T;
  using Partial = double;
  using Order = Further<T, true>;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = dtype_of<T>();
  static constexpr std::int64_t block = 1024;
  // Exponentials below this are nothing beside the largest, which is 1, but slow to compute.
  static constexpr T least_exponent = sizeof(T) == 4 ? -87 : -708;

  struct Terms {
    double largest, sum;
  };
  static HWY_INLINE Terms load_state(const double* state, std::int64_t n) {
    return {state[0], state[n]};
  }
  static HWY_INLINE void store_state(const Terms& t, double* state, std::int64_t n) {
    state[0] = t.largest;
    state[n] = t.sum;
  }
  static HWY_INLINE double shrunk(const Terms& t, double largest) {
    return t.largest == largest ? t.sum : t.sum * std::exp(t.largest - largest);
  }
  static HWY_INLINE Terms joined(const Terms& a, const Terms& b) {
    if (a.sum == 0) return b;
    if (b.sum == 0) return a;
    const double largest =
        Further<double, true>::is_beyond(b.largest, a.largest) ? b.largest : a.largest;
    if (!std::isfinite(largest)) return {largest, 1};
    return {largest, shrunk(a, largest) + shrunk(b, largest)};
  }

  /// exp(x - largest), or something as small where that is next to nothing.
  template <class D>
  static HWY_INLINE hn::Vec<D> term(D d, hn::Vec<D> x, hn::Vec<D> largest) {
    return exp_within(d, hn::Max(hn::Sub(x, largest), hn::Set(d, least_exponent)));
  }

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t plane) {
    Terms all{Order::identity, 0};
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      const T largest = hn::GetLane(reduce_elements<Extreme<T, true>>(row, first, end).a);
      if (largest == Order::identity) continue;  // nothing counts, or only -inf
      // The sum is taken relative to what came before, where that is larger.
      const T pivot = Order::is_beyond(largest, static_cast<T>(all.largest))
                          ? largest
                          : static_cast<T>(all.largest);
      if (!std::isfinite(pivot)) {
        all = {pivot, 1};
        continue;
      }
      const auto terms = [pivot](auto v) HWY_ATTR {
        const hn::ScalableTag<T> d;
        return term(d, v, hn::Set(d, pivot));
      };
      const T sum = hn::GetLane(reduce_elements<LaneSum<T, T>>(row, first, end, terms).a);
      all = {pivot, (all.sum == 0 ? 0 : shrunk(all, pivot)) + sum};
    }
    store_state(all, out, plane);
  }
  static HWY_INLINE void empty_row(double* out, std::int64_t plane) {
    store_state({Order::identity, 0}, out, plane);
  }
  static HWY_INLINE void fold(const double* from, double* to, std::int64_t rows) {
    std::copy_n(from, rows, to);
  }
  static HWY_INLINE void absorb(double* state, std::int64_t n, const double* row) {
    store_state(joined(load_state(state, n), load_state(row, group_rows)), state, n);
  }
  static HWY_INLINE void absorb_group(double* state, std::int64_t n, const double* rows) {
    for (std::int64_t i = 0; i < group_rows; ++i) absorb(state + i, n, rows + i);
  }

  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, double* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    HWY_ALIGN T largest_before[lanes<D>];
    for (std::int64_t i = 0; i < lanes<D>; ++i) largest_before[i] = static_cast<T>(state[i]);
    const auto before = hn::Load(d, largest_before);
    auto largest = before;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto v = load(d, tile.x[r] + c);
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      largest = hn::IfThenElse(counts.both(d, Order::is_beyond(d, v, largest)), v, largest);
    }
    auto sum = hn::Zero(d);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      sum = hn::Add(sum, counts.select(d, term(d, load(d, tile.x[r] + c), largest), hn::Zero(d)));
    }
    const bool is_settled = hn::AllTrue(d, hn::Eq(largest, before)) &&
                            hn::AllTrue(d, hn::Lt(hn::Abs(largest), hn::Set(d, Order::highest)));
    HWY_ALIGN T sums[lanes<D>];
    HWY_ALIGN T pivots[lanes<D>];
    hn::Store(sum, d, sums);
    hn::Store(largest, d, pivots);
    for (std::int64_t i = 0; i < lanes<D>; ++i) {
      if (is_settled) {
        state[n + i] += static_cast<double>(sums[i]);
        continue;
      }
      const double pivot = static_cast<double>(pivots[i]);
      if (std::isfinite(pivot)) {
        const double old = state[n + i] == 0 ? 0 : shrunk(load_state(state + i, n), pivot);
        store_state({pivot, old + static_cast<double>(sums[i])}, state + i, n);
      } else if (pivot != static_cast<double>(Order::identity)) {
        store_state({pivot, 1}, state + i, n);
      }
    }
  }

  static void init(void* states, std::int64_t n) {
    auto* const state = static_cast<double*>(states);
    std::fill_n(state, n, static_cast<double>(Order::identity));
    std::fill_n(state + n, n, 0.0);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    auto* const a = static_cast<double*>(into);
    const auto* const b = static_cast<const double*>(from);
    for (std::int64_t i = 0; i < n; ++i) {
      store_state(joined(load_state(a + i, n), load_state(b + i, n)), a + i, n);
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const from = static_cast<const double*>(states);
    for (std::int64_t i = 0; i < n; ++i) {
      const Terms t = load_state(from + i, n);
      static_cast<T*>(out)[i] = static_cast<T>(t.largest + std::log(t.sum));
    }
  }
};

}  // namespace

const Reducer* find_log_sum_exp(DType dtype) {
  if (dtype == DType::f32) return &reducer_of<LogSumExp<float>>;
  return dtype == DType::f64 ? &reducer_of<LogSumExp<double>> : nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_log_sum_exp);
const Reducer* log_sum_exp(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_log_sum_exp)(dtype); }
}  // namespace loup::kernels
#endif
