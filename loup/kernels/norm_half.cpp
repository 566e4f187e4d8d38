#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/norm_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/norm-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_norm_half(ReduceOp op, DType dtype) {
  if (dtype == DType::bf16) return norm_of<BFloat16>(op);
  if (dtype == DType::f16) return norm_of<Float16>(op);
  return nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_norm_half);
const Reducer* norm_half(ReduceOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_norm_half)(op, dtype);
}
}  // namespace loup::kernels
#endif
