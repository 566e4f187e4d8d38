#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/var_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/reducers.h"
#include "loup/kernels/var-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_var_half(DType dtype) {
  if (dtype == DType::bf16) return &reducer_of<Variance<BFloat16>>;
  if (dtype == DType::f16) return &reducer_of<Variance<Float16>>;
  return nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_var_half);
const Reducer* var_half(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_var_half)(dtype); }
}  // namespace loup::kernels
#endif
