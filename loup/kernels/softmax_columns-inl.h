// Columns of the softmax family. Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_SOFTMAX_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SOFTMAX_COLUMNS_INL_H_
#undef LOUP_KERNELS_SOFTMAX_COLUMNS_INL_H_
#else
#define LOUP_KERNELS_SOFTMAX_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "loup/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class E, bool is_log>
struct SoftmaxColumns {
  using Rows = Softmax<E, is_log>;
  using T = typename Rows::T;
  using D = typename Rows::D;
  using V = typename Rows::V;
  using Signed = typename Rows::Signed;
  static constexpr std::int64_t N = Rows::N;

  /// Sums beside a greater top: in doubles, so that it may be done any number of times.
  static HWY_INLINE void raise(const Columns<T>& columns, const T* tops) {
    const hn::ScalableTag<double> wide;
    const hn::Rebind<T, decltype(wide)> narrow;
    for (std::int64_t c = 0; c < columns.count; c += lanes<decltype(wide)>) {
      const auto from = hn::LoadU(narrow, columns.tops + c);
      const auto to = hn::LoadU(narrow, tops + c);
      if (hn::AllTrue(narrow, hn::Eq(from, to))) continue;
      auto fall = hn::Zero(wide);
      if constexpr (sizeof(T) == 8) {
        fall = hn::IfThenZeroElse(hn::Eq(from, to), hn::Sub(from, to));
      } else {
        const auto low = hn::PromoteTo(wide, from);
        const auto high = hn::PromoteTo(wide, to);
        fall = hn::IfThenZeroElse(hn::Eq(low, high), hn::Sub(low, high));
      }
      double* const sums = columns.sums + c;
      hn::StoreU(hn::Mul(hn::LoadU(wide, sums), small_share_of(wide, fall)), wide, sums);
    }
    std::copy_n(tops, columns.count, columns.tops);
  }

  static void measure(const LineBlock& b, LineState* states, const double* parameters) {
    const D d;
    const Signed map(parameters);
    const Columns<T> columns(d, b);
    const auto none = hn::Set(d, -infinite<T>);
    std::fill_n(columns.tops, columns.count, -infinite<T>);
    std::fill_n(columns.sums, columns.count, 0.0);
    for (std::int64_t c = 0; c < b.in.cols; ++c) {
      columns.tops[c] = static_cast<T>(states[c].first);
      columns.sums[c] = states[c].second;
    }
    T* const tops = columns.scales;
    std::copy_n(columns.tops, columns.count, tops);
    with_mask(b.in, [&](auto rows) HWY_ATTR {
      for_each_tile<E>(
          d, b.in, 0, [&](std::int64_t c, std::int64_t first, std::int64_t last) HWY_ATTR {
            auto top = hn::Load(d, tops + c);
            for (std::int64_t r = first; r < last; ++r) {
              if (!rows.counts(r)) continue;
              top = Rows::largest(
                  choose_at(d, in_row<E>(b, r), rows.mask(r), c, b.in.cols, map, none), top);
            }
            hn::Store(top, d, tops + c);
          });
      raise(columns, tops);
      // Most likely the next block is what lies below this one.
      for_each_tile<E>(
          d, b.in, b.in.rows, [&](std::int64_t c, std::int64_t first, std::int64_t last) HWY_ATTR {
            auto shift = hn::Load(d, tops + c);
            shift = hn::IfThenZeroElse(hn::Eq(shift, none), shift);
            auto sum = hn::Zero(d);
            for (std::int64_t r = first; r < last; ++r) {
              if (!rows.counts(r)) continue;
              const auto x = choose_at(d, in_row<E>(b, r), rows.mask(r), c, b.in.cols, map, none);
              sum = hn::Add(sum, share_of(d, hn::Sub(x, shift)));
            }
            columns.add(d, c, sum);
          });
    });
    for (std::int64_t c = 0; c < b.in.cols; ++c) states[c] = {tops[c], columns.sums[c]};
  }

  static void apply(const LineBlock& b, const LineState* states, const double* parameters) {
    const D d;
    const Columns<T> columns(d, b);
    for (std::int64_t c = 0; c < columns.count; ++c) {
      const auto [top, scale] = shares_of<T, is_log>(c < b.in.cols ? states[c] : LineState{0, 0});
      columns.tops[c] = top;
      columns.scales[c] = scale;
    }
    Rows::apply(b, parameters, [&](std::int64_t /*r*/) HWY_ATTR {
      return [&](std::int64_t i, V x) HWY_ATTR {
        return Rows::result(x, hn::LoadU(d, columns.tops + i), hn::LoadU(d, columns.scales + i));
      };
    });
  }

  /// Whole columns, a strip after the other. A strip is gathered in scratch, where its rows lie
  /// beside each other and stay in the caches while exponentials are computed, once. Its rows are
  /// scaled and written while those of the next strip are gathered in their place: neither waits
  /// alone.
  static void whole(const LineBlock& b, const double* parameters) {
    const D d;
    const Signed map(parameters);
    LineBlock strip = strip_of(b, 0);
    const Columns<T> columns(d, strip);
    T* const shifts = columns.scales + columns.count;
    T* const kept = shifts + columns.count;
    gather(strip, columns, kept, map, [](std::int64_t /*r*/) {});
    for (std::int64_t first = b.strip; strip.in.cols != 0; first += b.strip) {
      std::fill_n(columns.sums, columns.count, 0.0);
      sum_exps(strip, columns, kept);
      bool is_irregular = false;
      for (std::int64_t c = 0; c < strip.in.cols; ++c) {
        is_irregular |= std::isnan(columns.sums[c]);
        const auto [top, scale] = shares_of<T, is_log>({columns.tops[c], columns.sums[c]});
        shifts[c] = top;
        columns.scales[c] = scale;
      }
      const LineBlock next = strip_of(b, first);
      gather(next, columns, kept, map, [&](std::int64_t r) HWY_ATTR {
        const T* const row = kept + r * columns.count;
        write_row(d, out_row<E>(strip, r), strip.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
          const auto v = hn::LoadU(d, row + i);
          const auto scale = hn::LoadU(d, columns.scales + i);
          if constexpr (is_log) return Rows::result(v, hn::LoadU(d, shifts + i), scale);
          return hn::Mul(v, scale);
        });
        if (HWY_UNLIKELY(is_irregular)) hide(strip, r, static_cast<E>(Rows::absent));
      });
      strip = next;
    }
    finish_streaming(b);
  }

  /// The columns from `first` on that are gathered together; none behind the last.
  static LineBlock strip_of(const LineBlock& b, std::int64_t first) {
    LineBlock strip = b;
    strip.in.cols = std::clamp<std::int64_t>(b.in.cols - first, 0, b.strip);
    if (strip.in.cols == 0) return strip;
    strip.in.x = static_cast<const E*>(b.in.x) + first;
    if (b.in.mask != nullptr) strip.in.mask += first * b.in.mask_col;
    strip.out = static_cast<E*>(b.out) + first;
    return strip;
  }

  /// Gathers a strip and its tops. `before` is told of each row whose place in scratch is taken.
  template <class Before>
  static HWY_INLINE void gather(const LineBlock& strip, const Columns<T>& columns, T* kept,
                                const Signed& map, Before before) {
    const D d;
    const auto none = hn::Set(d, -infinite<T>);
    std::fill_n(columns.tops, columns.count, -infinite<T>);
    with_mask(strip.in, [&](auto rows) HWY_ATTR {
      for (std::int64_t r = 0; r < strip.in.rows; ++r) {
        before(r);
        T* const to = kept + r * columns.count;
        if (!rows.counts(r)) {
          std::fill_n(to, columns.count, -infinite<T>);
          continue;
        }
        const E* const x = in_row<E>(strip, r);
        const auto mask = rows.mask(r);
        const Ahead ahead = ahead_of<E>(strip.in, r + rows_ahead);
        for (std::int64_t c = 0; c < strip.in.cols; c += N) {
          ahead.template fetch<E, N>(c);
          const auto v = choose_at(d, x, mask, c, strip.in.cols, map, none);
          hn::Store(v, d, to + c);
          hn::Store(Rows::largest(v, hn::Load(d, columns.tops + c)), d, columns.tops + c);
        }
      }
    });
  }

  /// Adds up exponentials, which replace the elements unless these are needed for logarithms.
  static HWY_INLINE void sum_exps(const LineBlock& strip, const Columns<T>& columns, T* kept) {
    const D d;
    constexpr std::int64_t tile = 16;
    for (std::int64_t first = 0; first < strip.in.rows; first += tile) {
      const std::int64_t last = std::min(strip.in.rows, first + tile);
      for (std::int64_t c = 0; c < strip.in.cols; c += N) {
        const auto top = hn::Load(d, columns.tops + c);
        const auto shift = hn::IfThenZeroElse(hn::Eq(top, hn::Set(d, -infinite<T>)), top);
        auto sum = hn::Zero(d);
        for (std::int64_t r = first; r < last; ++r) {
          T* const at = kept + r * columns.count + c;
          const auto e = share_of(d, hn::Sub(hn::Load(d, at), shift));
          if constexpr (!is_log) hn::Store(e, d, at);
          sum = hn::Add(sum, e);
        }
        columns.add(d, c, sum);
      }
    }
  }

  static constexpr LineKernel kernel{dtype_of<E>(),      Rows::rows, Rows::empty,
                                     Rows::measure_rows, measure,    Rows::merge,
                                     Rows::apply_rows,   apply,      whole};
};

template <class E, bool is_log>
constexpr LineKernel softmax_of = SoftmaxColumns<E, is_log>::kernel;

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
