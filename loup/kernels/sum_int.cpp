#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sum_int.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/reducers.h"
#include "loup/kernels/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_sum_int(DType dtype) {
  if (dtype == DType::i32) return &reducer_of<SumInt<std::int32_t>>;
  return dtype == DType::i64 ? &reducer_of<SumInt<std::int64_t>> : nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_sum_int);
const Reducer* sum_int(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_sum_int)(dtype); }
}  // namespace loup::kernels
#endif
