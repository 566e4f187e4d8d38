#pragma once

#include <cstdint>
#include <optional>

#include "loup/masked/elementwise.h"

// Masks made from what data hold. Results share the elements of x and keep its gradient record; a
// MaskedTensor keeps its own mask, too: what it hides stays hidden.

namespace loup::masked {

/// NaN does not count.
LOUP_EXPORT MaskedTensor from_nan(const MaskedOperand& x);
/// Neither NaN nor infinities count.
LOUP_EXPORT MaskedTensor masked_invalid(const MaskedOperand& x);
/// What `condition` (broadcast to x) is true for does not count. DTypeError unless it is of bool.
LOUP_EXPORT MaskedTensor masked_where(const Tensor& condition, const MaskedOperand& x);
LOUP_EXPORT MaskedTensor masked_equal(const MaskedOperand& x, Scalar value);
/// What lies between the two bounds, in either order and both included, does not count; outside:
/// what lies below or above. NaN does neither.
LOUP_EXPORT MaskedTensor masked_inside(const MaskedOperand& x, Scalar v1, Scalar v2);
LOUP_EXPORT MaskedTensor masked_outside(const MaskedOperand& x, Scalar v1, Scalar v2);

/// A mask with one more dim, of size `most`, that is true at the first lengths[…] places of it.
/// Without `most` it is as long as the largest length. DTypeError unless lengths are integers,
/// ValueError when one is negative or above `most`.
LOUP_EXPORT Tensor lengths_to_mask(const Tensor& lengths, std::optional<std::int64_t> most = {});

}  // namespace loup::masked
