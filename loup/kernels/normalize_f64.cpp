#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/normalize_f64.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const LineKernel* find_normalize_f64(double order) { return find_normalize<double>(order); }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_normalize_f64);
const LineKernel& normalize_f64(double order) {
  return *HWY_DYNAMIC_DISPATCH(find_normalize_f64)(order);
}
}  // namespace loup::kernels
#endif
