#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sum_int.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/sum-inl.h"
#include "loup/kernels/sum.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_sum_i32() { return &reducer_of<SumInt<std::int32_t>>; }
const Reducer* find_sum_i64() { return &reducer_of<SumInt<std::int64_t>>; }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_sum_i32);
HWY_EXPORT(find_sum_i64);
const Reducer& sum_i32() { return *HWY_DYNAMIC_DISPATCH(find_sum_i32)(); }
const Reducer& sum_i64() { return *HWY_DYNAMIC_DISPATCH(find_sum_i64)(); }
}  // namespace loup::kernels
#endif
