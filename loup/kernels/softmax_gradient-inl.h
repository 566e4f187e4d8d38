// Gradients of the softmax family. Included once per instruction set, from kernel files only.
//
// Of a line of results y, to which the gradient g came, the gradient is y (g - sum of g y); where
// y are logarithms, g - exp(y) sum of g.

#if defined(LOUP_KERNELS_SOFTMAX_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SOFTMAX_GRADIENT_INL_H_
#undef LOUP_KERNELS_SOFTMAX_GRADIENT_INL_H_
#else
#define LOUP_KERNELS_SOFTMAX_GRADIENT_INL_H_
#endif

#include "loup/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// States hold the sum, and whether the line has shares at all: elements that were all -inf got
/// none, and send no gradient.
template <class T, bool is_log>
struct SoftmaxGradient {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Signed = typename Softmax<T, is_log>::Signed;
  static constexpr std::int64_t N = lanes<D>;

  static HWY_INLINE V same(V v) { return v; }

  /// The vector at i of a row of `count` elements, 0 behind its end.
  template <class Mask>
  static HWY_INLINE V at(const T* row, Mask mask, std::int64_t i, std::int64_t count) {
    return choose_at(D(), row, mask, i, count, same, hn::Zero(D()));
  }
  static HWY_INLINE V at(const T* row, std::int64_t i, std::int64_t count) {
    return at(row, NoMask(), i, count);
  }

  static HWY_INLINE V term(V g, V y) { return is_log ? g : hn::Mul(g, y); }
  static HWY_INLINE auto has_share(V y) { return hn::Ne(y, hn::Set(D(), -infinite<T>)); }
  static HWY_INLINE V result(V g, V y, V sum) {
    if constexpr (is_log) return hn::Sub(g, hn::Mul(share_of(D(), y), sum));
    return hn::Mul(y, hn::Sub(g, sum));
  }

  static HWY_INLINE const T* gradient_row(const LineBlock& b, std::int64_t r) {
    return static_cast<const T*>(b.in.x) + r * b.in.x_row;
  }
  static HWY_INLINE const T* given_row(const LineBlock& b, std::int64_t r) {
    return static_cast<const T*>(b.given) + r * b.out_row;
  }

  // --- rows ---

  template <class Mask>
  static HWY_INLINE LineState measure(const T* g, const T* y, Mask mask, std::int64_t count) {
    const D d;
    const hn::ScalableTag<double> wide;
    bool has_shares = !is_log;
    const auto add = [&](V& sum, std::int64_t i) HWY_ATTR {
      const auto v = at(y, i, count);
      if (HWY_UNLIKELY(!has_shares)) {
        const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(N, count - i)));
        has_shares = !hn::AllFalse(d, hn::And(inside, has_share(v)));
      }
      sum = hn::Add(sum, term(at(g, mask, i, count), v));
    };
    auto total = hn::Zero(wide);
    std::int64_t i = 0;
    while (i < count) {
      const std::int64_t stop = std::min(count, i + 64 * N);
      auto s0 = hn::Zero(d);
      auto s1 = s0;
      auto s2 = s0;
      auto s3 = s0;
      for (; i + 4 * N <= stop; i += 4 * N) {
        add(s0, i);
        add(s1, i + N);
        add(s2, i + 2 * N);
        add(s3, i + 3 * N);
      }
      for (; i < stop; i += N) add(s0, i);
      const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
      if constexpr (sizeof(T) == 8) {
        total = hn::Add(total, sum);
      } else {
        widen<double>(
            d, sum, [&](auto, std::int64_t, auto part) HWY_ATTR { total = hn::Add(total, part); });
      }
    }
    return {hn::GetLane(hn::SumOfLanes(wide, total)), has_shares ? 1.0 : 0.0};
  }

  /// What lies behind the first `used` elements does not count.
  static HWY_INLINE void write(const LineBlock& b, std::int64_t r, const LineState& state,
                               std::int64_t used, const Signed& map) {
    const D d;
    const T* const g = gradient_row(b, r);
    const T* const y = given_row(b, r);
    const std::int64_t live = state.second == 0 ? 0 : used;
    const auto sum = hn::Set(d, static_cast<T>(state.first));
    write_row(d, out_row<T>(b, r), b.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
      if (i >= live) return hn::Zero(d);
      return map(result(at(g, i, live), at(y, i, live), sum));
    });
  }

  static LineState empty(const double* /*parameters*/) { return {0, 0}; }

  /// Measures every row and calls `use(r, state, used)`.
  template <class Use>
  static HWY_INLINE void for_each_row(const LineBlock& b, const double* parameters, Use use) {
    const std::int64_t used = reach(D(), b.in);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < b.in.rows; ++r) {
        use(r,
            rows.counts(r) ? measure(gradient_row(b, r), given_row(b, r), rows.mask(r), used)
                           : empty(parameters),
            used);
      }
    });
  }

  static void rows(const LineBlock& b, const double* parameters) {
    const Signed map(parameters);
    for_each_row(b, parameters,
                 [&](std::int64_t r, const LineState& state, std::int64_t used)
                     HWY_ATTR { write(b, r, state, used, map); });
    finish_streaming(b);
  }

  static void measure_rows(const LineBlock& b, LineState* states, const double* parameters) {
    for_each_row(b, parameters,
                 [&](std::int64_t r, const LineState& state, std::int64_t /*used*/)
                     HWY_ATTR { states[r] = merge(states[r], state, parameters); });
  }

  static void apply_rows(const LineBlock& b, const LineState* states, const double* parameters) {
    const Signed map(parameters);
    for (std::int64_t r = 0; r < b.in.rows; ++r) write(b, r, states[r], b.in.cols, map);
    finish_streaming(b);
  }

  // --- columns ---

  static void measure_columns(const LineBlock& b, LineState* states, const double* /*parameters*/) {
    const D d;
    const Columns<T> columns(d, b);
    const std::int64_t cols = b.in.cols;
    T* const shared = columns.tops;
    std::fill_n(columns.sums, columns.count, 0.0);
    std::fill_n(shared, columns.count, is_log ? T{0} : T{1});
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for_each_tile<T>(
          d, b.in, rows_ahead, [&](std::int64_t c, std::int64_t first, std::int64_t last) HWY_ATTR {
            auto sum = hn::Zero(d);
            auto has_shares = hn::Load(d, shared + c);
            for (std::int64_t r = first; r < last; ++r) {
              if (!rows.counts(r)) continue;
              const auto y = at(given_row(b, r), c, cols);
              sum = hn::Add(sum, term(at(gradient_row(b, r), rows.mask(r), c, cols), y));
              if constexpr (is_log) {
                has_shares = hn::IfThenElse(has_share(y), hn::Set(d, T{1}), has_shares);
              }
            }
            if constexpr (is_log) hn::Store(has_shares, d, shared + c);
            columns.add(d, c, sum);
          });
    });
    for (std::int64_t c = 0; c < cols; ++c) {
      states[c].first += columns.sums[c];
      states[c].second += static_cast<double>(shared[c]);
    }
  }

  static void apply_columns(const LineBlock& b, const LineState* states, const double* parameters) {
    const D d;
    const Signed map(parameters);
    const Columns<T> columns(d, b);
    const std::int64_t cols = b.in.cols;
    for (std::int64_t c = 0; c < columns.count; ++c) {
      columns.tops[c] = c < cols ? static_cast<T>(states[c].first) : T{0};
      columns.scales[c] = c < cols ? static_cast<T>(states[c].second) : T{0};
    }
    for (std::int64_t r = 0; r < b.in.rows; ++r) {
      const T* const g = gradient_row(b, r);
      const T* const y = given_row(b, r);
      write_row(d, out_row<T>(b, r), cols, b.streams, [&](std::int64_t c) HWY_ATTR {
        const auto sum = hn::LoadU(d, columns.tops + c);
        const auto value = map(result(at(g, c, cols), at(y, c, cols), sum));
        if constexpr (!is_log) return value;
        return hn::IfThenZeroElse(hn::Eq(hn::LoadU(d, columns.scales + c), hn::Zero(d)), value);
      });
    }
    finish_streaming(b);
  }

  // --- pieces ---

  static LineState merge(const LineState& a, const LineState& b, const double* /*parameters*/) {
    return {a.first + b.first, a.second + b.second};
  }

  static constexpr LineKernel kernel{dtype_of<T>(),   rows,  empty,      measure_rows,
                                     measure_columns, merge, apply_rows, apply_columns};
};

template <class T, bool is_log>
constexpr LineKernel softmax_gradient_of = SoftmaxGradient<T, is_log>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
