#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/softmax_f32.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/softmax_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const LineKernel* find_softmax_f32(SoftmaxOp op) {
  return op == SoftmaxOp::softmax ? &softmax_of<float, false> : &softmax_of<float, true>;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_softmax_f32);
const LineKernel& softmax_f32(SoftmaxOp op) { return *HWY_DYNAMIC_DISPATCH(find_softmax_f32)(op); }
}  // namespace loup::kernels
#endif
