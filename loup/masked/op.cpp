#include "loup/masked/op.h"

#include "loup/masked/masks.h"

namespace loup::masked {

Tensor Reduction::operator()(const Tensor& x, const Dims& dims,
                             const ReduceOptions& options) const {
  return ops::reduce(*this, x, dims,
                     {.mask = options.mask ? &*options.mask : nullptr,
                      .keepdim = options.keepdim,
                      .dtype = options.dtype});
}

MaskedTensor Reduction::operator()(const MaskedTensor& x, const Dims& dims,
                                   const ReduceOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  Tensor data = ops::reduce(*this, x.get_data(), dims,
                            {.mask = &mask, .keepdim = options.keepdim, .dtype = options.dtype});
  return as_masked_tensor(data, ops::any(name, mask, dims, options.keepdim));
}

Tensor Reduction::output_mask(const Tensor& x, const Dims& dims,
                              const ReduceOptions& options) const {
  const Tensor whole = whole_mask(name, x, options.mask);
  return ops::any(name, whole, dims, options.keepdim);
}

}  // namespace loup::masked
