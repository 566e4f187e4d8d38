#pragma once

#include <cstdint>
#include <optional>

#include "loup/tensor/layout.h"

// Views as arithmetic on layouts: no element moves. `ops/views.h` has the same names for tensors,
// with gradients.

namespace loup {

/// Swaps two dims.
LOUP_EXPORT Layout transpose(const Layout& x, std::int64_t a, std::int64_t b);
/// Reorders the dims: dim i of the result is dim `order[i]` of x.
LOUP_EXPORT Layout permute(const Layout& x, const Dims& order);
/// Drops the given dims of size 1 (all of them when `dims` is empty); others are left alone.
LOUP_EXPORT Layout squeeze(const Layout& x, const Dims& dims = {});
/// Inserts a dim of size 1 before position `dim`.
LOUP_EXPORT Layout unsqueeze(const Layout& x, std::int64_t dim);
/// Repeats dims of size 1 by strides of 0; -1 keeps a size.
LOUP_EXPORT Layout expand(const Layout& x, const Shape& shape);
/// The elements [start, start + length) of one dim.
LOUP_EXPORT Layout narrow(const Layout& x, std::int64_t dim, std::int64_t start,
                          std::int64_t length);
/// Element `index` of one dim, which disappears.
LOUP_EXPORT Layout select(const Layout& x, std::int64_t dim, std::int64_t index);
/// Every `step`-th element of [start, stop) of one dim, as Python slices: ends are clipped, and
/// negative ones count from the back. The step is positive.
LOUP_EXPORT Layout slice(const Layout& x, std::int64_t dim, std::optional<std::int64_t> start,
                         std::optional<std::int64_t> stop, std::int64_t step = 1);

/// Moves dims `from` to the places `to`; the others keep their order.
LOUP_EXPORT Layout movedim(const Layout& x, const Dims& from, const Dims& to);
/// The diagonal of dims `a` and `b`, `offset` above the main one, as a new last dim.
LOUP_EXPORT Layout diagonal(const Layout& x, std::int64_t offset, std::int64_t a, std::int64_t b);
/// Dim `dim` counts windows of `size` elements of it, each `step` elements after the one before;
/// what is in a window is a new last dim. Windows may overlap. A 0-d tensor is a window of 1.
LOUP_EXPORT Layout unfold(const Layout& x, std::int64_t dim, std::int64_t size, std::int64_t step);
/// The elements of the given dims in reverse order (of all dims when `dims` is empty).
LOUP_EXPORT Layout flip(const Layout& x, const Dims& dims);

/// `shape` with its -1 worked out; ShapeError unless it has as many elements as `x`.
LOUP_EXPORT Shape resolve_shape(const char* operation, const Shape& x, const Shape& shape);
/// The elements in row-major order under another shape; nothing when that needs a copy.
LOUP_EXPORT std::optional<Layout> view(const Layout& x, const Shape& shape);
/// The shape in which dims `first` to `last` are one.
LOUP_EXPORT Shape flat_shape(const Shape& x, std::int64_t first, std::int64_t last);
/// The shape in which `dim` is cut into `sizes`, one of which may be -1.
LOUP_EXPORT Shape unflat_shape(const Shape& x, std::int64_t dim, const Shape& sizes);

}  // namespace loup
