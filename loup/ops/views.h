#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "loup/tensor/tensor.h"

// Views that share their elements with x, and carry gradients back to it. Arguments and errors are
// those of the same names in tensor/views.h.

namespace loup::ops {

/// A view that shows every element at most once, as a function of layouts. It can be undone.
using LayoutMap = std::function<Layout(const Layout&)>;
/// `x` seen through `map`, recorded under the name of `operation`.
LOUP_EXPORT Tensor apply_view(const char* operation, const Tensor& x, const LayoutMap& map);

LOUP_EXPORT Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
LOUP_EXPORT Tensor permute(const Tensor& x, const Dims& order);
LOUP_EXPORT Tensor squeeze(const Tensor& x, const Dims& dims = {});
LOUP_EXPORT Tensor unsqueeze(const Tensor& x, std::int64_t dim);
LOUP_EXPORT Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start,
                          std::int64_t length);
LOUP_EXPORT Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index);
LOUP_EXPORT Tensor slice(const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start,
                         std::optional<std::int64_t> stop, std::int64_t step = 1);
LOUP_EXPORT Tensor expand(const Tensor& x, const Shape& shape);
LOUP_EXPORT Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// Another shape over the same elements; ShapeError when that needs a copy.
LOUP_EXPORT Tensor view(const Tensor& x, const Shape& shape);
/// Another shape; a view where possible, otherwise a copy. One size may be -1.
LOUP_EXPORT Tensor reshape(const Tensor& x, const Shape& shape);
/// Dims `first` to `last` as one.
LOUP_EXPORT Tensor flatten(const Tensor& x, std::int64_t first = 0, std::int64_t last = -1);

}  // namespace loup::ops
