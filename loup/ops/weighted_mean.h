#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::ops {

/// The sum of the elements that count, each times its weight, divided by the sum of those weights.
/// `weight` is broadcast to the shape of x. Elements are converted to `dtype` first; integers give
/// float32, int64 float64. Products are made piece by piece, as they are added.
LOUP_EXPORT Tensor weighted_mean_of(const Tensor& x, const Tensor& weight, const Dims& dims,
                                    bool keepdim, std::optional<DType> dtype, const Tensor* mask);

}  // namespace loup::ops
