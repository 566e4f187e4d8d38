#include "loup/masked/layer_norm.h"

#include "loup/masked/elementwise.h"
#include "loup/masked/masks.h"
#include "loup/masked/poison.h"

namespace loup::masked {

MaskedTensor layer_norm(const MaskedTensor& x, const Shape& normalized_shape,
                        const ops::LayerNormOptions& options) {
  ops::LayerNormOptions all = options;
  all.mask = combined_mask("layer_norm", x, options.mask);
  const Seen seen("layer_norm", x.get_data(), all.mask);
  return as_masked_tensor(ops::layer_norm(seen, normalized_shape, all),
                          options.mask ? *all.mask : own_mask(*all.mask));
}

}  // namespace loup::masked
