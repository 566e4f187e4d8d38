#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/argmin.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/arg_extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_argmin(DType dtype) { return find_arg_extreme<false>(dtype); }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_argmin);
const Reducer* argmin(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_argmin)(dtype); }
}  // namespace loup::kernels
#endif
