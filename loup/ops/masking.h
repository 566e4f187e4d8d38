#pragma once

#include <vector>

#include "loup/ops/elementwise.h"
#include "loup/ops/function.h"

// Elements chosen by masks of bool, in row-major order.

namespace loup::ops {

/// The elements where `mask` is true, as a vector; both are broadcast to their common shape. The
/// others get structural zeros as gradient.
LOUP_EXPORT Tensor masked_select(const Tensor& x, const Tensor& mask);
/// `x` with `value`, a number or a 0-d tensor, where `mask` is true; both are broadcast to their
/// common shape. What was replaced gets structural zeros as gradient.
LOUP_EXPORT Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value);
LOUP_EXPORT void masked_fill_(Tensor& x, const Tensor& mask, const Operand& value);

/// The indices of the elements that are not 0: int64, one row for each, one column for each dim.
LOUP_EXPORT Tensor nonzero(const Tensor& x);
/// The same as a vector for each dim: an index that finds them. A 0-d tensor counts as a vector.
LOUP_EXPORT std::vector<Tensor> nonzero_tuple(const Tensor& x);

inline constexpr Function masking_functions[] = {
    {"masked_select", "(input: object, mask: object) -> Tensor",
     "The elements where a mask is true, as a vector.", true, false, Masks::taken},
    {"masked_fill", "(input: object, mask: object, value: object) -> Tensor",
     "Write one value where a mask is true.", true, true, Masks::taken},
    {"nonzero", "(input: object, *, as_tuple: bool = False) -> typing.Any",
     "The indices of the elements that are not 0, as rows or as a vector for each dim.", false,
     false, Masks::read},
};

}  // namespace loup::ops
