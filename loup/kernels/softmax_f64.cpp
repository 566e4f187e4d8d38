#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/softmax_f64.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/softmax_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const LineKernel* find_softmax_f64(SoftmaxOp op) {
  return op == SoftmaxOp::softmax ? &softmax_of<double, false> : &softmax_of<double, true>;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_softmax_f64);
const LineKernel& softmax_f64(SoftmaxOp op) { return *HWY_DYNAMIC_DISPATCH(find_softmax_f64)(op); }
}  // namespace loup::kernels
#endif
