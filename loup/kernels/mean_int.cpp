#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/mean_int.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/mean-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_mean_int(DType dtype) {
  if (dtype == DType::i32) return &reducer_of<Mean<SumInt<std::int32_t>>>;
  return dtype == DType::i64 ? &reducer_of<Mean<SumInt<std::int64_t>>> : nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_mean_int);
const Reducer* mean_int(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_mean_int)(dtype); }
}  // namespace loup::kernels
#endif
