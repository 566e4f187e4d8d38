#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sum_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/sum-inl.h"
#include "loup/kernels/sum.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_sum_f16() {
  if constexpr (widens_float16) return &reducer_of<SumFloat<Float16>>;
  return nullptr;
}
const Reducer* find_sum_bf16() { return &reducer_of<SumFloat<BFloat16>>; }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_sum_f16);
HWY_EXPORT(find_sum_bf16);
const Reducer* sum_f16() { return HWY_DYNAMIC_DISPATCH(find_sum_f16)(); }
const Reducer* sum_bf16() { return HWY_DYNAMIC_DISPATCH(find_sum_bf16)(); }
}  // namespace loup::kernels
#endif
