#pragma once

#include "loup/tensor/tensor.h"

// Matrix products of elements: no gradients, no broadcasting. What users call is in ops/matmul.h.

namespace loup::ops {

/// The products of matrices a[batch…, m, k] and b[batch…, k, n], of one dtype that is not bool and
/// with equal batch dims. Half types are added in float32 and rounded once. Uses threads, whose
/// number does not show in the result.
LOUP_EXPORT Tensor product(const Tensor& a, const Tensor& b);

}  // namespace loup::ops
