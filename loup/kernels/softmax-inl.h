// The softmax family. Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SOFTMAX_INL_H_
#undef LOUP_KERNELS_SOFTMAX_INL_H_
#else
#define LOUP_KERNELS_SOFTMAX_INL_H_
#endif

#include <cmath>

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

/// exp(x) of x <= 0. What does not count is -inf here, and every other vector has some: results
/// that are no normal numbers, for which processors take a hundred times as long, are made only
/// where they are not 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V share_of(D d, V x) {
  using T = hn::TFromD<D>;
  const auto least = hn::Set(d, sizeof(T) == 4 ? T{-87} : T{-708});
  const auto is_small = hn::Lt(x, least);
  const auto is_denormal = hn::And(is_small, hn::Gt(x, hn::Set(d, ExpLog<T>::exp_least)));
  if (HWY_UNLIKELY(!hn::AllFalse(d, is_denormal))) return exp(d, x);
  // The order matters: NaN stays NaN.
  return hn::IfThenZeroElse(is_small, exp(d, hn::Max(least, x)));
}

template <class T, bool is_log>
struct Softmax {
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
  static HWY_INLINE T gather(const T* x, Mask mask, std::int64_t count, T* scratch,
                             const Signed& map) {
    const D d;
    auto top = hn::Set(d, -infinite<T>);
    gather_row(d, x, mask, count, -infinite<T>, scratch, map,
               [&](auto... v) HWY_ATTR { top = largest(v..., top); });
    return hn::GetLane(hn::MaxOfLanes(d, top));
  }

  /// The sum of exponentials of a gathered row; with `keeps` they replace the elements.
  template <bool keeps>
  static HWY_INLINE double sum_exps(T* scratch, std::int64_t count, T top) {
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

  /// `has_exps`: scratch holds exponentials, not elements.
  template <bool has_exps>
  static HWY_INLINE void write(const LineBlock& b, std::int64_t r, const LineState& state) {
    const D d;
    const T* const scratch = static_cast<const T*>(b.scratch);
    const auto [top, scale] = shares_of<T, is_log>(state);
    const auto shift = hn::Set(d, top);
    const auto factor = hn::Set(d, scale);
    write_row(d, out_row<T>(b, r), b.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
      const auto v = hn::LoadU(d, scratch + i);
      if constexpr (is_log) return hn::Sub(hn::Sub(v, shift), factor);
      if constexpr (has_exps) return hn::Mul(v, factor);
      return hn::Mul(share_of(d, hn::Sub(v, shift)), factor);
    });
    if (std::isnan(state.second)) hide(b, true, r, absent);
  }

  static HWY_INLINE void write_absent(const LineBlock& b, std::int64_t r) {
    const D d;
    write_row(d, out_row<T>(b, r), b.in.cols, b.streams,
              [&](std::int64_t /*i*/) HWY_ATTR { return hn::Set(d, absent); });
  }

  static void rows(const LineBlock& b, const double* parameters) {
    const Signed map(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    const std::int64_t used = reach(D(), b.in);
    std::fill(scratch + used, scratch + padded(D(), b.in.cols), absent);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) {
          write_absent(b, r);
          continue;
        }
        const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
        const T top = gather(x, rows.mask(r), used, scratch, map);
        write<!is_log>(b, r, {top, sum_exps<!is_log>(scratch, used, top)});
      }
    });
    finish_streaming(b);
  }

  static void measure_rows(const LineBlock& b, LineState* states, const double* parameters) {
    const Signed map(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        states[r] = empty(parameters);
        if (!rows.counts(r)) continue;
        const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
        const T top = gather(x, rows.mask(r), b.in.cols, scratch, map);
        states[r] = {top, sum_exps<false>(scratch, b.in.cols, top)};
      }
    });
  }

  static void apply_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    const Signed map(parameters);
    T* const scratch = static_cast<T*>(b.scratch);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        if (!rows.counts(r)) {
          write_absent(b, r);
          continue;
        }
        const T* const x = static_cast<const T*>(b.in.x) + r * b.in.x_row;
        gather(x, rows.mask(r), b.in.cols, scratch, map);
        write<false>(b, r, states[r]);
      }
    });
    finish_streaming(b);
  }

  // --- columns ---

  static HWY_INLINE void gather(const LineBlock& b, const Strip<T>& strip, const Signed& map) {
    const D d;
    std::fill_n(strip.tops, strip.stride, -infinite<T>);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      gather_strip(d, b.in, rows, -infinite<T>, strip, map,
                   [&](std::int64_t c, auto... v) HWY_ATTR {
                     hn::Store(largest(v..., hn::Load(d, strip.tops + c)), d, strip.tops + c);
                   });
    });
  }

  template <bool keeps>
  static HWY_INLINE void sum_exps(const LineBlock& b, const Strip<T>& strip) {
    const D d;
    std::fill_n(strip.sums, strip.stride, 0.0);
    constexpr std::int64_t tile = 8;
    for (std::int64_t first = 0; first < b.in.rows; first += tile) {
      const std::int64_t end = std::min(b.in.rows, first + tile);
      for (std::int64_t c = 0; c < strip.stride; c += N) {
        auto shift = hn::Load(d, strip.tops + c);
        shift = hn::IfThenZeroElse(hn::Eq(shift, hn::Set(d, -infinite<T>)), shift);
        auto sum = hn::Zero(d);
        for (std::int64_t r = first; r < end; ++r) {
          T* const at = strip.x + r * strip.stride + c;
          const auto e = share_of(d, hn::Sub(hn::Load(d, at), shift));
          if constexpr (keeps) hn::Store(e, d, at);
          sum = hn::Add(sum, e);
        }
        const auto add = [&](auto wide, std::int64_t at, auto part) HWY_ATTR {
          double* const to = strip.sums + c + at;
          hn::StoreU(hn::Add(hn::LoadU(wide, to), part), wide, to);
        };
        if constexpr (sizeof(T) == 8) {
          add(d, 0, sum);
        } else {
          widen<double>(d, sum, add);
        }
      }
    }
  }

  template <bool has_exps, class State>
  static HWY_INLINE void write(const LineBlock& b, const Strip<T>& strip, State state) {
    const D d;
    bool is_regular = true;
    for (std::int64_t c = 0; c < strip.stride; ++c) {
      const LineState known = c < b.in.cols ? state(c) : LineState{0, 0};
      const auto [top, scale] = shares_of<T, is_log>(known);
      strip.tops[c] = top;
      strip.scales[c] = scale;
      is_regular &= !std::isnan(known.second);
    }
    for (std::int64_t r = 0; r < b.in.rows; ++r) {
      const T* const x = strip.x + r * strip.stride;
      write_row(d, out_row<T>(b, r), b.in.cols, b.streams, [&](std::int64_t c) HWY_ATTR {
        const auto v = hn::LoadU(d, x + c);
        const auto factor = hn::LoadU(d, strip.scales + c);
        if constexpr (has_exps) return hn::Mul(v, factor);
        const auto moved = hn::Sub(v, hn::LoadU(d, strip.tops + c));
        if constexpr (is_log) return hn::Sub(moved, factor);
        return hn::Mul(share_of(d, moved), factor);
      });
    }
    if (is_regular) return;
    for (std::int64_t c = 0; c < b.in.cols; ++c) {
      if (std::isnan(strip.scales[c])) hide(b, false, c, absent);
    }
  }

  static void columns(const LineBlock& b, const double* parameters) {
    const Strip<T> strip(D(), b);
    gather(b, strip, Signed(parameters));
    sum_exps<!is_log>(b, strip);
    write<!is_log>(b, strip,
                   [&](std::int64_t c) { return LineState{strip.tops[c], strip.sums[c]}; });
    finish_streaming(b);
  }

  static void measure_columns(const LineBlock& b, LineState* states, const double* parameters) {
    const Strip<T> strip(D(), b);
    gather(b, strip, Signed(parameters));
    sum_exps<false>(b, strip);
    for (std::int64_t c = 0; c < b.in.cols; ++c) states[c] = {strip.tops[c], strip.sums[c]};
  }

  static void apply_columns(const LineBlock& b, const LineState* states, const double* parameters) {
    const Strip<T> strip(D(), b);
    gather(b, strip, Signed(parameters));
    write<false>(b, strip, [&](std::int64_t c) { return states[c]; });
    finish_streaming(b);
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

  static constexpr LineKernel kernel{dtype_of<T>(),   rows,  columns,    empty,        measure_rows,
                                     measure_columns, merge, apply_rows, apply_columns};
};

template <class T, bool is_log>
constexpr LineKernel softmax_of = Softmax<T, is_log>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
