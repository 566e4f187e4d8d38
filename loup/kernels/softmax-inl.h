// The softmax family, along rows; columns are in softmax_columns-inl.h. Included once per
// instruction set, from kernel files only.

#if defined(LOUP_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SOFTMAX_INL_H_
#undef LOUP_KERNELS_SOFTMAX_INL_H_
#else
#define LOUP_KERNELS_SOFTMAX_INL_H_
#endif

#include <cmath>
#include <utility>

#include "loup/kernels/exp_log-inl.h"
#include "loup/kernels/lines-inl.h"
#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// What a line's results are made of. A line of which nothing counts, or only -inf, has a sum of 0
/// and is left as what masked elements become; a NaN or inf that counts makes the sum NaN.
template <class T>
struct Shares {
  T top;    // of the elements, but 0 when there are none
  T scale;  // of the exponentials; for logarithms what is subtracted
};

template <class T, bool is_log>
HWY_INLINE Shares<T> shares_of(const LineState& state) {
  const auto top = static_cast<T>(state.first == -infinite<double> ? 0 : state.first);
  if (state.second == 0) return {top, T{0}};
  return {top, static_cast<T>(is_log ? std::log(state.second) : 1 / state.second)};
}

/// exp(x) where results may be no normal numbers.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V small_share_of(D d, V x) {
  return exp(d, x);
}

/// exp(x) of x <= 0. What does not count is -inf here, and every other vector has some: results
/// that are no normal numbers, for which processors take a hundred times as long, are made only
/// where they are not 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V share_of(D d, V x) {
  using T = hn::TFromD<D>;
  const auto least = hn::Set(d, sizeof(T) == 4 ? T{-87} : T{-708});
  const auto is_small = hn::Lt(x, least);
  const auto is_denormal = hn::And(is_small, hn::Gt(x, hn::Set(d, ExpLog<T>::exp_least)));
  if (HWY_UNLIKELY(!hn::AllFalse(d, is_denormal))) return small_share_of(d, x);
  // The order matters: NaN stays NaN.
  return hn::IfThenZeroElse(is_small, exp_within(d, hn::Max(least, x)));
}

template <class E, bool is_log>
struct Softmax {
  using T = FullType<E>;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t N = lanes<D>;
  static constexpr T absent = is_log ? -infinite<T> : T{0};

  /// x or -x.
  struct Signed {
    V sign;
    explicit Signed(const double* parameters)
        : sign(hn::Set(D(), parameters[0] < 0 ? T{-0.0} : T{0})) {}
    HWY_INLINE V operator()(V x) const { return hn::Xor(x, sign); }
  };

  // NaN in one operand gives the second: a NaN may hide other elements of its line, which is NaN
  // as a whole anyway.
  static HWY_INLINE V largest(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE V largest(V a, V b, V c, V d, V top) {
    return hn::Max(hn::Max(hn::Max(a, b), hn::Max(c, d)), top);
  }

  // --- rows ---

  template <class Mask>
  static HWY_INLINE T gather(const E* x, Mask mask, std::int64_t count, T* scratch,
                             const Signed& map) {
    const D d;
    auto top = hn::Set(d, -infinite<T>);
    gather_row(d, x, mask, count, -infinite<T>, scratch, map,
               [&](auto... v) HWY_ATTR { top = largest(v..., top); });
    return hn::GetLane(hn::MaxOfLanes(d, top));
  }

  /// The sum of exponentials of a gathered row; with `keeps` they replace the elements. Calls
  /// `beside(i)` on the way, for every four vectors.
  template <bool keeps, class Beside>
  static HWY_INLINE double sum_exps(T* scratch, std::int64_t count, T top, Beside beside) {
    const D d;
    const hn::ScalableTag<double> wide;
    const auto shift = hn::Set(d, top == -infinite<T> ? T{0} : top);
    const auto at = [&](std::int64_t i) HWY_ATTR {
      const auto e = share_of(d, hn::Sub(hn::Load(d, scratch + i), shift));
      if constexpr (keeps) hn::Store(e, d, scratch + i);
      return e;
    };
    const std::int64_t end = padded(d, count);
    auto total = hn::Zero(wide);
    std::int64_t i = 0;
    while (i < end) {
      const std::int64_t stop = std::min(end, i + 64 * N);
      auto s0 = hn::Zero(d);
      auto s1 = s0;
      auto s2 = s0;
      auto s3 = s0;
      for (; i + 4 * N <= stop; i += 4 * N) {
        beside(i);
        s0 = hn::Add(s0, at(i));
        s1 = hn::Add(s1, at(i + N));
        s2 = hn::Add(s2, at(i + 2 * N));
        s3 = hn::Add(s3, at(i + 3 * N));
      }
      for (; i < stop; i += N) s0 = hn::Add(s0, at(i));
      const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
      if constexpr (sizeof(T) == 8) {
        total = hn::Add(total, sum);
      } else {
        widen<double>(
            d, sum, [&](auto, std::int64_t, auto part) HWY_ATTR { total = hn::Add(total, part); });
      }
    }
    return hn::GetLane(hn::SumOfLanes(wide, total));
  }

  static HWY_INLINE V result(V x, V top, V scale) {
    if constexpr (is_log) return hn::Sub(hn::Sub(x, top), scale);
    return hn::Mul(share_of(D(), hn::Sub(x, top)), scale);
  }

  /// A row of which all is known, but which is not written yet: scratch holds exponentials, or for
  /// logarithms the elements.
  class Results {
   public:
    Results() = default;
    HWY_INLINE Results(const LineBlock& b, std::int64_t r, const T* scratch, const LineState& state)
        : writer_(out_row<E>(b, r), b.in.cols, b.streams),
          scratch_(scratch),
          shares_(shares_of<T, is_log>(state)),
          r_(r),
          is_irregular_(std::isnan(state.second)) {}
    /// Writes some vectors.
    HWY_INLINE void step() {
      const auto own = value();
      writer_.step_four(own);
    }
    HWY_INLINE void finish(const LineBlock& b) {
      const auto own = value();
      writer_.finish(own);
      if (std::exchange(is_irregular_, false)) hide(b, r_, static_cast<E>(absent));
    }

   private:
    HWY_INLINE auto value() const {
      const D d;
      return [d, scratch = scratch_, top = hn::Set(d, shares_.top),
              scale = hn::Set(d, shares_.scale)](std::int64_t i) HWY_ATTR {
        const auto v = hn::LoadU(d, scratch + i);
        if constexpr (is_log) return result(v, top, scale);
        return hn::Mul(v, scale);
      };
    }

    RowWriter<D, E> writer_;
    const T* scratch_ = nullptr;
    Shares<T> shares_{};
    std::int64_t r_ = 0;
    bool is_irregular_ = false;
  };

  /// While the exponentials of a row are computed, the row before it is written and the one behind
  /// it is fetched.
  static void rows(const LineBlock& b, const double* parameters) {
    const D d;
    const Signed map(parameters);
    T* scratch = static_cast<T*>(b.scratch);
    T* other = scratch + padded(d, b.in.cols) + N;
    const std::int64_t used = reach(d, b.in);
    std::fill(scratch + used, scratch + padded(d, b.in.cols), absent);
    std::fill(other + used, other + padded(d, b.in.cols), absent);
    const std::int64_t fetched = rows_to_fetch<E>(b.in);
    Results before;
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) {
          write_row(d, out_row<E>(b, r), b.in.cols, b.streams,
                    [&](std::int64_t /*i*/) HWY_ATTR { return hn::Set(d, absent); });
          continue;
        }
        const T top = gather(in_row<E>(b, r), rows.mask(r), used, scratch, map);
        const Ahead ahead = ahead_of<E>(b.in, r + fetched);
        const double sum = sum_exps<!is_log>(scratch, used, top, [&](std::int64_t i) HWY_ATTR {
          ahead.template fetch<E, 4 * N>(i);
          before.step();
        });
        before.finish(b);
        before = Results(b, r, scratch, {top, sum});
        std::swap(scratch, other);
      }
    });
    before.finish(b);
    finish_streaming(b);
  }

  static void measure_rows(const LineBlock& b, LineState* states, const double* parameters) {
    const Signed map(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) continue;
        const T top = gather(in_row<E>(b, r), rows.mask(r), b.in.cols, scratch, map);
        const double sum = sum_exps<false>(scratch, b.in.cols, top, [](std::int64_t /*i*/) {});
        states[r] = merge(states[r], {top, sum}, parameters);
      }
    });
  }

  /// Writes all rows: results_of(r)(i, x) are those of the elements from i on.
  template <class ResultsOf>
  static HWY_INLINE void apply(const LineBlock& b, const double* parameters, ResultsOf results_of) {
    const D d;
    const Signed map(parameters);
    const auto none = hn::Set(d, absent);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        const E* const x = in_row<E>(b, r);
        const auto mask = rows.mask(r);
        const bool counts = rows.counts(r);
        const auto results = results_of(r);
        // Columns: rows lie far apart, and hardware fetches little of them.
        const Ahead ahead = ahead_of<E>(b.in, r + 4);
        write_row(d, out_row<E>(b, r), b.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
          ahead.template fetch<E, N>(i);
          if (!counts) return none;
          const auto value = [&](V v) HWY_ATTR { return results(i, map(v)); };
          return choose_at(d, x, mask, i, b.in.cols, value, none);
        });
      }
    });
    finish_streaming(b);
  }

  static void apply_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    const D d;
    apply(b, parameters, [&](std::int64_t r) HWY_ATTR {
      const Shares<T> shares = shares_of<T, is_log>(states[r]);
      return [top = hn::Set(d, shares.top), scale = hn::Set(d, shares.scale)](
                 std::int64_t /*i*/, V x) HWY_ATTR { return result(x, top, scale); };
    });
  }

  // --- pieces ---

  static LineState empty(const double* /*parameters*/) { return {-infinite<double>, 0}; }

  static LineState merge(const LineState& a, const LineState& b, const double* /*parameters*/) {
    if (a.first == -infinite<double> && a.second == 0) return b;
    if (b.first == -infinite<double> && b.second == 0) return a;
    const double top = std::max(a.first, b.first);
    const auto moved = [top](const LineState& s) {
      return s.first == top ? s.second : s.second * std::exp(s.first - top);
    };
    return {top, moved(a) + moved(b)};
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
