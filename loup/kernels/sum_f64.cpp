#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/sum_f64.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/reducers.h"
#include "loup/kernels/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_sum_f64() { return &reducer_of<SumF64>; }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_sum_f64);
const Reducer* sum_f64() { return HWY_DYNAMIC_DISPATCH(find_sum_f64)(); }
}  // namespace loup::kernels
#endif
