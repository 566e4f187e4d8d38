#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/var.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/base/dtype.h"
#include "loup/kernels/count-inl.h"
#include "loup/kernels/lane_reduce-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// A state is a count, a mean and the sum of the squared deviations from it. Each block of a row is
/// read twice while it is in the first-level cache, for its own mean and the deviations from that:
/// a mean of a million times the deviation costs no digits.
template <class T>
struct Variance {
  using Element = T;
  using Lane = double;
  using Partial = double;
  static constexpr int planes = 3;
  static constexpr std::int64_t kept_lanes = 1;
  static constexpr DType result = std::is_same_v<T, float> ? DType::f32 : DType::f64;
  static constexpr DType second = result;
  static constexpr std::int64_t block = 512;
  struct Moments {
    double count, mean, squares;
  };
  /// Chan's formula: both sets of elements together.
  static HWY_INLINE Moments joined(const Moments& a, const Moments& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const double count = a.count + b.count;
    const double distance = b.mean - a.mean;
    const double share = b.count / count;
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * (a.count * share)};
  }
  static HWY_INLINE Moments load_state(const double* state, std::int64_t n) {
    return {state[0], state[n], state[2 * n]};
  }
  static HWY_INLINE void store_state(const Moments& m, double* state, std::int64_t n) {
    state[0] = m.count;
    state[n] = m.mean;
    state[2 * n] = m.squares;
  }

  /// One of the elements of a block of which `mask` lets some through.
  template <class Mask>
  static HWY_INLINE double first_counted(const Row<T, Mask>& row, std::int64_t first) {
    while (!row.mask[first]) ++first;
    const std::int64_t full = row.cols - row.cols % chunk_lanes<T>;
    return static_cast<double>(first < full ? row.x[first] : row.x_tail[first - full]);
  }

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t plane) {
    using Sum = LaneSum<T, double>;
    const hn::ScalableTag<double> d;
    Moments all{0, 0, 0};
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      const std::int64_t n = count_of(row.mask + first, end - first);
      if (n == 0) continue;
      const auto count = static_cast<double>(n);
      // Distances from one of the elements: the mean of equal ones is exact.
      const double pivot = first_counted(row, first);
      const auto moved = [=](auto v) HWY_ATTR { return hn::Sub(v, hn::Set(d, pivot)); };
      const double mean =
          pivot + hn::GetLane(reduce_elements<Sum>(row, first, end, moved).a) / count;
      const auto squared = [=](auto v) HWY_ATTR {
        const auto distance = hn::Sub(v, hn::Set(d, mean));
        return hn::Mul(distance, distance);
      };
      const double squares = hn::GetLane(reduce_elements<Sum>(row, first, end, squared).a);
      all = joined(all, {count, mean, squares});
    }
    store_state(all, out, plane);
  }
  static HWY_INLINE void empty_row(double* out, std::int64_t plane) {
    store_state({0, 0, 0}, out, plane);
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

  /// The same for a few rows of a vector of columns, read twice from the cache.
  template <std::int64_t fixed_rows, class Tag, class Mask>
  static HWY_INLINE void tile(Tag d, double* state, std::int64_t n, const Tile<T, Mask>& tile,
                              std::int64_t c) {
    const std::int64_t rows = fixed_rows != 0 ? fixed_rows : tile.rows;
    const auto zero = hn::Zero(d);
    const auto one = hn::Set(d, 1.0);
    const auto old_count = hn::LoadU(d, state);
    const auto old_mean = hn::LoadU(d, state + n);
    // Distances from the mean so far, or from the first element.
    auto has_pivot = hn::Ne(old_count, zero);
    auto pivot = old_mean;
    for (std::int64_t r = 0; r < rows && !hn::AllTrue(d, has_pivot); ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      const auto is_first = counts.both(d, hn::Not(has_pivot));
      pivot = hn::IfThenElse(is_first, load(d, tile.x[r] + c), pivot);
      has_pivot = hn::Or(has_pivot, is_first);
    }
    auto count = zero;
    auto sum = zero;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      count = hn::Add(count, counts.select(d, one, zero));
      sum = hn::Add(sum, counts.select(d, hn::Sub(load(d, tile.x[r] + c), pivot), zero));
    }
    const auto mean = hn::Add(pivot, hn::Div(sum, hn::Max(count, one)));
    auto squares = zero;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto counts = lanes_that_count(d, tile.mask[r] + c);
      const auto distance = hn::Sub(load(d, tile.x[r] + c), mean);
      squares = hn::Add(squares, counts.select(d, hn::Mul(distance, distance), zero));
    }
    const auto all = hn::Add(old_count, count);
    const auto share = hn::Div(count, hn::Max(all, one));
    const auto distance = hn::Sub(mean, old_mean);
    const auto between = hn::Mul(hn::Mul(distance, distance), hn::Mul(old_count, share));
    const auto is_new = hn::Eq(old_count, zero);
    const auto is_same = hn::Eq(count, zero);
    // Where one side has nothing its mean is not looked at: it may be far from all elements.
    auto new_mean = hn::Add(old_mean, hn::Mul(distance, share));
    new_mean = hn::IfThenElse(is_same, old_mean, hn::IfThenElse(is_new, mean, new_mean));
    auto new_squares = hn::Add(squares, hn::IfThenZeroElse(hn::Or(is_new, is_same), between));
    new_squares = hn::Add(hn::LoadU(d, state + 2 * n), new_squares);
    hn::StoreU(all, d, state);
    hn::StoreU(new_mean, d, state + n);
    hn::StoreU(new_squares, d, state + 2 * n);
  }

  static void init(void* states, std::int64_t n) {
    std::fill_n(static_cast<double*>(states), planes * n, 0.0);
  }
  static void merge(void* into, const void* from, std::int64_t n) {
    auto* const a = static_cast<double*>(into);
    const auto* const b = static_cast<const double*>(from);
    for (std::int64_t i = 0; i < n; ++i) {
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
  static double variance(const Moments& m, double correction) {
    if (m.count == 0) return std::numeric_limits<double>::quiet_NaN();
    return m.squares / std::max(m.count - correction, 0.0);
  }
  template <class Map>
  static void finish_as(const void* states, void* out, std::int64_t n, Map map) {
    using Out = std::conditional_t<result == DType::f32, float, double>;
    const auto* const from = static_cast<const double*>(states);
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<Out*>(out)[i] = static_cast<Out>(map(load_state(from + i, n)));
    }
  }
};

}  // namespace

const Reducer* find_var(DType dtype) {
  switch (dtype) {
    case DType::f32: return &reducer_of<Variance<float>>;
    case DType::f64: return &reducer_of<Variance<double>>;
    case DType::i32: return &reducer_of<Variance<std::int32_t>>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_var);
const Reducer* var(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_var)(dtype); }
}  // namespace loup::kernels
#endif
