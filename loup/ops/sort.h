#pragma once

#include <cstdint>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Elements of one dim in order. Equal elements keep theirs; NaN counts as the greatest.

namespace loup::ops {

/// Elements, and the indices (int64) where they stood along the dim.
struct Sorted {
  Tensor values;
  Tensor indices;
};

LOUP_EXPORT Sorted sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
/// The indices alone.
LOUP_EXPORT Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
/// The first `k` elements of the sorted dim: the largest, or the smallest.
LOUP_EXPORT Sorted topk(const Tensor& x, std::int64_t k, std::int64_t dim = -1,
                        bool largest = true);

inline constexpr Function sort_functions[] = {
    {"sort",
     "(input: object, dim: int = -1, descending: bool = False, stable: bool = True, *, axis: int | "
     "None = None) -> tuple[Tensor, Tensor]",
     "The elements of one dim in order, and where they stood; equal ones keep their order, NaN is "
     "the greatest.",
     true, false, Masks::taken},
    {"argsort",
     "(input: object, dim: int = -1, descending: bool = False, stable: bool = True, *, axis: int | "
     "None = None) -> Tensor",
     "The indices that sort one dim; equal elements keep their order, NaN is the greatest.", false,
     false, Masks::read},
    {"topk",
     "(input: object, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> "
     "tuple[Tensor, Tensor]",
     "The largest or smallest elements of one dim in order, and where they stood.", true, false,
     Masks::taken},
};

}  // namespace loup::ops
