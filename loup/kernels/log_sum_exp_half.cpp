#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/log_sum_exp_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/log_sum_exp-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_log_sum_exp_half(DType dtype) {
  if (dtype == DType::bf16) return &reducer_of<LogSumExp<BFloat16>>;
  if (dtype == DType::f16) return &reducer_of<LogSumExp<Float16>>;
  return nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_log_sum_exp_half);
const Reducer* log_sum_exp_half(DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_log_sum_exp_half)(dtype);
}
}  // namespace loup::kernels
#endif
