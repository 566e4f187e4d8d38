#include "loup/kernels/half.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/half.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

template <class Half>
HWY_INLINE void widen_run(const Half* from, float* to, std::int64_t count) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t N = lanes<decltype(d)>;
  std::int64_t i = 0;
  if constexpr (widens_float16 || !std::is_same_v<Half, Float16>) {
    for (; i + N <= count; i += N) hn::StoreU(load(d, from + i), d, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void widen_f16(const Float16* from, float* to, std::int64_t count) { widen_run(from, to, count); }
void widen_bf16(const BFloat16* from, float* to, std::int64_t count) { widen_run(from, to, count); }

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(widen_f16);
HWY_EXPORT(widen_bf16);
void widen(const Float16* from, float* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(widen_f16)(from, to, count);
}
void widen(const BFloat16* from, float* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(widen_bf16)(from, to, count);
}
}  // namespace loup::kernels
#endif
