#include "loup/masked/layer_norm.h"

#include "loup/masked/elementwise.h"
#include "loup/masked/masks.h"

namespace loup::masked {

MaskedTensor layer_norm(const MaskedTensor& x, const Shape& normalized_shape,
                        const ops::LayerNormOptions& options) {
  ops::LayerNormOptions all = options;
  all.mask = combined_mask("layer_norm", x, options.mask);
  const Tensor data = ops::layer_norm(x.get_data(), normalized_shape, all);
  const MaskedOperand operand(x.get_data(), &*all.mask);
  const MaskedOperand* const operands[] = {&operand};
  return as_masked_tensor(data, common_mask("layer_norm", operands, x.shape()));
}

}  // namespace loup::masked
