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

template <class T, class Norm>
struct Normalize {
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

  template <class Mask>
  static HWY_INLINE double gather(const Norm& norm, const T* x, Mask mask, std::int64_t count,
                                  T* scratch, const double* parameters) {
    const D d;
    if constexpr (is_sum) {
      const hn::ScalableTag<double> wide;
      auto low = hn::Zero(wide);
      auto high = low;
      gather_row(d, x, mask, count, absent(parameters), scratch, same,
                 [&](auto... v) HWY_ATTR { (add_terms(norm, v, low, high), ...); });
      return hn::GetLane(hn::SumOfLanes(wide, hn::Add(low, high)));
    } else {
      auto top = hn::Set(d, static_cast<T>(norm.empty()));
      gather_row(d, x, mask, count, absent(parameters), scratch, same,
                 [&](auto... v) HWY_ATTR { ((top = Extreme::larger(norm.term(d, v), top)), ...); });
      HWY_ALIGN T tops[N];
      hn::Store(top, d, tops);
      double result = tops[0];
      for (const T value : tops) result = norm.merge(value, result);
      return result;
    }
  }

  static HWY_INLINE void write(const LineBlock& b, std::int64_t r, T divisor,
                               const double* parameters) {
    const D d;
    const T* const scratch = static_cast<const T*>(b.scratch);
    const auto length = hn::Set(d, divisor);
    write_row(d, out_row<T>(b, r), b.in.cols, b.streams,
              [&](std::int64_t i) HWY_ATTR { return hn::Div(hn::LoadU(d, scratch + i), length); });
    if (is_irregular(divisor, parameters)) hide(b, true, r, T{0});
  }

  /// Gathers every row that counts and calls `use(r, measured)`; `skip(r)` for the others.
  template <class Use, class Skip>
  static HWY_INLINE void for_each_row(const LineBlock& b, const double* parameters, Use use,
                                      Skip skip) {
    const Norm norm(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    const std::int64_t used = reach(D(), b.in);
    std::fill(scratch + used, scratch + padded(D(), b.in.cols), T{0});
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) {
          skip(r);
          continue;
        }
        const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
        use(r, gather(norm, x, rows.mask(r), used, scratch, parameters));
      }
    });
  }

  static void write_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    const Norm norm(parameters);
    for_each_row(
        b, parameters,
        [&](std::int64_t r, double measured) HWY_ATTR {
          const double value = states != nullptr ? states[r].first : measured;
          write(b, r, static_cast<T>(divisor(norm, value, parameters)), parameters);
        },
        [&](std::int64_t r) HWY_ATTR {
          const D d;
          write_row(d, out_row<T>(b, r), b.in.cols, b.streams,
                    [&](std::int64_t /*i*/) HWY_ATTR { return hn::Zero(d); });
        });
    finish_streaming(b);
  }
  static void rows(const LineBlock& b, const double* parameters) {
    write_rows(b, nullptr, parameters);
  }
  static void apply_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    write_rows(b, states, parameters);
  }
  static void measure_rows(const LineBlock& b, LineState* states, const double* parameters) {
    for_each_row(
        b, parameters, [&](std::int64_t r, double measured) HWY_ATTR { states[r] = {measured, 0}; },
        [&](std::int64_t r) HWY_ATTR { states[r] = empty(parameters); });
  }

  // --- columns ---

  static HWY_INLINE void gather(const LineBlock& b, const Strip<T>& strip,
                                const double* parameters) {
    const D d;
    const Norm norm(parameters);
    std::fill_n(strip.sums, strip.stride, 0.0);
    std::fill_n(strip.tops, strip.stride, static_cast<T>(norm.empty()));
    // Rows are joined in registers before what is known of their columns is touched.
    const auto add = [&](std::int64_t c, auto... v) HWY_ATTR {
      if constexpr (is_sum) {
        const hn::ScalableTag<double> wide;
        constexpr std::int64_t W = lanes<decltype(wide)>;
        auto low = hn::LoadU(wide, strip.sums + c);
        auto high = sizeof(T) == 8 ? low : hn::LoadU(wide, strip.sums + c + W);
        (add_terms(norm, v, low, high), ...);
        hn::StoreU(low, wide, strip.sums + c);
        if constexpr (sizeof(T) == 4) hn::StoreU(high, wide, strip.sums + c + W);
      } else {
        auto top = hn::Load(d, strip.tops + c);
        ((top = Extreme::larger(norm.term(d, v), top)), ...);
        hn::Store(top, d, strip.tops + c);
      }
    };
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      gather_strip(d, b.in, rows, absent(parameters), strip, same, add);
    });
    if constexpr (!is_sum) std::copy_n(strip.tops, strip.stride, strip.sums);
  }

  static void write_columns(const LineBlock& b, const LineState* states, const double* parameters) {
    const D d;
    const Norm norm(parameters);
    const Strip<T> strip(d, b);
    gather(b, strip, parameters);
    bool is_regular = true;
    for (std::int64_t c = 0; c < strip.stride; ++c) {
      const double value = c >= b.in.cols      ? norm.empty()
                           : states != nullptr ? states[c].first
                                               : strip.sums[c];
      strip.scales[c] = static_cast<T>(divisor(norm, value, parameters));
      is_regular &= !is_irregular(strip.scales[c], parameters);
    }
    for (std::int64_t r = 0; r < b.in.rows; ++r) {
      const T* const x = strip.x + r * strip.stride;
      write_row(d, out_row<T>(b, r), b.in.cols, b.streams, [&](std::int64_t c) HWY_ATTR {
        return hn::Div(hn::LoadU(d, x + c), hn::LoadU(d, strip.scales + c));
      });
    }
    if (!is_regular) {
      for (std::int64_t c = 0; c < b.in.cols; ++c) {
        if (is_irregular(strip.scales[c], parameters)) hide(b, false, c, T{0});
      }
    }
    finish_streaming(b);
  }
  static void columns(const LineBlock& b, const double* parameters) {
    write_columns(b, nullptr, parameters);
  }
  static void apply_columns(const LineBlock& b, const LineState* states, const double* parameters) {
    write_columns(b, states, parameters);
  }
  static void measure_columns(const LineBlock& b, LineState* states, const double* parameters) {
    const Strip<T> strip(D(), b);
    gather(b, strip, parameters);
    for (std::int64_t c = 0; c < b.in.cols; ++c) states[c] = {strip.sums[c], 0};
  }

  // --- pieces ---

  static LineState empty(const double* parameters) { return {Norm(parameters).empty(), 0}; }
  static LineState merge(const LineState& a, const LineState& b, const double* parameters) {
    return {Norm(parameters).merge(a.first, b.first), 0};
  }

  static constexpr LineKernel kernel{dtype_of<T>(),   rows,  columns,    empty,        measure_rows,
                                     measure_columns, merge, apply_rows, apply_columns};
};

template <class T, class Norm>
constexpr LineKernel normalize_of = Normalize<T, Norm>::kernel;

template <class T>
const LineKernel* find_normalize(double order) {
  if (order == 2) return &normalize_of<T, PowerSum<true>>;
  if (std::isinf(order)) return &normalize_of<T, Extreme>;
  return &normalize_of<T, PowerSum<false>>;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
