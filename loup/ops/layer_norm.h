#pragma once

#include <optional>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

struct LayerNormOptions {
  std::optional<Tensor> weight = {};  // of the normalized shape; absent: 1
  std::optional<Tensor> bias = {};    // of the normalized shape; absent: 0
  double eps = 1e-5;                  // added to the variance
  std::optional<Tensor> mask = {};    // true = counts; broadcast to the input
};

/// (x - mean) / sqrt(variance + eps) * weight + bias, where mean and variance (not corrected) are
/// those of each group: the last dims of x, which have the normalized shape. Elements where the
/// mask is false are not looked at and become 0. Computed in float32 for half types and rounded
/// once to the dtype of x. DTypeError unless x is floating; ShapeError unless its last dims, weight
/// and bias have the normalized shape.
LOUP_EXPORT Tensor layer_norm(const Tensor& x, const Shape& normalized_shape,
                              const LayerNormOptions& options = {});

inline constexpr Function layer_norm_functions[] = {
    {"layer_norm",
     "(input: object, normalized_shape: int | collections.abc.Sequence[int], weight: object = "
     "None, bias: object = None, eps: float = 1e-05) -> Tensor",
     "The last dims less their mean and divided by their deviation, times weight plus bias.", true,
     false, Masks::taken},
};

}  // namespace loup::ops
