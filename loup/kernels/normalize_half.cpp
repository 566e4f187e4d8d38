#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/normalize_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/normalize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const LineKernel* find_normalize_half(double order, DType type) {
  return type == DType::f16 ? find_normalize<Float16>(order) : find_normalize<BFloat16>(order);
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_normalize_half);
const LineKernel& normalize_half(double order, DType type) {
  return *HWY_DYNAMIC_DISPATCH(find_normalize_half)(order, type);
}
}  // namespace loup::kernels
#endif
