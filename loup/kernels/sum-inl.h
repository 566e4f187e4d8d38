// Sums, one struct for each compute type. Included once per instruction set.
//
// A row is added block by block in a virtual vector (virtual_vector-inl.h) and flushed to wider
// partial sums: f32 to f64, f64 to a sum and its rounding error.

#if defined(LOUP_KERNELS_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SUM_INL_H_
#undef LOUP_KERNELS_SUM_INL_H_
#else
#define LOUP_KERNELS_SUM_INL_H_
#endif

#include <cmath>
#include <type_traits>

#include "loup/kernels/reduce-inl.h"
#include "loup/kernels/virtual_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// For whoever only wants the sum of a tile, and not what it is made of.
struct IgnoreMasks {
  template <class Mask>
  HWY_INLINE void operator()(Mask /*m*/) const {}
};

/// The sum of the rows of a tile in one vector of columns, top to bottom; `see` is shown the mask
/// of each.
template <std::int64_t fixed_rows, class D, class T, class Mask, class See>
HWY_INLINE hn::Vec<D> add_rows(D d, const Tile<T, Mask>& tile, std::int64_t c, See see) {
  const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
  auto v = (tile.mask[0] + c).keep(d, load(d, tile.x[0] + c));
  see(tile.mask[0] + c);
  for (std::int64_t r = 1; r < rows; ++r) {
    v = hn::Add(v, (tile.mask[r] + c).keep(d, load(d, tile.x[r] + c)));
    see(tile.mask[r] + c);
  }
  return v;
}

/// What the sums with plain (one-plane) states share: f32 in f64, ints in i64.
template <class T, class P, DType result_type>
struct PlainSum {
  using Element = T;
  using Lane = std::conditional_t<std::is_integral_v<T>, T, float>;
  using Partial = P;
  // Unsigned in scalar code: integer sums wrap.
  using Wrapping = std::conditional_t<std::is_integral_v<P>, std::uint64_t, P>;
  static constexpr int planes = 1;
  static constexpr std::int64_t kept_lanes = sum_lanes;
  static constexpr DType result = result_type;

  static void init(void* states, std::int64_t n) { std::fill_n(static_cast<P*>(states), n, P{}); }
  static HWY_INLINE void empty_row(P* out, std::int64_t /*plane*/) {
    std::fill_n(out, sum_lanes, P{});
  }
  template <class D>
  static HWY_INLINE void spread(D d, std::int64_t lane, hn::Vec<D> v, hn::Mask<D> counts, P* out,
                                std::int64_t /*plane*/) {
    store_wide(d, hn::IfThenElseZero(counts, v), out + lane);
  }
  static HWY_INLINE void fold(const P* in, P* out, std::int64_t rows) {
    fold_sums(reinterpret_cast<const Wrapping*>(in), reinterpret_cast<Wrapping*>(out), rows);
  }
  static HWY_INLINE P add(P a, P b) {
    return static_cast<P>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  }
  static HWY_INLINE void absorb(P* state, std::int64_t /*n*/, const P* value) {
    *state = add(*state, *value);
  }
  static HWY_INLINE void absorb_group(P* state, std::int64_t /*n*/, const P* values) {
    const hn::ScalableTag<P> d;
    for (std::int64_t i = 0; i < group_rows; i += lanes<decltype(d)>) {
      hn::StoreU(hn::Add(hn::LoadU(d, state + i), hn::Load(d, values + i)), d, state + i);
    }
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    P* const a = static_cast<P*>(into);
    const P* const b = static_cast<const P*>(from);
    for (std::int64_t i = 0; i < n; ++i) a[i] = add(a[i], b[i]);
  }
};

/// T is float, or a half type that is widened to it.
template <class T>
struct SumFloat : PlainSum<T, double, DType::f32> {
  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t /*plane*/) {
    for_each_block<512>(row, [&](const auto& v, auto is_first) HWY_ATTR {
      fold_to_eight(v, [&](auto d, std::int64_t lane, auto sums) HWY_ATTR {
        widen<double>(d, sums, [&](auto dw, std::int64_t at, auto wide) HWY_ATTR {
          double* const to = out + lane + at;
          if constexpr (is_first.value) {
            hn::StoreU(wide, dw, to);
          } else {
            hn::StoreU(hn::Add(hn::LoadU(dw, to), wide), dw, to);
          }
        });
      });
    });
  }
  static constexpr std::int64_t short_cols = 256;
  template <class Rows>
  static HWY_INLINE void short_rows(const Block& b, Rows rows, std::int64_t first, double* out,
                                    std::int64_t /*plane*/) {
    for_each_short_row<T>(b, rows, first, [&](std::int64_t r, const auto& v) HWY_ATTR {
      fold_to_eight(v, [&](auto d, std::int64_t lane, auto sums)
                           HWY_ATTR { store_wide(d, sums, out + r * sum_lanes + lane); });
    });
  }
  template <std::int64_t fixed_rows, class D, class Mask, class See = IgnoreMasks>
  static HWY_INLINE void tile(D d, double* state, std::int64_t /*n*/, const Tile<T, Mask>& tile,
                              std::int64_t c, See see = {}) {
    const auto sum = add_rows<fixed_rows>(d, tile, c, see);
    widen<double>(d, sum, [&](auto dw, std::int64_t at, auto wide) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(dw, state + at), wide), dw, state + at);
    });
  }
  static HWY_INLINE double total(const double* state, std::int64_t /*n*/) { return *state; }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const from = static_cast<const double*>(states);
    auto* const to = static_cast<float*>(out);
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
  }
};

/// Integer sums are exact in any order: they wrap modulo 2^64.
template <class T>
struct SumInt : PlainSum<T, std::int64_t, DType::i64> {
  using Base = PlainSum<T, std::int64_t, DType::i64>;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, std::int64_t* out, std::int64_t /*plane*/) {
    using D = hn::ScalableTag<T>;
    using DW = hn::ScalableTag<std::int64_t>;
    constexpr std::int64_t N = lanes<D>;
    constexpr std::int64_t step = chunk_lanes<T>;
    auto low = hn::Zero(DW());
    auto high = hn::Zero(DW());
    const auto add = [&](hn::Vec<D> v) HWY_ATTR {
      if constexpr (sizeof(T) == 8) {
        low = hn::Add(low, v);
      } else {
        const hn::Half<D> dh;
        low = hn::Add(low, hn::PromoteTo(DW(), hn::LowerHalf(dh, v)));
        high = hn::Add(high, hn::PromoteTo(DW(), hn::UpperHalf(dh, v)));
      }
    };
    const std::int64_t full = row.cols - row.cols % step;
    for (std::int64_t i = 0; i < full; i += step) {
      prefetch<static_cast<int>(step * sizeof(T) / 64)>(row.x + i, row.mask + i);
      for (std::int64_t k = i; k < i + step; k += N) {
        add((row.mask + k).keep(D(), hn::LoadU(D(), row.x + k)));
      }
    }
    for (std::int64_t i = 0; i < row.cols - full; i += N) {
      const auto v = (row.mask_tail + i).keep(D(), hn::LoadU(D(), row.x_tail + i));
      const auto count = static_cast<std::size_t>(std::min(N, row.cols - full - i));
      add(hn::IfThenElseZero(hn::FirstN(D(), count), v));
    }
    Base::empty_row(out, 0);
    hn::StoreU(hn::Add(low, high), DW(), out);
  }
  template <std::int64_t fixed_rows, class D, class Mask, class See = IgnoreMasks>
  static HWY_INLINE void tile(D d, std::int64_t* at, std::int64_t /*n*/, const Tile<T, Mask>& tile,
                              std::int64_t c, See see = {}) {
    if constexpr (sizeof(T) == 8) {
      const auto sum = add_rows<fixed_rows>(d, tile, c, see);
      hn::StoreU(hn::Add(hn::LoadU(d, at), sum), d, at);
    } else {
      // Rows of i32 could overflow before they are widened: widen each.
      using DW = hn::Rebind<std::int64_t, D>;
      constexpr bool is_halved = lanes<D> * 8 > HWY_MAX_BYTES;
      using DP = std::conditional_t<is_halved, hn::Half<DW>, DW>;  // what one vector can hold
      auto low = hn::LoadU(DP(), at);
      auto high = hn::LoadU(DP(), at + (is_halved ? lanes<DP> : 0));
      const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto v = (tile.mask[r] + c).keep(d, hn::LoadU(d, tile.x[r] + c));
        see(tile.mask[r] + c);
        if constexpr (is_halved) {
          const hn::Half<D> half;
          low = hn::Add(low, hn::PromoteTo(DP(), hn::LowerHalf(half, v)));
          high = hn::Add(high, hn::PromoteTo(DP(), hn::UpperHalf(half, v)));
        } else {
          low = hn::Add(low, hn::PromoteTo(DP(), v));
        }
      }
      hn::StoreU(low, DP(), at);
      if constexpr (is_halved) hn::StoreU(high, DP(), at + lanes<DP>);
    }
  }
  static HWY_INLINE double total(const std::int64_t* state, std::int64_t /*n*/) {
    return static_cast<double>(*state);
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    std::copy_n(static_cast<const std::int64_t*>(states), n, static_cast<std::int64_t*>(out));
  }
};

/// f64 keeps, beside each sum, the rounding errors made on the way to it.
struct SumF64 {
  using Element = double;
  using Lane = double;
  using Partial = double;
  static constexpr int planes = 2;
  static constexpr std::int64_t kept_lanes = sum_lanes;
  static constexpr DType result = DType::f64;

  /// sum += value, error += what the rounding lost. Exact by Knuth's two-sum.
  template <class V>
  static HWY_INLINE void add_exactly(V& sum, V& error, V value) {
    const V total = hn::Add(sum, value);
    const V back = hn::Sub(total, sum);
    error = hn::Add(error, hn::Add(hn::Sub(sum, hn::Sub(total, back)), hn::Sub(value, back)));
    sum = total;
  }
  static HWY_INLINE void add_exactly(double& sum, double& error, double value) {
    const double total = sum + value;
    const double back = total - sum;
    error += (sum - (total - back)) + (value - back);
    sum = total;
  }

  static void init(void* states, std::int64_t n) {
    std::fill_n(static_cast<double*>(states), 2 * n, 0.0);
  }
  static HWY_INLINE void empty_row(double* out, std::int64_t plane) {
    std::fill_n(out, sum_lanes, 0.0);
    std::fill_n(out + plane, sum_lanes, 0.0);
  }
  template <class D>
  static HWY_INLINE void spread(D d, std::int64_t lane, hn::Vec<D> v, hn::Mask<D> counts,
                                double* out, std::int64_t plane) {
    start_sum(d, lane, hn::IfThenElseZero(counts, v), out, plane);
  }
  template <class D>
  static HWY_INLINE void start_sum(D d, std::int64_t lane, hn::Vec<D> v, double* out,
                                   std::int64_t plane) {
    hn::StoreU(v, d, out + lane);
    hn::StoreU(hn::Zero(d), d, out + plane + lane);
  }
  template <class Mask>
  static HWY_INLINE void row(const Row<double, Mask>& row, double* out, std::int64_t plane) {
    for_each_block<256>(row, [&](const auto& v, auto is_first) HWY_ATTR {
      fold_to_eight(v, [&](auto d, std::int64_t lane, auto sums) HWY_ATTR {
        if constexpr (is_first.value) {
          start_sum(d, lane, sums, out, plane);
        } else {
          auto sum = hn::LoadU(d, out + lane);
          auto error = hn::LoadU(d, out + plane + lane);
          add_exactly(sum, error, sums);
          hn::StoreU(sum, d, out + lane);
          hn::StoreU(error, d, out + plane + lane);
        }
      });
    });
  }
  static HWY_INLINE void fold(const double* in, double* out, std::int64_t rows) {
    fold_sums(in, out, rows);
  }
  static HWY_INLINE void absorb(double* state, std::int64_t n, const double* value) {
    add_exactly(state[0], state[n], value[0]);
    state[n] += value[group_rows];
  }
  static HWY_INLINE void absorb_group(double* state, std::int64_t n, const double* values) {
    const hn::ScalableTag<double> d;
    for (std::int64_t i = 0; i < group_rows; i += lanes<decltype(d)>) {
      auto sum = hn::LoadU(d, state + i);
      auto error = hn::LoadU(d, state + n + i);
      add_exactly(sum, error, hn::Load(d, values + i));
      hn::StoreU(sum, d, state + i);
      hn::StoreU(hn::Add(error, hn::Load(d, values + group_rows + i)), d, state + n + i);
    }
  }
  template <std::int64_t fixed_rows, class D, class Mask, class See = IgnoreMasks>
  static HWY_INLINE void tile(D d, double* at, std::int64_t n, const Tile<double, Mask>& tile,
                              std::int64_t c, See see = {}) {
    auto sum = hn::LoadU(d, at);
    auto error = hn::LoadU(d, at + n);
    add_exactly(sum, error, add_rows<fixed_rows>(d, tile, c, see));
    hn::StoreU(sum, d, at);
    hn::StoreU(error, d, at + n);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    auto* const a = static_cast<double*>(into);
    const auto* const b = static_cast<const double*>(from);
    for (std::int64_t i = 0; i < n; ++i) {
      add_exactly(a[i], a[n + i], b[i]);
      a[n + i] += b[n + i];
    }
  }
  /// The error of an infinite or NaN sum is NaN and means nothing.
  static HWY_INLINE double total(const double* state, std::int64_t n) {
    return std::isfinite(*state) ? *state + state[n] : *state;
  }
  static void finish(const void* states, void* out, std::int64_t n, double /*parameter*/) {
    const auto* const from = static_cast<const double*>(states);
    auto* const to = static_cast<double*>(out);
    for (std::int64_t i = 0; i < n; ++i) to[i] = total(from + i, n);
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
