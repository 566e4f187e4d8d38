#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/var.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/reducers.h"
#include "loup/kernels/var-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const Reducer* find_var(DType dtype) {
  switch (dtype) {
    case DType::f32: return &reducer_of<Variance<float>>;
    case DType::f64: return &reducer_of<Variance<double>>;
    case DType::i32: return &reducer_of<Variance<std::int32_t>>;
    default: return nullptr;
  }
}
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_var);
const Reducer* var(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_var)(dtype); }
}  // namespace loup::kernels
#endif
