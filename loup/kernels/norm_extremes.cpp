#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/norm_extremes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
namespace {

template <class T>
const Reducer* norm_extreme_of(bool is_largest) {
  return is_largest ? extreme_reducer<T, true, true> : extreme_reducer<T, false, true>;
}

}  // namespace

const Reducer* find_norm_extreme(bool is_largest, DType dtype) {
  switch (dtype) {
    case DType::f32: return norm_extreme_of<float>(is_largest);
    case DType::f64: return norm_extreme_of<double>(is_largest);
    case DType::bf16: return norm_extreme_of<BFloat16>(is_largest);
    case DType::f16: return norm_extreme_of<Float16>(is_largest);
    default: return nullptr;
  }
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_norm_extreme);
const Reducer* norm_extreme(bool is_largest, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_norm_extreme)(is_largest, dtype);
}
}  // namespace loup::kernels
#endif
