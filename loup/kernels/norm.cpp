#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/norm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cmath>

#include "loup/base/dtype.h"
#include "loup/kernels/lane_reduce-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

/// Sums of |x|^power in double, where squares of floats neither overflow nor vanish.
template <class T, int power>
struct PowerSum : LaneSum<T, double> {
  static constexpr DType result = dtype_of<T>();

  template <class D, class Counts>
  static HWY_INLINE void add(D d, Lanes1<D>& x, hn::Vec<D> v, Counts counts) {
    LaneSum<T, double>::add(d, x, mapped(d, v), counts);
  }
  /// `order` is that of the norm: power, or of numbers that are powers already.
  static void finish(const void* states, void* out, std::int64_t n, double order) {
    const auto* const from = static_cast<const double*>(states);
    std::transform(from, from + n, static_cast<T*>(out), [order](double sum) {
      if constexpr (power == 2) return static_cast<T>(std::sqrt(sum));
      if (power == 0 || order == 1) return static_cast<T>(sum);
      return static_cast<T>(std::pow(sum, 1 / order));
    });
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> mapped(D d, hn::Vec<D> v) {
    if constexpr (power == 0) return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, 1.0));
    return power == 1 ? hn::Abs(v) : hn::Mul(v, v);
  }
};

template <class T>
const Reducer* norm_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::norm_0: return &reducer_of<LaneReduction<PowerSum<T, 0>>>;
    case ReduceOp::norm_1: return &reducer_of<LaneReduction<PowerSum<T, 1>>>;
    case ReduceOp::norm_2: return &reducer_of<LaneReduction<PowerSum<T, 2>>>;
    default: return nullptr;
  }
}

}  // namespace

const Reducer* find_norm(ReduceOp op, DType dtype) {
  if (dtype == DType::f32) return norm_of<float>(op);
  return dtype == DType::f64 ? norm_of<double>(op) : nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_norm);
const Reducer* norm(ReduceOp op, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_norm)(op, dtype); }
}  // namespace loup::kernels
#endif
