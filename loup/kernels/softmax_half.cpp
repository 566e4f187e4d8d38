#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/softmax_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/softmax_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
template <class E>
const LineKernel* find_softmax(SoftmaxOp op) {
  return op == SoftmaxOp::softmax ? &softmax_of<E, false> : &softmax_of<E, true>;
}
const LineKernel* find_softmax_half(SoftmaxOp op, DType type) {
  return type == DType::f16 ? find_softmax<Float16>(op) : find_softmax<BFloat16>(op);
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_softmax_half);
const LineKernel& softmax_half(SoftmaxOp op, DType type) {
  return *HWY_DYNAMIC_DISPATCH(find_softmax_half)(op, type);
}
}  // namespace loup::kernels
#endif
