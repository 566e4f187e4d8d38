#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/log_sum_exp.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/log_sum_exp-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_log_sum_exp(DType dtype) {
  if (dtype == DType::f32) return &reducer_of<LogSumExp<float>>;
  return dtype == DType::f64 ? &reducer_of<LogSumExp<double>> : nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_log_sum_exp);
const Reducer* log_sum_exp(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_log_sum_exp)(dtype); }
}  // namespace loup::kernels
#endif
