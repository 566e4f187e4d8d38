#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/base/array.h"
#include "loup/base/dims.h"
#include "loup/base/dtype.h"
#include "loup/export.h"

namespace loup::kernels {

/// A matrix of elements with any strides (in elements).
struct Plane {
  std::byte* data;
  DType dtype;
  std::int64_t row, col;
};
struct ConstPlane {
  const std::byte* data;
  DType dtype;
  std::int64_t row, col;
};

/// Copies rows × cols elements, converting as `convert()` does. The planes do not overlap.
LOUP_EXPORT void copy_plane(const Plane& to, const ConstPlane& from, std::int64_t rows,
                            std::int64_t cols);

/// Copies the elements of `from` to `to`, converting. Uses threads. The arrays do not overlap.
LOUP_EXPORT void copy(const Shape& shape, const Array& to, const Array& from);

/// Writes `yes` where `mask` (of bool) is true and `no` elsewhere; all but the mask have one dtype.
LOUP_EXPORT void select(const Shape& shape, const Array& to, const Array& mask, const Array& yes,
                        const Array& no);

/// to = a + b, or a | b for bool; all three have one dtype. `to` may be `a`.
LOUP_EXPORT void add(const Shape& shape, const Array& to, const Array& a, const Array& b);

/// to = a & b of bool arrays; `to` may be `a`.
LOUP_EXPORT void logical_and(const Shape& shape, const Array& to, const Array& a, const Array& b);

}  // namespace loup::kernels
