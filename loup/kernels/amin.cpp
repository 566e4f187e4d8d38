#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/amin.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_amin(DType dtype) { return find_extreme<false>(dtype); }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_amin);
const Reducer* amin(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_amin)(dtype); }
}  // namespace loup::kernels
#endif
