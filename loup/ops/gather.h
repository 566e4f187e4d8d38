#pragma once

#include <cstdint>
#include <optional>

#include "loup/base/scalar.h"
#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Elements of one dim chosen by tensors of integers, of which negative ones count from the back.
// IndexError when one is out of range, DTypeError when they are not integers. Results are the same
// for any number of threads.

namespace loup::ops {

/// The slices of one dim that the 1-d `index` names.
LOUP_EXPORT Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
/// Element (i, j, …) of the result is that of x with its `dim`-th index replaced by
/// index(i, j, …). The index is nowhere longer than x, but for that dim.
LOUP_EXPORT Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
/// The same, but index and x are first broadcast together, but for that dim; without a dim x is
/// flat. Undoes argsort: `take_along_dim(x, argsort(x, -1), -1)`.
LOUP_EXPORT Tensor take_along_dim(const Tensor& x, const Tensor& indices,
                                  std::optional<std::int64_t> dim = {});

/// `x` with elements of `source`, a tensor or a number, where gather would find them. Of several
/// for one place the last in row-major order stays. The source is nowhere shorter than the index.
LOUP_EXPORT Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index,
                           const Tensor& source);
LOUP_EXPORT Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, Scalar value);
/// `x` with elements of `source` added where gather would find them, in row-major order.
LOUP_EXPORT Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index,
                               const Tensor& source);

/// `x` with slices of `source` times `alpha` added to those that the 1-d `index` names.
LOUP_EXPORT Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index,
                             const Tensor& source, Scalar alpha = 1);
/// `x` with slices of `source` in place of those that the 1-d `index` names.
LOUP_EXPORT Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index,
                              const Tensor& source);
/// `x` with `value` in the slices that the 1-d `index` names.
LOUP_EXPORT Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, Scalar value);

LOUP_EXPORT void scatter_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
LOUP_EXPORT void scatter_(Tensor& x, std::int64_t dim, const Tensor& index, Scalar value);
LOUP_EXPORT void scatter_add_(Tensor& x, std::int64_t dim, const Tensor& index,
                              const Tensor& source);
LOUP_EXPORT void index_add_(Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                            Scalar alpha = 1);
LOUP_EXPORT void index_copy_(Tensor& x, std::int64_t dim, const Tensor& index,
                             const Tensor& source);
LOUP_EXPORT void index_fill_(Tensor& x, std::int64_t dim, const Tensor& index, Scalar value);

inline constexpr Function gather_functions[] = {
    {"index_select", "(input: object, dim: int, index: object) -> Tensor",
     "The slices of one dim that a vector of indices names.", true, false, Masks::alike},
    {"gather", "(input: object, dim: int, index: object) -> Tensor",
     "Elements whose place along one dim is given for each.", true, false, Masks::alike},
    {"take_along_dim",
     "(input: object, indices: object, dim: int | None = None, *, axis: int | None = None) -> "
     "Tensor",
     "The same as gather, with broadcasting.", true, false, Masks::alike},
    {"scatter", "(input: object, dim: int, index: object, src: object) -> Tensor",
     "Write elements to places along one dim that are given for each.", true, true, Masks::taken},
    {"scatter_add", "(input: object, dim: int, index: object, src: object) -> Tensor",
     "Add elements to places along one dim that are given for each.", true, true, Masks::taken},
    {"index_add",
     "(input: object, dim: int, index: object, source: object, *, alpha: float = 1) -> Tensor",
     "Add slices to those that a vector of indices names.", true, true, Masks::taken},
    {"index_copy", "(input: object, dim: int, index: object, source: object) -> Tensor",
     "Write slices in place of those that a vector of indices names.", true, true, Masks::taken},
    {"index_fill", "(input: object, dim: int, index: object, value: float) -> Tensor",
     "Write one value into the slices that a vector of indices names.", true, true, Masks::taken},
};

}  // namespace loup::ops
