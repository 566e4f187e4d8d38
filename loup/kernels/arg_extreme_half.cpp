#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/arg_extreme_half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/arg_extreme-inl.h"
#include "loup/kernels/reducers.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
template <class T>
const Reducer* arg_extreme_of(bool is_largest) {
  return is_largest ? &reducer_of<ArgExtreme<T, true>> : &reducer_of<ArgExtreme<T, false>>;
}
const Reducer* find_arg_extreme_half(bool is_largest, DType dtype) {
  if (dtype == DType::bf16) return arg_extreme_of<BFloat16>(is_largest);
  if (dtype == DType::f16) return arg_extreme_of<Float16>(is_largest);
  return nullptr;
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_arg_extreme_half);
const Reducer* arg_extreme_half(bool is_largest, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_arg_extreme_half)(is_largest, dtype);
}
}  // namespace loup::kernels
#endif
