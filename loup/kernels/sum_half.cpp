#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sum_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/reducers.h"
#include "loup/kernels/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_sum_half(DType dtype) {
  if (dtype == DType::bf16) return &reducer_of<SumFloat<BFloat16>>;
  if (dtype == DType::f16) return &reducer_of<SumFloat<Float16>>;
  return nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_sum_half);
const Reducer* sum_half(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_sum_half)(dtype); }
}  // namespace loup::kernels
#endif
