#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loup/kernels/ternary.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <cstdlib>

#include "loup/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

namespace {

/// Elements are only moved, so T stands for all types of its size.
template <class T>
void run_where(const void* const* inputs, void* output, std::int64_t count,
               const double* /*parameters*/) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t step = lanes<decltype(d)>;
  const auto* const chooses = static_cast<const std::uint8_t*>(inputs[0]);
  const T* const x = static_cast<const T*>(inputs[1]);
  const T* const y = static_cast<const T*>(inputs[2]);
  T* const out = static_cast<T*>(output);
  const auto mask_at = [&](std::int64_t i) {
    if constexpr (sizeof(T) == 1) {
      return hn::Ne(hn::LoadU(d, chooses + i), hn::Zero(d));
    } else if constexpr (sizeof(T) == 2) {
      const hn::Rebind<std::uint8_t, decltype(d)> d8;
      return hn::Ne(hn::PromoteTo(d, hn::LoadU(d8, chooses + i)), hn::Zero(d));
    } else {
      return ByteMask{chooses + i}.lanes_of(d);
    }
  };
  const auto choose = [&](std::int64_t i) {
    return hn::IfThenElse(mask_at(i), hn::LoadU(d, x + i), hn::LoadU(d, y + i));
  };
  std::int64_t i = 0;
  for (; i + 4 * step <= count; i += 4 * step) {
    const auto r0 = choose(i);
    const auto r1 = choose(i + step);
    const auto r2 = choose(i + 2 * step);
    const auto r3 = choose(i + 3 * step);
    hn::StoreU(r0, d, out + i);
    hn::StoreU(r1, d, out + i + step);
    hn::StoreU(r2, d, out + i + 2 * step);
    hn::StoreU(r3, d, out + i + 3 * step);
  }
  for (; i < count; ++i) out[i] = chooses[i] != 0 ? x[i] : y[i];
}

struct Clamp {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x, V low, V high) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      // Each comparison is false for a NaN in x; a NaN bound makes everything NaN.
      V result = hn::IfThenElse(hn::Lt(x, low), low, x);
      result = hn::IfThenElse(hn::Gt(result, high), high, result);
      result = hn::IfThenElse(hn::IsNaN(low), low, result);
      return hn::IfThenElse(hn::IsNaN(high), high, result);
    } else {
      return hn::Min(hn::Max(x, low), high);
    }
  }
};
/// From the nearer end, so that a weight of 1 gives exactly b.
struct Lerp {
  static constexpr std::int64_t cost = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V weight) const {
    const auto is_near = hn::Lt(hn::Abs(weight), hn::Set(d, hn::TFromD<D>(0.5)));
    const V difference = hn::Sub(b, a);
    const V from_a = hn::Add(a, hn::Mul(weight, difference));
    const V rest = hn::Sub(hn::Set(d, hn::TFromD<D>(1)), weight);
    return hn::IfThenElse(is_near, from_a, hn::Sub(b, hn::Mul(difference, rest)));
  }
};

template <class T>
struct Ternary {
  static const ElementwiseKernel* find(TernaryOp op) {
    if (op == TernaryOp::clamp) return &ternary_kernel<Lanes<T>, Clamp>;
    if constexpr (std::is_floating_point_v<T>) {
      if (op == TernaryOp::lerp) return &ternary_kernel<Lanes<T>, Lerp>;
    }
    return nullptr;
  }
};

template <class T>
constexpr ElementwiseKernel where_of(DType dtype) {
  return {run_where<T>, {DType::boolean, dtype, dtype}, dtype};
}
constexpr ElementwiseKernel where_kernels[dtype_count] = {
    where_of<std::uint8_t>(DType::boolean), where_of<std::uint8_t>(DType::u8),
    where_of<std::uint8_t>(DType::i8),      where_of<std::uint16_t>(DType::i16),
    where_of<std::uint32_t>(DType::i32),    where_of<std::uint64_t>(DType::i64),
    where_of<std::uint16_t>(DType::f16),    where_of<std::uint16_t>(DType::bf16),
    where_of<std::uint32_t>(DType::f32),    where_of<std::uint64_t>(DType::f64)};

}  // namespace

const ElementwiseKernel* find_ternary_kernel(TernaryOp op, ComputeType type) {
  return find_by_type<Ternary>(op, type);
}
const ElementwiseKernel* find_where(DType dtype) {
  return &where_kernels[static_cast<std::size_t>(dtype)];
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace loup::kernels {
HWY_EXPORT(find_ternary_kernel);
HWY_EXPORT(find_where);
const ElementwiseKernel* find_ternary(TernaryOp op, ComputeType type) {
  return HWY_DYNAMIC_DISPATCH(find_ternary_kernel)(op, type);
}
const ElementwiseKernel& where_kernel(DType dtype) {
  return *HWY_DYNAMIC_DISPATCH(find_where)(dtype);
}
}  // namespace loup::kernels
#endif
