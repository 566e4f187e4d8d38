#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/scan_f32.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const ScanKernel* find_scan_f32(ScanOp op) {
  return op == ScanOp::sum ? &scan_of<float, RunningSum> : &scan_of<float, RunningProduct>;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_scan_f32);
const ScanKernel& scan_f32(ScanOp op) { return *HWY_DYNAMIC_DISPATCH(find_scan_f32)(op); }
}  // namespace loup::kernels
#endif
