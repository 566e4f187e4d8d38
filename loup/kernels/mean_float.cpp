#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/mean_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/mean-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_mean_float(DType dtype) {
  if (dtype == DType::f32) return &reducer_of<Mean<SumFloat<float>>>;
  return dtype == DType::f64 ? &reducer_of<Mean<SumF64>> : nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_mean_float);
const Reducer* mean_float(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_mean_float)(dtype); }
}  // namespace loup::kernels
#endif
