#include "loup/masked/masks.h"

#include "loup/autograd/gradient.h"
#include "loup/ops/copy.h"
#include "loup/ops/reduce.h"
#include "loup/tensor/create.h"

namespace loup::masked {

Tensor combined_mask(const char* operation, const MaskedTensor& x,
                     const std::optional<Tensor>& mask) {
  if (!mask) return x.get_mask();
  return *autograd::both(x.get_mask(), whole_mask(operation, x.get_data(), mask));
}

Tensor whole_mask(const char* operation, const Tensor& x, const std::optional<Tensor>& mask) {
  const Tensor given = mask.value_or(ones({}, DType::boolean));
  return ops::to(ops::mask_as(operation, x, given), DType::boolean);
}

bool is_same_mask(const Tensor& a, const Tensor& b) {
  return a.raw_data() == b.raw_data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

MaskedTensor all_valid(const Tensor& x) {
  return as_masked_tensor(x, whole_mask("as_masked_tensor", x, {}));
}

}  // namespace loup::masked
