#pragma once

#include "loup/masked/masked_tensor.h"
#include "loup/ops/layer_norm.h"

namespace loup::masked {

/// Normalizes what counts of the last dims: mean and variance are those of the elements that count,
/// for which a mask in the options has a say, too. What does not count is 0, and masked as before.
LOUP_EXPORT MaskedTensor layer_norm(const MaskedTensor& x, const Shape& normalized_shape,
                                    const ops::LayerNormOptions& options = {});

}  // namespace loup::masked
