#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/softmax_gradient.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/softmax_gradient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
template <class T>
const LineKernel* find_softmax_gradient_of(SoftmaxOp op) {
  return op == SoftmaxOp::softmax ? &softmax_gradient_of<T, false> : &softmax_gradient_of<T, true>;
}
const LineKernel* find_softmax_gradient(SoftmaxOp op, ComputeType type) {
  return type == ComputeType::f64 ? find_softmax_gradient_of<double>(op)
                                  : find_softmax_gradient_of<float>(op);
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_softmax_gradient);
const LineKernel& softmax_gradient_kernel(SoftmaxOp op, ComputeType type) {
  return *HWY_DYNAMIC_DISPATCH(find_softmax_gradient)(op, type);
}
}  // namespace loup::kernels
#endif
