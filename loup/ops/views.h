#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Views that share their elements with x, and carry gradients back to it. Arguments and errors are
// those of the same names in tensor/views.h.

namespace loup::ops {

/// A view that shows every element at most once, as a function of layouts. It can be undone.
using LayoutMap = std::function<Layout(const Layout&)>;
/// `x` seen through `map`, recorded under the name of `operation`.
LOUP_EXPORT Tensor apply_view(const char* operation, const Tensor& x, const LayoutMap& map);

LOUP_EXPORT Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
/// The two dims of a matrix swapped; a vector or a 0-d tensor as it is. ShapeError for more dims.
LOUP_EXPORT Tensor t(const Tensor& x);
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
/// All dims as one.
LOUP_EXPORT Tensor ravel(const Tensor& x);

inline constexpr Function view_functions[] = {
    {"transpose", "(input: object, dim0: int, dim1: int) -> Tensor",
     "A view with two dims swapped.", true, false, Masks::alike},
    {"t", "(input: object) -> Tensor", "A view of a matrix with its dims swapped.", true, false,
     Masks::alike},
    {"permute", "(input: object, *dims: int | collections.abc.Sequence[int]) -> Tensor",
     "A view with the dims in another order.", true, false, Masks::alike},
    {"squeeze", "(input: object, dim: int | collections.abc.Sequence[int] | None = None) -> Tensor",
     "A view without dims of size 1.", true, false, Masks::alike},
    {"unsqueeze", "(input: object, dim: int) -> Tensor", "A view with one more dim, of size 1.",
     true, false, Masks::alike},
    {"narrow", "(input: object, dim: int, start: int, length: int) -> Tensor",
     "A view of a range of one dim.", true, false, Masks::alike},
    {"select", "(input: object, dim: int, index: int) -> Tensor",
     "A view of one element of one dim, which disappears.", true, false, Masks::alike},
    {"expand", "(input: object, *shape: int | collections.abc.Sequence[int]) -> Tensor",
     "A view that repeats dims of size 1; -1 keeps a size.", true, false, Masks::alike},
    {"broadcast_to", "(input: object, shape: int | collections.abc.Sequence[int]) -> Tensor",
     "A view repeated to a shape.", true, false, Masks::alike},
    {"view", "(input: object, *shape: int | collections.abc.Sequence[int]) -> Tensor",
     "Another shape over the same elements, never a copy.", true, false, Masks::alike},
    {"reshape", "(input: object, *shape: int | collections.abc.Sequence[int]) -> Tensor",
     "Another shape over the same elements, a view where possible.", true, false, Masks::alike},
    {"flatten", "(input: object, start_dim: int = 0, end_dim: int = -1) -> Tensor",
     "Make dims one, as a view where possible.", true, false, Masks::alike},
    {"ravel", "(input: object) -> Tensor", "Make all dims one, as a view where possible.", true,
     false, Masks::alike},
};

}  // namespace loup::ops
