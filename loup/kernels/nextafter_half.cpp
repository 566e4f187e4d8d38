#include <cstdint>

#include "loup/base/half.h"
#include "loup/kernels/elementwise.h"

// Half types are computed in float32, whose next number is nearer: they step by their own bits.

namespace loup::kernels {

namespace {

template <class T>
T next(T from, T towards) {
  const auto x = static_cast<float>(from);
  const auto y = static_cast<float>(towards);
  if (x != x) return from;
  if (y != y || x == y) return towards;
  constexpr unsigned sign = 0x8000;
  const unsigned bits = from.bits;
  const unsigned moved = (x < y) == (x > 0) ? bits + 1 : bits - 1;
  from.bits = static_cast<std::uint16_t>(x == 0 ? (y < 0 ? sign | 1U : 1U) : moved);
  return from;
}

template <class T>
void run(const void* const* inputs, void* out, std::int64_t count, const double* /*parameters*/) {
  const T* const x = static_cast<const T*>(inputs[0]);
  const T* const y = static_cast<const T*>(inputs[1]);
  T* const z = static_cast<T*>(out);
  for (std::int64_t i = 0; i < count; ++i) z[i] = next(x[i], y[i]);
}

template <class T>
constexpr ElementwiseKernel kernel{run<T>, {dtype_of<T>(), dtype_of<T>()}, dtype_of<T>(), 4};

}  // namespace

const ElementwiseKernel* find_half(BinaryOp op, DType dtype) {
  if (op != BinaryOp::nextafter) return nullptr;
  if (dtype == DType::f16) return &kernel<Float16>;
  return dtype == DType::bf16 ? &kernel<BFloat16> : nullptr;
}

}  // namespace loup::kernels
