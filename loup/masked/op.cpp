#include "loup/masked/op.h"

#include "loup/autograd/gradient.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

/// What a MaskedTensor and an explicit mask let through together.
Tensor combined_mask(const char* name, const MaskedTensor& x, const std::optional<Tensor>& mask) {
  if (!mask) return x.get_mask();
  const Tensor whole = ops::mask_as(name, x.get_data(), *mask);
  return *autograd::both(x.get_mask(), ops::to(whole, DType::boolean));
}

}  // namespace

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
  const Tensor mask = options.mask.value_or(ones({}, DType::boolean));
  const Tensor whole = ops::to(ops::mask_as(name, x, mask), DType::boolean);
  return ops::any(name, whole, dims, options.keepdim);
}

}  // namespace loup::masked
