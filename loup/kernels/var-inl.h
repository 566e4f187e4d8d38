// Variances and deviations. Included once per instruction set.

#if defined(LOUP_KERNELS_VAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_VAR_INL_H_
#undef LOUP_KERNELS_VAR_INL_H_
#else
#define LOUP_KERNELS_VAR_INL_H_
#endif

#include <cmath>
#include <limits>
#include <utility>

#include "loup/base/dtype.h"
#include "loup/kernels/count-inl.h"
#include "loup/kernels/lane_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Sums of the elements and of their squares, in lanes of the type L.
template <class T, class L = double>
struct PowerSums {
  using Element = T;
  using Lane = L;
  template <class D>
  using Lanes = Lanes2<D>;

  template <class D>
  static HWY_INLINE Lanes2<D> start(D d) {
    return {hn::Zero(d), hn::Zero(d)};
  }
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes2<D>& x, hn::Vec<D> v, Counts counts) {
    v = counts.select(d, v, hn::Zero(d));
    x.a = hn::Add(x.a, v);
    x.b = hn::Add(x.b, hn::Mul(v, v));
  }
  template <class D>
  static HWY_INLINE Lanes2<D> join(D /*d*/, const Lanes2<D>& x, const Lanes2<D>& y) {
    return {hn::Add(x.a, y.a), hn::Add(x.b, y.b)};
  }
};

/// A state is a count, a mean and the sum of the squared deviations from it. Elements are read
/// once, as distances from the mean so far: sum and sum of squares of those give the new mean and
/// what the squares grow by, and the digits that cancel are fewer than those of what is there
/// already. At first the distances are from one of the elements, and no more bits can cancel than
/// the length of a block has: few beside the precision of floats. For doubles that are far from it
/// the block is read again. Rows of half types are summed in float, and again in double where bits
/// cancel, or squares do not fit.
template <class T>
struct Variance {
  using Element = T;
  using Lane = double;
  using Partial = double;
  static constexpr int planes = 4;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr bool closes_tiles = !std::is_same_v<FullType<T>, float>;
  using Out = std::conditional_t<std::is_same_v<FullType<T>, float>, float, double>;
  static constexpr DType result = dtype_of<Out>();
  static constexpr DType second = result;
  static constexpr std::int64_t block = is_half<T> ? 2048 : 1024;
  struct Moments {
    double count, mean, squares;
    double rest;  // of the mean, lost as it was rounded: that of a few elements far from 0 matters
  };
  /// Chan's formula: both sets of elements together.
  static HWY_INLINE Moments joined(const Moments& a, const Moments& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const double count = a.count + b.count;
    const double distance = (b.mean - a.mean) + (b.rest - a.rest);
    const double share = b.count / count;
    const double step = a.rest + distance * share;
    const double mean = a.mean + step;
    return {count, mean, a.squares + b.squares + distance * distance * (a.count * share),
            step - (mean - a.mean)};
  }
  static HWY_INLINE Moments load_state(const double* state, std::int64_t n) {
    return {state[0], state[n], state[2 * n], state[3 * n]};
  }
  static HWY_INLINE void store_state(const Moments& m, double* state, std::int64_t n) {
    state[0] = m.count;
    state[n] = m.mean;
    state[2 * n] = m.squares;
    state[3 * n] = m.rest;
  }

  /// One of the elements of a block of which `mask` lets some through.
  template <class Mask>
  static HWY_INLINE double first_counted(const Row<T, Mask>& row, std::int64_t first) {
    while (!row.mask[first]) ++first;
    return static_cast<double>(element_at(row, first));
  }

  /// Of the distances from `mean`, and of their squares.
  template <class Mask>
  static HWY_INLINE std::pair<double, double> sums_about(double mean, const Row<T, Mask>& row,
                                                         std::int64_t first, std::int64_t end) {
    const auto moved = [mean](auto v) HWY_ATTR {
      return hn::Sub(v, hn::Set(hn::ScalableTag<double>(), mean));
    };
    const auto sums = reduce_elements<PowerSums<T>>(row, first, end, moved);
    return {hn::GetLane(sums.a), hn::GetLane(sums.b)};
  }

  /// Those of `before`, and n more elements whose distances from its mean have these sums.
  static HWY_INLINE Moments grown(const Moments& before, double n, double sum, double squares) {
    const double count = before.count + n;
    const double rest = before.count * before.rest;
    const double total = sum + rest;
    const double step = total / count;
    const double mean = before.mean + step;
    const double more = squares + rest * before.rest - total * step;
    return {count, mean, before.squares + (more < 0 ? 0 : more), step - (mean - before.mean)};
  }

  /// Lets a block of n elements that count grow the moments by sums in float; false where those
  /// might be wrong.
  template <class Mask>
  static HWY_INLINE bool grow_in_float(Moments& all, double n, const Row<T, Mask>& row,
                                       std::int64_t first, std::int64_t end) {
    const auto near = static_cast<T>(all.mean);
    const auto from = static_cast<float>(near);
    const auto moved = [from](auto v)
                           HWY_ATTR { return hn::Sub(v, hn::Set(hn::ScalableTag<float>(), from)); };
    const double apart = static_cast<double>(from) - all.mean;
    const Filled distances{near, moved};
    const auto sums = reduce_elements<PowerSums<T, float>>(row, first, end, distances);
    const double sum = hn::GetLane(sums.a);
    const double squares = hn::GetLane(sums.b);
    const Moments more = grown(all, n, sum + n * apart, squares + apart * (2 * sum + n * apart));
    if (!is_right_sum_of_squares(squares, row, first, end, distances) ||
        squares > 16 * (more.squares - all.squares)) {
      return false;
    }
    all = more;
    return true;
  }

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t plane) {
    Moments all{0, 0, 0, 0};
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      const std::int64_t count = count_of(row.mask + first, end - first);
      if (count == 0) continue;
      const auto n = static_cast<double>(count);
      if (all.count == 0) all.mean = first_counted(row, first);
      if constexpr (sizeof(T) == 2) {
        if (HWY_LIKELY(grow_in_float(all, n, row, first, end))) continue;
      }
      auto sums = sums_about(all.mean, row, first, end);
      if constexpr (std::is_same_v<T, double>) {
        const double share = sums.first / n;
        const bool cancels = sums.second > 16 * (sums.second - sums.first * share);
        if (all.count == 0 && cancels) sums = sums_about(all.mean += share, row, first, end);
      }
      all = grown(all, n, sums.first, sums.second);
    }
    store_state(all, out, plane);
  }
  static HWY_INLINE void empty_row(double* out, std::int64_t plane) {
    store_state({0, 0, 0, 0}, out, plane);
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

  /// The same for a few rows of a vector of columns. While a block is read, the third and fourth
  /// number of a state are sums of squared and of plain distances from the second one: a mean, or
  /// the first element. A division for each tile would take longer than all the rest, but for
  /// doubles, of which too many bits would cancel.
  template <std::int64_t fixed_rows, class Tag, class Mask>
  static HWY_INLINE void tile(Tag d, double* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    const auto count = hn::LoadU(d, state);
    const auto has_mean = hn::Gt(count, hn::Zero(d));
    if (!hn::AllTrue(d, has_mean)) start_from_first(d, has_mean, state + n, tile, c);
    const auto mean = hn::LoadU(d, state + n);
    Lanes2<Tag> sums{hn::LoadU(d, state + 3 * n), hn::LoadU(d, state + 2 * n)};
    LaneCounts<Tag, double> counted;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      PowerSums<T>::add(d, sums, hn::Sub(load(d, tile.x[r] + c), mean), counts);
      if constexpr (std::is_same_v<Mask, ByteMask>) counted.add(tile.mask[r] + c);
    }
    if constexpr (std::is_same_v<Mask, ByteMask>) {
      counted.into(state);
    } else {
      hn::StoreU(hn::Add(count, hn::Set(d, static_cast<double>(rows))), d, state);
    }
    hn::StoreU(sums.b, d, state + 2 * n);
    hn::StoreU(sums.a, d, state + 3 * n);
    if constexpr (closes_tiles) {
      close(d, state, n);
      open(d, state, n);
    }
  }
  static void open_columns(const States& states, std::int64_t cols) {
    for_each_column(states, cols,
                    [](auto d, double* state, std::int64_t n) HWY_ATTR { open(d, state, n); });
  }
  static void close_columns(const States& states, std::int64_t cols) {
    for_each_column(states, cols,
                    [](auto d, double* state, std::int64_t n) HWY_ATTR { close(d, state, n); });
  }

  static void init(void* states, std::int64_t n) {
    std::fill_n(static_cast<double*>(states), planes * n, 0.0);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    auto* const a = static_cast<double*>(into);
    const auto* const b = static_cast<const double*>(from);
    const hn::ScalableTag<double> d;
    std::int64_t i = 0;
    for (; i + lanes<decltype(d)> <= n; i += lanes<decltype(d)>) merge_lanes(d, a + i, b + i, n);
    for (; i < n; ++i) {
      store_state(joined(load_state(a + i, n), load_state(b + i, n)), a + i, n);
    }
  }
  /// The variance and its root.
  static void finish(const void* states, void* out, std::int64_t n, double correction) {
    finish_as(states, out, n, [correction](const Moments& m) { return variance(m, correction); });
  }
  static void finish_second(const void* states, void* out, std::int64_t n, double correction) {
    finish_as(states, out, n,
              [correction](const Moments& m) { return std::sqrt(variance(m, correction)); });
  }

 private:
  /// Lets the means of columns of which nothing counted so far be their first elements.
  template <class D, class Mask>
  static HWY_NOINLINE void start_from_first(D d, hn::Mask<D> has_mean, double* means,
                                            const Tile<T, Mask>& tile, std::int64_t c) {
    auto mean = hn::LoadU(d, means);
    for (std::int64_t r = 0; r < tile.rows && !hn::AllTrue(d, has_mean); ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      const auto is_first = counts.both(d, hn::Not(has_mean));
      mean = hn::IfThenElse(is_first, load(d, tile.x[r] + c), mean);
      has_mean = hn::Or(has_mean, is_first);
    }
    hn::StoreU(mean, d, means);
  }
  template <class D>
  static HWY_INLINE void open(D d, double* state, std::int64_t n) {
    const auto rest = hn::LoadU(d, state + 3 * n);
    const auto sum = hn::Mul(hn::LoadU(d, state), rest);
    const auto squares = hn::LoadU(d, state + 2 * n);
    hn::StoreU(hn::Add(squares, hn::Mul(sum, rest)), d, state + 2 * n);
    hn::StoreU(sum, d, state + 3 * n);
  }
  template <class D>
  static HWY_INLINE void close(D d, double* state, std::int64_t n) {
    const auto mean = hn::LoadU(d, state + n);
    const auto sum = hn::LoadU(d, state + 3 * n);
    const auto step = hn::Div(sum, hn::Max(hn::LoadU(d, state), hn::Set(d, 1.0)));
    const auto squares = hn::Sub(hn::LoadU(d, state + 2 * n), hn::Mul(sum, step));
    const auto new_mean = hn::Add(mean, step);
    hn::StoreU(new_mean, d, state + n);
    // The order matters: NaN stays NaN.
    hn::StoreU(hn::Max(hn::Zero(d), squares), d, state + 2 * n);
    hn::StoreU(hn::Sub(step, hn::Sub(new_mean, mean)), d, state + 3 * n);
  }
  /// Vectors of the states of a block's columns; the last ones one by one.
  template <class Change>
  static HWY_INLINE void for_each_column(const States& states, std::int64_t cols, Change change) {
    const hn::ScalableTag<double> d;
    double* const state = static_cast<double*>(states.data) + states.first;
    std::int64_t c = 0;
    for (; c + lanes<decltype(d)> <= cols; c += lanes<decltype(d)>) {
      change(d, state + c, states.count);
    }
    for (; c < cols; ++c) change(hn::CappedTag<double, 1>(), state + c, states.count);
  }
  /// The same as joined(), for a vector of states: those of columns are many.
  template <class D>
  static HWY_INLINE void merge_lanes(D d, double* a, const double* b, std::int64_t n) {
    const auto a_count = hn::LoadU(d, a);
    const auto b_count = hn::LoadU(d, b);
    const auto a_mean = hn::LoadU(d, a + n);
    const auto b_mean = hn::LoadU(d, b + n);
    const auto a_squares = hn::LoadU(d, a + 2 * n);
    const auto b_squares = hn::LoadU(d, b + 2 * n);
    const auto a_rest = hn::LoadU(d, a + 3 * n);
    const auto b_rest = hn::LoadU(d, b + 3 * n);
    const auto count = hn::Add(a_count, b_count);
    const auto distance = hn::Add(hn::Sub(b_mean, a_mean), hn::Sub(b_rest, a_rest));
    const auto share = hn::Div(b_count, hn::Max(count, hn::Set(d, 1.0)));
    const auto step = hn::Add(a_rest, hn::Mul(distance, share));
    const auto mean = hn::Add(a_mean, step);
    const auto between = hn::Mul(hn::Mul(distance, distance), hn::Mul(a_count, share));
    const auto squares = hn::Add(hn::Add(a_squares, b_squares), between);
    const auto rest = hn::Sub(step, hn::Sub(mean, a_mean));
    const auto is_same = hn::Eq(b_count, hn::Zero(d));
    const auto is_new = hn::Eq(a_count, hn::Zero(d));
    const auto choose = [&](auto old, auto other, auto both) HWY_ATTR {
      return hn::IfThenElse(is_same, old, hn::IfThenElse(is_new, other, both));
    };
    hn::StoreU(count, d, a);
    hn::StoreU(choose(a_mean, b_mean, mean), d, a + n);
    hn::StoreU(choose(a_squares, b_squares, squares), d, a + 2 * n);
    hn::StoreU(choose(a_rest, b_rest, rest), d, a + 3 * n);
  }
  static double variance(const Moments& m, double correction) {
    if (m.count == 0) return std::numeric_limits<double>::quiet_NaN();
    return m.squares / std::max(m.count - correction, 0.0);
  }
  template <class Map>
  static void finish_as(const void* states, void* out, std::int64_t n, Map map) {
    const auto* const from = static_cast<const double*>(states);
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<Out*>(out)[i] = static_cast<Out>(map(load_state(from + i, n)));
    }
  }
};

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
