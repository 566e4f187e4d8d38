#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

// Matrix products of elements: no gradients, no broadcasting. What users call is in ops/matmul.h.

namespace loup::ops {

/// The products of matrices a[batch…, m, k] and b[batch…, k, n], of one dtype that is not bool and
/// with equal batch dims. Half types are added in float32 and rounded once. Uses threads, whose
/// number does not show in the result.
LOUP_EXPORT Tensor product(const Tensor& a, const Tensor& b);

/// The product of matrices a[m, k] and b[k, n] in which only products of two elements that count
/// are made, for masks of bool of their shapes; absent: all count. Slower than product().
LOUP_EXPORT Tensor product_counted(const Tensor& a, const std::optional<Tensor>& a_mask,
                                   const Tensor& b, const std::optional<Tensor>& b_mask);

/// Whether the rows of a matrix (the last two dims) lie further apart than its columns.
bool is_row_major(const Tensor& x);

}  // namespace loup::ops
