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

  using Wide = hn::ScalableTag<double>;
  static constexpr std::int64_t wide_lanes = lanes<Wide>;

  /// exp(from - to), for as many columns as there are doubles in a vector.
  static HWY_INLINE hn::Vec<Wide> share_of_fall(const T* from, const T* to) {
    const Wide wide;
    const hn::Rebind<T, Wide> narrow;
    const auto low = hn::LoadU(narrow, from);
    const auto high = hn::LoadU(narrow, to);
    if (hn::AllTrue(narrow, hn::Eq(low, high))) return hn::Set(wide, 1.0);
    const auto share = [wide](auto a, auto b) HWY_ATTR {
      return small_share_of(wide, hn::IfThenZeroElse(hn::Eq(a, b), hn::Sub(a, b)));
    };
    if constexpr (sizeof(T) == 8) {
      return share(low, high);
    } else {
      return share(hn::PromoteTo(wide, low), hn::PromoteTo(wide, high));
    }
  }

  /// Sums beside a greater top: in doubles, so that it may be done any number of times.
  static HWY_INLINE void raise(const Columns<T>& columns, const T* tops) {
    const Wide wide;
    for (std::int64_t c = 0; c < columns.count; c += wide_lanes) {
      const auto share = share_of_fall(columns.tops + c, tops + c);
      hn::StoreU(hn::Mul(hn::LoadU(wide, columns.sums + c), share), wide, columns.sums + c);
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

  /// What scratch holds behind the columns.
  struct Kept {
    std::int64_t count;
    T* shifts;     // of the strip that is written
    T* tops;       // of the strip that is gathered, up to where it is
    T* pivots;     // what the exponentials of a piece are beside: its top, or 0 without one
    T* tile_sums;  // of the exponentials of a few rows
    T* pieces;     // tops of each piece and what came before; then what scales exponentials
    T* rows;

    Kept(const Columns<T>& columns, std::int64_t row_count)
        : count(columns.count),
          shifts(columns.scales + count),
          tops(shifts + count),
          pivots(tops + count),
          tile_sums(pivots + count),
          pieces(tile_sums + count),
          rows(pieces + column_pieces(row_count) * count) {}
    T* row(std::int64_t r) const { return rows + r * count; }
    T* piece_of(std::int64_t r) const { return pieces + r / column_piece * count; }
  };

  /// Whole columns, a strip after the other. A strip is gathered in scratch, where its rows lie
  /// beside each other. Its exponentials are computed once, beside the largest element so far:
  /// those of a piece of it while the next piece is gathered. Rows are scaled and written while
  /// those of the next strip are gathered in their place. So neither reading nor writing is waited
  /// for.
  static void whole(const LineBlock& b, const double* parameters) {
    const D d;
    const Signed map(parameters);
    LineBlock strip = strip_of(b, 0);
    const Columns<T> columns(d, strip);
    const Kept kept(columns, b.in.rows);
    gather(strip, columns, kept, map, [](std::int64_t /*r*/) {});
    for (std::int64_t first = b.strip; strip.in.cols != 0; first += b.strip) {
      bool is_irregular = false;
      for (std::int64_t c = 0; c < strip.in.cols; ++c) {
        is_irregular |= std::isnan(columns.sums[c]);
        const auto [top, scale] = shares_of<T, is_log>({columns.tops[c], columns.sums[c]});
        kept.shifts[c] = top;
        columns.scales[c] = scale;
      }
      if constexpr (!is_log) scale_pieces(columns, kept, b.in.rows);
      const LineBlock next = strip_of(b, first);
      gather(next, columns, kept, map, [&](std::int64_t r) HWY_ATTR {
        const T* const row = kept.row(r);
        const T* const scales = is_log ? columns.scales : kept.piece_of(r);
        write_row(d, out_row<E>(strip, r), strip.in.cols, b.streams, [&](std::int64_t i) HWY_ATTR {
          const auto v = hn::LoadU(d, row + i);
          const auto scale = hn::LoadU(d, scales + i);
          if constexpr (is_log) return Rows::result(v, hn::LoadU(d, kept.shifts + i), scale);
          return hn::Mul(v, scale);
        });
        if (HWY_UNLIKELY(is_irregular)) hide(strip, r, static_cast<E>(Rows::absent));
      });
      strip = next;
    }
    finish_streaming(b);
  }

  /// Turns the tops of pieces into what their exponentials are multiplied by: rounded once.
  static void scale_pieces(const Columns<T>& columns, const Kept& kept, std::int64_t rows) {
    const Wide wide;
    const auto zero = hn::Zero(wide);
    for (std::int64_t r = 0; r < rows; r += column_piece) {
      T* const piece = kept.piece_of(r);
      for (std::int64_t c = 0; c < columns.count; c += wide_lanes) {
        const auto sum = hn::LoadU(wide, columns.sums + c);
        const auto whole_scale =
            hn::IfThenZeroElse(hn::Eq(sum, zero), hn::Div(hn::Set(wide, 1.0), sum));
        const auto scale = hn::Mul(share_of_fall(piece + c, columns.tops + c), whole_scale);
        if constexpr (sizeof(T) == 8) {
          hn::StoreU(scale, wide, piece + c);
        } else {
          const hn::Rebind<T, Wide> narrow;
          hn::StoreU(hn::DemoteTo(narrow, scale), narrow, piece + c);
        }
      }
    }
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

  /// Gathers a strip, its tops and its sums. `before` is told of each row whose place in scratch is
  /// taken.
  template <class Before>
  static HWY_INLINE void gather(const LineBlock& strip, const Columns<T>& columns, const Kept& kept,
                                const Signed& map, Before before) {
    if (strip.in.cols == 0) {
      for (std::int64_t r = 0; r < strip.in.rows; ++r) before(r);
      return;
    }
    std::fill_n(columns.tops, columns.count, -infinite<T>);
    std::fill_n(kept.tops, columns.count, -infinite<T>);
    std::fill_n(columns.sums, columns.count, 0.0);
    with_mask(strip.in, [&](auto rows) HWY_ATTR {
      const std::int64_t count = strip.in.rows;
      const std::int64_t piece = std::min(count, column_piece);
      for (std::int64_t first = 0; first < count + piece; first += piece) {
        for (std::int64_t r = first; r < first + piece; ++r) {
          if (r < count) {
            before(r);
            gather_row_of(strip, r, rows, kept, map);
          }
          const std::int64_t gathered = r - piece;
          if (gathered >= 0 && gathered < count) add_exps(strip, gathered, columns, kept);
        }
        if (first < count) begin_exps(first, columns, kept);
      }
    });
  }

  template <class MaskOfRows>
  static HWY_INLINE void gather_row_of(const LineBlock& strip, std::int64_t r, MaskOfRows rows,
                                       const Kept& kept, const Signed& map) {
    const D d;
    const auto none = hn::Set(d, -infinite<T>);
    T* const to = kept.row(r);
    if (!rows.counts(r)) {
      std::fill_n(to, kept.count, -infinite<T>);
      return;
    }
    const E* const x = in_row<E>(strip, r);
    const auto mask = rows.mask(r);
    const Ahead ahead = ahead_of<E>(strip.in, r + rows_ahead);
    for (std::int64_t c = 0; c < strip.in.cols; c += N) {
      ahead.template fetch<E, N>(c);
      const auto v = choose_at(d, x, mask, c, strip.in.cols, map, none);
      hn::Store(v, d, to + c);
      hn::Store(Rows::largest(v, hn::Load(d, kept.tops + c)), d, kept.tops + c);
    }
  }

  /// After the piece from row `first` on was gathered.
  static HWY_INLINE void begin_exps(std::int64_t first, const Columns<T>& columns,
                                    const Kept& kept) {
    const D d;
    const auto none = hn::Set(d, -infinite<T>);
    raise(columns, kept.tops);
    std::copy_n(columns.tops, columns.count, kept.piece_of(first));
    for (std::int64_t c = 0; c < columns.count; c += N) {
      const auto top = hn::Load(d, columns.tops + c);
      hn::Store(hn::IfThenZeroElse(hn::Eq(top, none), top), d, kept.pivots + c);
    }
  }

  /// Adds up the exponentials of row r, which replace the elements unless these are needed for
  /// logarithms.
  static HWY_INLINE void add_exps(const LineBlock& strip, std::int64_t r, const Columns<T>& columns,
                                  const Kept& kept) {
    const D d;
    constexpr std::int64_t tile = 16;
    static_assert(column_piece % tile == 0);
    const bool is_first = r % tile == 0;
    const bool is_last = r % tile == tile - 1 || r == strip.in.rows - 1;
    T* const row = kept.row(r);
    for (std::int64_t c = 0; c < strip.in.cols; c += N) {
      const auto e = share_of(d, hn::Sub(hn::Load(d, row + c), hn::Load(d, kept.pivots + c)));
      if constexpr (!is_log) hn::Store(e, d, row + c);
      const auto sum = is_first ? e : hn::Add(hn::Load(d, kept.tile_sums + c), e);
      if (is_last) {
        columns.add(d, c, sum);
      } else {
        hn::Store(sum, d, kept.tile_sums + c);
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
