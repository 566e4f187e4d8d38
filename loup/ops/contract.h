#pragma once

#include <optional>

#include "loup/ops/product.h"
#include "loup/tensor/tensor.h"

// Matrix products in which elements may be masked away: the core of matmul and of its gradients.

namespace loup::ops {

/// The products of matrices a[batch…, m, k] and b[batch…, k, n], whose batch dims broadcast; only
/// products of two elements that count are added. Masks are bool and of their operand's shape;
/// absent: all elements count. What is masked is never looked at, and what a mask leaves out of the
/// contraction as a whole (an index k that no row of a or no column of b counts) changes no bit:
/// the result is that of the smaller matrices. Operands have one dtype that is not bool.
/// Recorded, with gradients of every order.
LOUP_EXPORT Tensor contract(const char* operation, const Tensor& a,
                            const std::optional<Tensor>& a_mask, const Tensor& b,
                            const std::optional<Tensor>& b_mask);

}  // namespace loup::ops
