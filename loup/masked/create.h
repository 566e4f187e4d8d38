#pragma once

#include <optional>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/copy.h"
#include "loup/tensor/create.h"

// Masked tensors like others: of their shape, with a copy of their mask. Arguments and errors are
// those of the same names for tensors.

namespace loup::masked {

/// `data`, which have the shape of `x`, with a copy of its mask.
inline MaskedTensor with_mask_of(const MaskedTensor& x, const Tensor& data) {
  return as_masked_tensor(data, ops::clone(x.get_mask()));
}

inline MaskedTensor empty_like(const MaskedTensor& x, std::optional<DType> dtype = {}) {
  return with_mask_of(x, loup::empty_like(x.get_data(), dtype));
}
inline MaskedTensor full_like(const MaskedTensor& x, Scalar value,
                              std::optional<DType> dtype = {}) {
  return with_mask_of(x, loup::full_like(x.get_data(), value, dtype));
}
inline MaskedTensor zeros_like(const MaskedTensor& x, std::optional<DType> dtype = {}) {
  return full_like(x, 0, dtype);
}
inline MaskedTensor ones_like(const MaskedTensor& x, std::optional<DType> dtype = {}) {
  return full_like(x, 1, dtype);
}

}  // namespace loup::masked
