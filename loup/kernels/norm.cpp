#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/norm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/norm-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
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
