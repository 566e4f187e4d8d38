#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::ops {

/// log(exp(a) + exp(b)), where an element that does not count is absent: the other one remains, or
/// -inf where both are. A mask is broadcast to the shape of its operand; null: all count. The
/// result is contiguous and is written in one pass. DTypeError unless both operands are floating.
LOUP_EXPORT Tensor log_add_exp_of(const char* operation, const Tensor& a, const Tensor* a_mask,
                                  const Tensor& b, const Tensor* b_mask,
                                  std::optional<DType> dtype = {});

}  // namespace loup::ops
