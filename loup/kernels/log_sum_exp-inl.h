// Logarithms of sums of exponentials. Included once per instruction set.

#if defined(LOUP_KERNELS_LOG_SUM_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_LOG_SUM_EXP_INL_H_
#undef LOUP_KERNELS_LOG_SUM_EXP_INL_H_
#else
#define LOUP_KERNELS_LOG_SUM_EXP_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loup/kernels/exp_log-inl.h"
#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// A state is the largest element, or one that is less by no more than log(most_sum), and the sum
/// of exp(x - largest). A block of a row is read again, while it is in the first-level cache, where
/// it turns out to have much larger elements than those before. Where the largest is infinite or
/// NaN the sum is 1, of nothing it is 0, so that largest + log(sum) is right everywhere.
template <class T>
struct LogSumExp {
  using Element = T;
  using Lane = FullType<T>;
  using Partial = double;
  using Order = Further<Lane, true>;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = dtype_of<Lane>();
  static constexpr std::int64_t block = is_half<T> ? 2048 : 1024;
  static constexpr std::int64_t sample = 128;
  // No block of terms up to 1 has a larger sum. One of a few terms may be much larger than 1: sums
  // that follow every new largest element would be scaled again and again.
  static constexpr Lane most_sum = block;
  // Exponentials of this are too large for any sum that is used; those of less than its negative
  // are nothing beside the largest, which is 1, but slow to compute.
  static constexpr Lane most_exponent = sizeof(Lane) == 4 ? 87 : 708;

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

  /// exp(x - pivot): too large for any sum that is used, or NaN, unless both are finite and x is
  /// not much larger, or one of them is infinite and x the smaller one.
  template <class D>
  static HWY_INLINE hn::Vec<D> term(D d, hn::Vec<D> x, hn::Vec<D> pivot) {
    const auto distance = hn::Sub(x, pivot);
#if HWY_TARGET <= HWY_AVX3
    // What is nearer to 0, with the sign of the distance; NaN becomes the most.
    constexpr int nearer = 0b0010;
    const auto most = hn::Set(d, most_exponent);
    if constexpr (sizeof(Lane) == 4) {
      return exp_within(d, hn::Vec<D>{_mm512_range_ps(distance.raw, most.raw, nearer)});
    } else {
      return exp_within(d, hn::Vec<D>{_mm512_range_pd(distance.raw, most.raw, nearer)});
    }
#else
    // The order matters: NaN stays NaN.
    const auto bounded = hn::Max(hn::Set(d, -most_exponent), distance);
    return exp_within(d, hn::Min(hn::Set(d, most_exponent), bounded));
#endif
  }

  template <class Mask>
  static HWY_INLINE Lane largest_of(const Row<T, Mask>& row, std::int64_t first, std::int64_t end) {
    return hn::GetLane(reduce_elements<Extreme<T, true>>(row, first, end).a);
  }
  template <class Mask>
  static HWY_INLINE Lane exp_sum(const Row<T, Mask>& row, std::int64_t first, std::int64_t end,
                                 Lane pivot) {
    const hn::ScalableTag<Lane> d;
    if constexpr (is_half<T>) {
      // No product with such a pivot overflows, and results are rounded by more than it is.
      if (HWY_LIKELY(std::abs(pivot) < 0x1p20F)) {
        constexpr auto log2e = static_cast<float>(std::numbers::log2e);
        const auto terms = [shift = hn::Set(d, -pivot * log2e)](auto v) HWY_ATTR {
          return brief_exp2(hn::MulAdd(v, hn::Set(hn::ScalableTag<Lane>(), log2e), shift));
        };
        const Filled filled{static_cast<T>(Order::identity), terms};
        return hn::GetLane(reduce_elements<LaneSum<T, Lane>>(row, first, end, filled).a);
      }
    }
    const auto terms = [pivot = hn::Set(d, pivot)](auto v)
                           HWY_ATTR { return term(hn::ScalableTag<Lane>(), v, pivot); };
    return hn::GetLane(reduce_elements<LaneSum<T, Lane>>(row, first, end, terms).a);
  }
  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t plane) {
    Terms all{Order::identity, 0};
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      // Relative to what came before, or to the largest of a few: as a rule no other is much
      // larger. A sum that no terms up to 1 could have tells, and so does one of infinity or NaN.
      const auto before = static_cast<Lane>(all.largest);
      Lane pivot = before;
      if (!std::isfinite(pivot)) pivot = largest_of(row, first, std::min(end, first + sample));
      Lane sum = std::isfinite(pivot) ? exp_sum(row, first, end, pivot) : Order::highest;
      if (!(sum <= most_sum)) {
        const Lane largest = largest_of(row, first, end);
        if (largest == Order::identity) continue;  // nothing counts, or only -inf
        pivot = Order::is_beyond(largest, before) ? largest : before;
        if (!std::isfinite(pivot)) {
          all = {pivot, 1};
          continue;
        }
        sum = exp_sum(row, first, end, pivot);
      }
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

  /// Relative to the pivots.
  template <class D, class Mask>
  static HWY_INLINE hn::Vec<D> sum_of_tile(D d, const Tile<T, Mask>& tile, std::int64_t c,
                                           std::int64_t rows, hn::Vec<D> pivot) {
    auto sum = hn::Zero(d);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      sum = hn::Add(sum, counts.select(d, term(d, load(d, tile.x[r] + c), pivot), hn::Zero(d)));
    }
    return sum;
  }
  /// As in rows: relative to what came before, unless some are much larger.
  template <std::int64_t fixed_rows, class D, class Mask>
  static HWY_INLINE void tile(D d, double* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    const auto before = load_narrow(d, state);
    const auto sum = sum_of_tile(d, tile, c, rows, before);
    const auto is_near = hn::Le(sum, hn::Set(d, most_sum));
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_near))) {
      return tile_of_larger(d, state, n, tile, c, sum, is_near);
    }
    if constexpr (sizeof(Lane) == 8) {
      hn::StoreU(hn::Add(hn::LoadU(d, state + n), sum), d, state + n);
    } else {
      const hn::ScalableTag<double> dw;
      HWY_ALIGN double sums[lanes<D>];
      store_wide(d, sum, sums);
      for (std::int64_t i = 0; i < lanes<D>; i += lanes<decltype(dw)>) {
        hn::StoreU(hn::Add(hn::LoadU(dw, state + n + i), hn::Load(dw, sums + i)), dw,
                   state + n + i);
      }
    }
  }
  /// Where the sum is not near, it is taken anew, relative to the largest of the tile.
  template <class D, class Mask>
  static HWY_NOINLINE void tile_of_larger(D d, double* state, std::int64_t n,
                                          const Tile<T, Mask>& tile, std::int64_t c, hn::Vec<D> sum,
                                          hn::Mask<D> is_near) {
    using Largest = Extreme<T, true>;
    const auto before = load_narrow(d, state);
    auto seen = Largest::start(d);
    seen.a = before;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      Largest::add(d, seen, load(d, tile.x[r] + c), lanes_that_count(d, tile.mask[r] + c));
    }
    const auto largest = hn::IfThenElse(is_near, before, Largest::settled(d, seen).a);
    sum = hn::IfThenElse(is_near, sum, sum_of_tile(d, tile, c, tile.rows, largest));
    HWY_ALIGN double sums[lanes<D>];
    HWY_ALIGN double tops[lanes<D>];
    store_wide(d, sum, sums);
    store_wide(d, largest, tops);
    const hn::ScalableTag<double> dw;
    for (std::int64_t i = 0; i < lanes<D>; i += lanes<decltype(dw)>) {
      const auto top = hn::Load(dw, tops + i);
      const auto old = shrunk(dw, hn::LoadU(dw, state + i), hn::LoadU(dw, state + n + i), top);
      store_lanes(dw, top, hn::Add(old, hn::Load(dw, sums + i)), state + i, n);
    }
  }
  /// A sum relative to a number above its own largest: in double, or many of these would add up to
  /// an error.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V shrunk(D d, V largest, V sum, V top) {
    if (hn::AllTrue(d, hn::Eq(largest, top))) return sum;
    const auto least = hn::Set(d, -LogSumExp<double>::most_exponent);
    return hn::Mul(sum, exp_within(d, hn::Max(hn::Sub(largest, top), least)));
  }
  /// The states of these terms. The sum is not looked at where the largest is infinite or NaN.
  template <class D>
  static HWY_INLINE void store_lanes(D d, hn::Vec<D> largest, hn::Vec<D> sum, double* state,
                                     std::int64_t n) {
    const auto infinite = hn::Set(d, Further<double, true>::highest);
    const auto other = hn::IfThenZeroElse(hn::Eq(largest, hn::Neg(infinite)), hn::Set(d, 1.0));
    hn::StoreU(largest, d, state);
    hn::StoreU(hn::IfThenElse(hn::Lt(hn::Abs(largest), infinite), sum, other), d, state + n);
  }
  /// One vector of states.
  static HWY_INLINE hn::Vec<hn::ScalableTag<Lane>> load_narrow(hn::ScalableTag<Lane> d,
                                                               const double* from) {
    if constexpr (sizeof(Lane) == 8) {
      return hn::LoadU(d, from);
    } else {
      const hn::Half<decltype(d)> dh;
      const hn::Rebind<double, decltype(dh)> dw;
      return hn::Combine(d, hn::DemoteTo(dh, hn::LoadU(dw, from + lanes<decltype(dh)>)),
                         hn::DemoteTo(dh, hn::LoadU(dw, from)));
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
    const hn::ScalableTag<double> d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) {
      const auto first = hn::LoadU(d, a + i);
      const auto second = hn::LoadU(d, b + i);
      const auto top = Further<double, true>::further(d, first, second);
      store_lanes(d, top,
                  hn::Add(shrunk(d, first, hn::LoadU(d, a + n + i), top),
                          shrunk(d, second, hn::LoadU(d, b + n + i), top)),
                  a + i, n);
    }
    for (; i < n; ++i) {
      store_state(joined(load_state(a + i, n), load_state(b + i, n)), a + i, n);
    }
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const from = static_cast<const double*>(states);
    auto* const to = static_cast<Lane*>(out);
    const hn::ScalableTag<double> d;
    constexpr std::int64_t N = lanes<decltype(d)>;
    const auto log_of = [d](const double* largest, const double* sum, Lane* result,
                            std::int64_t count) HWY_ATTR {
      HWY_ALIGN double results[N];
      hn::Store(hn::Add(hn::LoadU(d, largest), log(d, hn::LoadU(d, sum))), d, results);
      std::transform(results, results + count, result,
                     [](double value) { return static_cast<Lane>(value); });
    };
    std::int64_t i = 0;
    for (; i + N <= n; i += N) log_of(from + i, from + n + i, to + i, N);
    if (i == n) return;
    double largest[N] = {};
    double sum[N] = {};
    std::copy(from + i, from + n, largest);
    std::copy(from + n + i, from + 2 * n, sum);
    log_of(largest, sum, to + i, n - i);
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
