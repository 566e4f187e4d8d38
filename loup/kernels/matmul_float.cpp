#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/matmul_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const MatmulKernel* find_matmul_f32() { return &matmul_kernel_of<float>; }
const MatmulKernel* find_matmul_f64() { return &matmul_kernel_of<double>; }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_matmul_f32);
HWY_EXPORT(find_matmul_f64);
const MatmulKernel& matmul_f32() { return *HWY_DYNAMIC_DISPATCH(find_matmul_f32)(); }
const MatmulKernel& matmul_f64() { return *HWY_DYNAMIC_DISPATCH(find_matmul_f64)(); }
}  // namespace loup::kernels
#endif
