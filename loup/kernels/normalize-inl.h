// Lines divided by their norms. Included once per instruction set, from kernel files only.
//
// Parameters: the order of the norm, and the least divisor.

#if defined(LOUP_KERNELS_NORMALIZE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_NORMALIZE_INL_H_
#undef LOUP_KERNELS_NORMALIZE_INL_H_
#else
#define LOUP_KERNELS_NORMALIZE_INL_H_
#endif

#include <cmath>
#include <utility>

#include "loup/kernels/lines-inl.h"
#include "loup/kernels/virtual_vector-inl.h"
#include "loup/kernels/wide_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

inline double std_pow(double x, double p) { return std::pow(x, p); }

/// Sums of |x|^p. Of floats they are made of doubles, so that squares neither overflow nor vanish.
template <bool is_square>
struct PowerSum {
  double p;
  explicit PowerSum(const double* parameters) : p(parameters[0]) {}

  template <class T, class D, class V = hn::Vec<D>>
  HWY_INLINE V term(D d, V v) const {
    if constexpr (is_square) return hn::Mul(v, v);
    const auto magnitude = hn::Abs(v);
    if (p == 1) return magnitude;
    const auto one = hn::Set(d, 1.0);
    if (p == 0) return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), one);
    const auto order = hn::Set(d, p);
    if constexpr (sizeof(T) == 8) {
      return replace_lanes<std_pow>(d, magnitude, order, hn::Eq(one, one), magnitude);
    } else {
      const auto power = wide_exp2(d, hn::Mul(order, careful_log2(d, magnitude)));
      const auto at_zero = hn::Set(d, p > 0 ? 0 : infinity);
      const auto at_inf = hn::Set(d, p > 0 ? infinity : 0);
      const auto finite = hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), at_zero, power);
      return hn::IfThenElse(hn::Eq(magnitude, hn::Set(d, infinity)), at_inf, finite);
    }
  }
  double empty() const { return 0; }
  double merge(double a, double b) const { return a + b; }
  double norm(double sum) const {
    if constexpr (is_square) return std::sqrt(sum);
    return p == 0 || p == 1 ? sum : std::pow(sum, 1 / p);
  }
};

/// The largest or smallest |x|; NaN wins.
struct Extreme {
  double sign;  // -1: of -|x| the largest
  explicit Extreme(const double* parameters) : sign(parameters[0] < 0 ? -1 : 1) {}

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V term(D d, V v) const {
    const auto magnitude = hn::Abs(v);
    return sign < 0 ? hn::Neg(magnitude) : hn::Add(magnitude, hn::Zero(d));
  }
  template <class V>
  static HWY_INLINE V larger(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
  double empty() const { return sign < 0 ? -infinity : 0; }
  double merge(double a, double b) const { return std::isnan(a) || a > b ? a : b; }
  double norm(double value) const { return sign * value; }
};

/// Writes the rows from `first` to `last`, divided by a number each or, `by_column`, one for each
/// column; 0 where they do not count. Not for every norm anew.
template <class E>
void divide(const LineBlock& b, std::int64_t first, std::int64_t last, const FullType<E>* divisors,
            bool by_column) {
  const hn::ScalableTag<FullType<E>> d;
  using V = hn::Vec<decltype(d)>;
  with_mask(b.in, [&](auto rows) HWY_ATTR {
    for (std::int64_t r = first; r < last; ++r) {
      const E* const x = in_row<E>(b, r);
      const auto mask = rows.mask(r);
      const bool counts = rows.counts(r);
      // Columns: rows lie far apart, and hardware fetches little of them.
      const Ahead ahead = ahead_of<E>(b.in, r + 4);
      write_row(d, out_row<E>(b, r), b.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
        ahead.template fetch<E, lanes<decltype(d)>>(i);
        if (!counts) return hn::Zero(d);
        const V divisor = by_column ? hn::LoadU(d, divisors + i) : hn::Set(d, divisors[r - first]);
        const auto value = [&](V v) HWY_ATTR { return hn::Div(v, divisor); };
        return choose_at(d, x, mask, i, b.in.cols, value, hn::Zero(d));
      });
    }
  });
}

template <class E, class Norm>
struct Normalize {
  using T = FullType<E>;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t N = lanes<D>;
  static constexpr bool is_sum = !std::is_same_v<Norm, Extreme>;

  /// In place of what does not count: adds nothing to the norm.
  static T absent(const double* parameters) { return parameters[0] < 0 ? infinite<T> : T{0}; }
  static HWY_INLINE V same(V v) { return v; }

  /// What a line is divided by.
  static double divisor(const Norm& norm, double value, const double* parameters) {
    const double length = norm.norm(value);
    return length > parameters[1] || std::isnan(length) ? length : parameters[1];
  }
  /// Whether what does not count became something else than 0.
  static bool is_irregular(T divisor, const double* parameters) {
    return !(divisor > 0) || parameters[0] < 0;
  }

  /// Adds what the elements of v add to a norm: floats by halves.
  template <class Wide>
  static HWY_INLINE void add_terms(const Norm& norm, V v, Wide& low, [[maybe_unused]] Wide& high) {
    const D d;
    if constexpr (sizeof(T) == 8) {
      low = hn::Add(low, norm.template term<T>(d, v));
    } else {
      widen<double>(d, v, [&](auto wide, std::int64_t at, auto part) HWY_ATTR {
        Wide& sum = at == 0 ? low : high;
        sum = hn::Add(sum, norm.template term<T>(wide, part));
      });
    }
  }

  // --- rows ---

  template <class Mask, class Beside>
  static HWY_INLINE double gather(const Norm& norm, const E* x, Mask mask, std::int64_t count,
                                  T* scratch, const double* parameters, Beside beside) {
    const D d;
    if constexpr (is_sum) {
      const hn::ScalableTag<double> wide;
      auto low = hn::Zero(wide);
      auto high = low;
      gather_row(d, x, mask, count, absent(parameters), scratch, same, [&](auto... v) HWY_ATTR {
        (add_terms(norm, v, low, high), ...);
        beside();
      });
      return hn::GetLane(hn::SumOfLanes(wide, hn::Add(low, high)));
    } else {
      auto top = hn::Set(d, static_cast<T>(norm.empty()));
      gather_row(d, x, mask, count, absent(parameters), scratch, same, [&](auto... v) HWY_ATTR {
        ((top = Extreme::larger(norm.term(d, v), top)), ...);
        beside();
      });
      HWY_ALIGN T tops[N];
      hn::Store(top, d, tops);
      double result = tops[0];
      for (const T value : tops) result = norm.merge(value, result);
      return result;
    }
  }

  /// A gathered row whose divisor is known, but which is not written yet.
  class Results {
   public:
    Results() = default;
    HWY_INLINE Results(const LineBlock& b, std::int64_t r, const T* scratch, T divisor,
                       const double* parameters)
        : writer_(out_row<E>(b, r), b.in.cols, b.streams),
          scratch_(scratch),
          divisor_(divisor),
          r_(r),
          is_irregular_(is_irregular(divisor, parameters)) {}
    /// Writes some vectors.
    HWY_INLINE void step() {
      const auto own = value();
      writer_.step_four(own);
    }
    HWY_INLINE void finish(const LineBlock& b) {
      const auto own = value();
      while (!writer_.is_done()) writer_.step(own);
      if (std::exchange(is_irregular_, false)) hide(b, r_, E{});
    }

   private:
    HWY_INLINE auto value() const {
      const D d;
      return [d, scratch = scratch_, divisor = hn::Set(d, divisor_)](std::int64_t i)
                 HWY_ATTR { return hn::Div(hn::LoadU(d, scratch + i), divisor); };
    }

    RowWriter<D, E> writer_;
    const T* scratch_ = nullptr;
    T divisor_ = 1;
    std::int64_t r_ = 0;
    bool is_irregular_ = false;
  };

  /// While a row is read, the one before it is written, and what comes 2 KB further is fetched:
  /// hardware does so, too, but stops at the end of every page.
  static void rows(const LineBlock& b, const double* parameters) {
    const D d;
    const Norm norm(parameters);
    T* scratch = static_cast<T*>(b.scratch);
    T* other = scratch + padded(d, b.in.cols) + N;
    const std::int64_t used = reach(d, b.in);
    std::fill(scratch + used, scratch + padded(d, b.in.cols), T{0});
    std::fill(other + used, other + padded(d, b.in.cols), T{0});
    Results before;
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) {
          write_row(d, out_row<E>(b, r), b.in.cols, b.streams,
                    [&](std::int64_t /*i*/) HWY_ATTR { return hn::Zero(d); });
          continue;
        }
        const Ahead ahead = ahead_of<E>(b.in, r);
        std::int64_t next = bytes_ahead / std::int64_t{sizeof(E)};
        const double value =
            gather(norm, in_row<E>(b, r), rows.mask(r), used, scratch, parameters, [&]() HWY_ATTR {
              ahead.template fetch<E, 4 * N>(next);
              next += 4 * N;
              before.step();
            });
        before.finish(b);
        before =
            Results(b, r, scratch, static_cast<T>(divisor(norm, value, parameters)), parameters);
        std::swap(scratch, other);
      }
    });
    before.finish(b);
    finish_streaming(b);
  }

  static void measure_rows(const LineBlock& b, LineState* states, const double* parameters) {
    const Norm norm(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) continue;
        const double own =
            gather(norm, in_row<E>(b, r), rows.mask(r), b.in.cols, scratch, parameters, []() {});
        states[r].first = norm.merge(states[r].first, own);
      }
    });
  }

  static void apply_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    const Norm norm(parameters);
    T* const divisors = static_cast<T*>(b.scratch);
    for (std::int64_t first = 0; first < b.in.rows; first += N) {
      const std::int64_t count = std::min(N, b.in.rows - first);
      for (std::int64_t i = 0; i < count; ++i) {
        divisors[i] = static_cast<T>(divisor(norm, states[first + i].first, parameters));
      }
      divide<E>(b, first, first + count, divisors, false);
    }
    finish_streaming(b);
  }

  // --- columns ---

  static void measure_columns(const LineBlock& b, LineState* states, const double* parameters) {
    const D d;
    const Norm norm(parameters);
    const Columns<T> columns(d, b);
    std::fill_n(columns.sums, columns.count, 0.0);
    for (std::int64_t c = 0; c < b.in.cols; ++c) columns.sums[c] = states[c].first;
    if constexpr (!is_sum) std::copy_n(columns.sums, columns.count, columns.tops);
    const auto none = hn::Set(d, absent(parameters));
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      const auto at = [&](std::int64_t r, std::int64_t c) HWY_ATTR {
        if (!rows.counts(r)) return none;
        return choose_at(d, in_row<E>(b, r), rows.mask(r), c, b.in.cols, same, none);
      };
      for_each_tile<E>(
          d, b.in, rows_ahead, [&](std::int64_t c, std::int64_t first, std::int64_t last) HWY_ATTR {
            if constexpr (is_sum) {
              const hn::ScalableTag<double> wide;
              constexpr std::int64_t wide_lanes = lanes<decltype(wide)>;
              auto low = hn::LoadU(wide, columns.sums + c);
              auto high = sizeof(T) == 8 ? low : hn::LoadU(wide, columns.sums + c + wide_lanes);
              for (std::int64_t r = first; r < last; ++r) add_terms(norm, at(r, c), low, high);
              hn::StoreU(low, wide, columns.sums + c);
              if constexpr (sizeof(T) == 4) hn::StoreU(high, wide, columns.sums + c + wide_lanes);
            } else {
              auto top = hn::Load(d, columns.tops + c);
              for (std::int64_t r = first; r < last; ++r) {
                top = Extreme::larger(norm.term(d, at(r, c)), top);
              }
              hn::Store(top, d, columns.tops + c);
            }
          });
    });
    if constexpr (!is_sum) std::copy_n(columns.tops, columns.count, columns.sums);
    for (std::int64_t c = 0; c < b.in.cols; ++c) states[c] = {columns.sums[c], 0};
  }

  static void apply_columns(const LineBlock& b, const LineState* states, const double* parameters) {
    const D d;
    const Norm norm(parameters);
    const Columns<T> columns(d, b);
    std::fill_n(columns.scales, columns.count, T{1});
    for (std::int64_t c = 0; c < b.in.cols; ++c) {
      columns.scales[c] = static_cast<T>(divisor(norm, states[c].first, parameters));
    }
    divide<E>(b, 0, b.in.rows, columns.scales, true);
    finish_streaming(b);
  }

  // --- pieces ---

  static LineState empty(const double* parameters) { return {Norm(parameters).empty(), 0}; }
  static LineState merge(const LineState& a, const LineState& b, const double* parameters) {
    return {Norm(parameters).merge(a.first, b.first), 0};
  }

  static constexpr LineKernel kernel{dtype_of<E>(),   rows,  empty,      measure_rows,
                                     measure_columns, merge, apply_rows, apply_columns};
};

template <class E, class Norm>
constexpr LineKernel normalize_of = Normalize<E, Norm>::kernel;

template <class E>
const LineKernel* find_normalize(double order) {
  if (order == 2) return &normalize_of<E, PowerSum<true>>;
  if (std::isinf(order)) return &normalize_of<E, Extreme>;
  return &normalize_of<E, PowerSum<false>>;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
