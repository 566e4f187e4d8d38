#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/scan_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
template <class E>
const ScanKernel* find_scan(ScanOp op) {
  return op == ScanOp::sum ? &scan_of<E, RunningSum> : &scan_of<E, RunningProduct>;
}
const ScanKernel* find_scan_half(ScanOp op, DType type) {
  return type == DType::f16 ? find_scan<Float16>(op) : find_scan<BFloat16>(op);
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_scan_half);
const ScanKernel& scan_half(ScanOp op, DType type) {
  return *HWY_DYNAMIC_DISPATCH(find_scan_half)(op, type);
}
}  // namespace loup::kernels
#endif
