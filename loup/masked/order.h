#pragma once

#include <cstdint>

#include "loup/masked/elementwise.h"
#include "loup/ops/logic.h"

// Elements of one dim in order: those that count as ops/sort.h orders them, then the others; and
// comparisons of whole tensors.

namespace loup::masked {

struct Sorted {
  MaskedTensor values;
  Tensor indices;  // int64: where they stood along the dim
};

LOUP_EXPORT Sorted sort(const MaskedTensor& x, std::int64_t dim = -1, bool descending = false);
LOUP_EXPORT Tensor argsort(const MaskedTensor& x, std::int64_t dim = -1, bool descending = false);
/// The first `k` of them: the largest, or the smallest. Where fewer count the rest is masked.
LOUP_EXPORT Sorted topk(const MaskedTensor& x, std::int64_t k, std::int64_t dim = -1,
                        bool largest = true);

/// The elements for which `condition` is true, as a vector: data and mask alike.
LOUP_EXPORT MaskedTensor masked_select(const MaskedTensor& x, const Tensor& condition);
/// `x` with `value` where `condition` is true; there it counts.
LOUP_EXPORT MaskedTensor masked_fill(const MaskedTensor& x, const Tensor& condition,
                                     const ops::Operand& value);
LOUP_EXPORT void masked_fill_(MaskedTensor& x, const Tensor& condition, const ops::Operand& value);

struct Unique {
  Tensor values;         // of what counts, in order, each once
  MaskedTensor inverse;  // int64: which of the values each element is
  Tensor counts;         // int64: how many elements that count have each of the values
};
LOUP_EXPORT Unique unique(const MaskedTensor& x);
/// Between which of the sorted boundaries each element lies.
LOUP_EXPORT MaskedTensor bucketize(const MaskedTensor& x, const Tensor& boundaries,
                                   bool right = false);

/// Which elements are as close as ops::isclose wants it, where both count.
LOUP_EXPORT MaskedTensor isclose(const MaskedOperand& x, const MaskedOperand& y,
                                 const ops::Closeness& closeness = {});
/// Whether all are that count in both.
LOUP_EXPORT bool allclose(const MaskedOperand& x, const MaskedOperand& y,
                          const ops::Closeness& closeness = {});
/// Whether shapes, masks and what counts are equal.
LOUP_EXPORT bool equal(const MaskedTensor& x, const MaskedTensor& y);

}  // namespace loup::masked
