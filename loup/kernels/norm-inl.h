// Norms that are sums of powers. Included once per instruction set.

#if defined(LOUP_KERNELS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_NORM_INL_H_
#undef LOUP_KERNELS_NORM_INL_H_
#else
#define LOUP_KERNELS_NORM_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "loup/base/dtype.h"
#include "loup/kernels/lane_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Sums of |x|^power in double, where squares of floats neither overflow nor vanish.
template <class T, int power>
struct PowerSum : LaneSum<T, double> {
  using Out = FullType<T>;
  static constexpr DType result = dtype_of<Out>();

  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    if constexpr (power == 2 && !std::is_same_v<T, double>) {
      // Squares of narrower types are exact in double: the same bits without this instruction.
      x.a = counts.select(d, hn::MulAdd(v, v, x.a), x.a);
    } else {
      LaneSum<T, double>::add(d, x, mapped(d, v), counts);
    }
  }
  /// `order` is that of the norm: power, or of numbers that are powers already.
  static void finish(const void* states, void* out, std::int64_t n, double order) {
    const auto* const from = static_cast<const double*>(states);
    std::transform(from, from + n, static_cast<Out*>(out), [order](double sum) {
      if constexpr (power == 2) return static_cast<Out>(std::sqrt(sum));
      if (power == 0 || order == 1) return static_cast<Out>(sum);
      return static_cast<Out>(std::pow(sum, 1 / order));
    });
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> mapped(D d, hn::Vec<D> v) {
    if constexpr (power == 0) return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, 1.0));
    return power == 1 ? hn::Abs(v) : hn::Mul(v, v);
  }
};

/// Squares of half types, which are exact in float, summed in float.
template <class T>
struct HalfSquares : LaneSum<T, float> {
  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    x.a = counts.select(d, hn::MulAdd(v, v, x.a), x.a);
  }
};

/// Norms of half types: rows in float, block by block, and in double where that is not enough.
template <class T>
struct HalfNorm : LaneReduction<PowerSum<T, 2>> {
  static constexpr std::int64_t block = 2048;

  template <class Mask>
  static HWY_INLINE void row(const Row<T, Mask>& row, double* out, std::int64_t /*plane*/) {
    const Filled or_zero{T{}, AsItIs()};
    double total = 0;
    for (std::int64_t first = 0; first < row.cols; first += block) {
      const std::int64_t end = std::min(row.cols, first + block);
      double sum = hn::GetLane(reduce_elements<HalfSquares<T>>(row, first, end, or_zero).a);
      if (!is_right_sum_of_squares(sum, row, first, end, or_zero)) {
        sum = hn::GetLane(reduce_elements<PowerSum<T, 2>>(row, first, end).a);
      }
      total += sum;
    }
    *out = total;
  }
};

template <class T>
const Reducer* norm_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::norm_0: return &reducer_of<LaneReduction<PowerSum<T, 0>>>;
    case ReduceOp::norm_1: return &reducer_of<LaneReduction<PowerSum<T, 1>>>;
    case ReduceOp::norm_2:
      if constexpr (sizeof(T) == 2) return &reducer_of<HalfNorm<T>>;
      return &reducer_of<LaneReduction<PowerSum<T, 2>>>;
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
