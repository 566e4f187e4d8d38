#pragma once

#include <optional>

#include "loup/masked/masked_tensor.h"

namespace loup::masked {

/// What a MaskedTensor and an explicit mask let through together. Errors name `operation`.
LOUP_EXPORT Tensor combined_mask(const char* operation, const MaskedTensor& x,
                                 const std::optional<Tensor>& mask);
/// A mask as bool in the shape of `x`; absent: true everywhere.
LOUP_EXPORT Tensor whole_mask(const char* operation, const Tensor& x,
                              const std::optional<Tensor>& mask);

/// Whether both are the same elements, seen in the same way.
LOUP_EXPORT bool is_same_mask(const Tensor& a, const Tensor& b);

/// `x` with a mask that is true everywhere.
LOUP_EXPORT MaskedTensor all_valid(const Tensor& x);

}  // namespace loup::masked
