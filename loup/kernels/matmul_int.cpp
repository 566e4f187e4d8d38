#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/matmul_int.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {
const MatmulKernel* find_matmul_i32() { return &matmul_kernel_of<std::uint32_t>; }
const MatmulKernel* find_matmul_i64() { return &matmul_kernel_of<std::uint64_t>; }
}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_matmul_i32);
HWY_EXPORT(find_matmul_i64);
const MatmulKernel& matmul_i32() { return *HWY_DYNAMIC_DISPATCH(find_matmul_i32)(); }
const MatmulKernel& matmul_i64() { return *HWY_DYNAMIC_DISPATCH(find_matmul_i64)(); }
}  // namespace loup::kernels
#endif
