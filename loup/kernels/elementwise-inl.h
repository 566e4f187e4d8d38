// The loop over contiguous elements that the elementwise kernels share. Included once per
// instruction set, from kernel files only.

#if defined(LOUP_KERNELS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_ELEMENTWISE_INL_H_
#undef LOUP_KERNELS_ELEMENTWISE_INL_H_
#else
#define LOUP_KERNELS_ELEMENTWISE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "loup/base/dtype.h"
#include "loup/kernels/elementwise.h"
#include "loup/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

/// Writes the lanes of a mask as bytes 0 and 1.
template <class D>
HWY_INLINE void store_bool(D d, hn::Mask<D> mask, std::uint8_t* out) {
  const hn::Rebind<std::int32_t, D> d32;
  const hn::Rebind<std::int8_t, D> d8;
  const hn::Rebind<std::uint8_t, D> du8;
  const hn::RebindToSigned<D> di;
  const auto ones = hn::VecFromMask(di, hn::RebindMask(di, mask));
  hn::Vec<decltype(d8)> bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    bytes = hn::DemoteTo(d8, hn::DemoteTo(d32, ones));
  } else {
    bytes = hn::DemoteTo(d8, ones);
  }
  hn::StoreU(hn::And(hn::BitCast(du8, bytes), hn::Set(du8, 1)), du8, out);
}

/// Writes what an operator gave: a vector of elements, or a mask as bool.
template <class D, class Out>
HWY_INLINE void store(D d, Out* out, const hn::Vec<D>& result) {
  static_assert(std::is_same_v<Out, hn::TFromD<D>>);
  hn::StoreU(result, d, out);
}
template <class D>
HWY_INLINE void store(D d, std::uint8_t* out, const hn::Mask<D>& result) {
  store_bool(d, result, out);
}

/// `out[i] = op(x[i], y[i])` for vectors of T. Op has `Out apply(D, V, V)`, where the result is a
/// vector of T or a mask; Out is then T or std::uint8_t.
template <class T, class Out, class Op>
void run_binary(const void* const* inputs, void* output, std::int64_t count,
                const double* /*parameters*/) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t step = lanes<decltype(d)>;
  const T* const x = static_cast<const T*>(inputs[0]);
  const T* const y = static_cast<const T*>(inputs[1]);
  Out* const out = static_cast<Out*>(output);
  std::int64_t i = 0;
  for (; i + 4 * step <= count; i += 4 * step) {
    // All loads come first, because `out` may be an input: the compiler cannot move them.
    const auto x0 = hn::LoadU(d, x + i);
    const auto x1 = hn::LoadU(d, x + i + step);
    const auto x2 = hn::LoadU(d, x + i + 2 * step);
    const auto x3 = hn::LoadU(d, x + i + 3 * step);
    const auto y0 = hn::LoadU(d, y + i);
    const auto y1 = hn::LoadU(d, y + i + step);
    const auto y2 = hn::LoadU(d, y + i + 2 * step);
    const auto y3 = hn::LoadU(d, y + i + 3 * step);
    store(d, out + i, Op::apply(d, x0, y0));
    store(d, out + i + step, Op::apply(d, x1, y1));
    store(d, out + i + 2 * step, Op::apply(d, x2, y2));
    store(d, out + i + 3 * step, Op::apply(d, x3, y3));
  }
  for (; i + step <= count; i += step) {
    store(d, out + i, Op::apply(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)));
  }
  if (i == count) return;
  const auto rest = static_cast<std::size_t>(count - i);
  alignas(64) T last_x[step] = {};
  alignas(64) T last_y[step] = {};
  alignas(64) Out last[step];
  std::memcpy(last_x, x + i, rest * sizeof(T));
  std::memcpy(last_y, y + i, rest * sizeof(T));
  store(d, last, Op::apply(d, hn::LoadU(d, last_x), hn::LoadU(d, last_y)));
  std::memcpy(out + i, last, rest * sizeof(Out));
}

/// The same element by element, for what has no vector form.
template <class T, class Op>
void run_scalar_binary(const void* const* inputs, void* output, std::int64_t count,
                       const double* /*parameters*/) {
  const T* const x = static_cast<const T*>(inputs[0]);
  const T* const y = static_cast<const T*>(inputs[1]);
  T* const out = static_cast<T*>(output);
  for (std::int64_t i = 0; i < count; ++i) out[i] = Op::apply(x[i], y[i]);
}

template <class T, class Op>
inline constexpr ElementwiseKernel binary_kernel{
    run_binary<T, T, Op>, {dtype_of<T>(), dtype_of<T>()}, dtype_of<T>()};
template <class T, class Op>
inline constexpr ElementwiseKernel compare_kernel{
    run_binary<T, std::uint8_t, Op>, {dtype_of<T>(), dtype_of<T>()}, DType::boolean};
template <class T, class Op, std::int64_t cost>
inline constexpr ElementwiseKernel scalar_binary_kernel{
    run_scalar_binary<T, Op>, {dtype_of<T>(), dtype_of<T>()}, dtype_of<T>(), cost};

/// The kernel of a family of operators for one compute type: `Family<T>::find(op)`.
template <template <class> class Family, class Op>
const ElementwiseKernel* find_by_type(Op op, ComputeType type) {
  switch (type) {
    case ComputeType::i32: return Family<std::int32_t>::find(op);
    case ComputeType::i64: return Family<std::int64_t>::find(op);
    case ComputeType::f32: return Family<float>::find(op);
    case ComputeType::f64: return Family<double>::find(op);
  }
  return nullptr;
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
