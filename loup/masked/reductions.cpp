#include "loup/masked/reductions.h"

#include "loup/autograd/node.h"
#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
#include "loup/ops/copy.h"

namespace loup::masked {

namespace {

template <class Options>
ops::ReduceArguments arguments(const Options& options, const Tensor* mask) {
  ops::ReduceArguments made{.mask = mask, .keepdim = options.keepdim};
  if constexpr (requires { options.dtype; }) made.dtype = options.dtype;
  if constexpr (requires { options.correction; }) made.parameter = options.correction;
  return made;
}
template <class Options>
ops::ReduceArguments arguments(const Options& options) {
  return arguments(options, options.mask ? &*options.mask : nullptr);
}

/// Which slices have an element that counts.
template <class Options>
Tensor mask_of_slices(const char* name, const Tensor& x, const Dims& dims, const Options& options) {
  return ops::any(name, whole_mask(name, x, options.mask), dims, options.keepdim);
}

/// reduce(data, arguments) of what counts in `x`, with the mask of its slices.
template <class Options, class Reduce>
MaskedTensor reduce_masked(const char* name, const MaskedTensor& x, const Dims& dims,
                           const Options& options, const Reduce& reduce) {
  const Tensor mask = combined_mask(name, x, options.mask);
  const Tensor data = reduce(Seen(name, x.get_data(), &mask), arguments(options, &mask));
  return as_masked_tensor(data, ops::any(name, mask, dims, options.keepdim));
}

}  // namespace

Tensor Reduction::operator()(const Tensor& x, const Dims& dims,
                             const ReduceOptions& options) const {
  return ops::reduce(*this, Seen(name, x, options.mask), dims, arguments(options));
}

MaskedTensor Reduction::operator()(const MaskedTensor& x, const Dims& dims,
                                   const ReduceOptions& options) const {
  return reduce_masked(name, x, dims, options, [&](const Tensor& data, const auto& given) {
    return ops::reduce(*this, data, dims, given);
  });
}

Tensor Reduction::output_mask(const Tensor& x, const Dims& dims,
                              const ReduceOptions& options) const {
  return mask_of_slices(name, x, dims, options);
}

Tensor Deviation::operator()(const Tensor& x, const Dims& dims,
                             const DeviationOptions& options) const {
  return ops::reduce(*this, Seen(name, x, options.mask), dims, arguments(options));
}

MaskedTensor Deviation::operator()(const MaskedTensor& x, const Dims& dims,
                                   const DeviationOptions& options) const {
  return reduce_masked(name, x, dims, options, [&](const Tensor& data, const auto& given) {
    return ops::reduce(*this, data, dims, given);
  });
}

Tensor Deviation::output_mask(const Tensor& x, const Dims& dims,
                              const DeviationOptions& options) const {
  return mask_of_slices(name, x, dims, options);
}

Tensor Norm::operator()(const Tensor& x, double ord, const Dims& dims,
                        const ReduceOptions& options) const {
  return ops::norm(Seen(name, x, options.mask), ord, dims, arguments(options));
}

MaskedTensor Norm::operator()(const MaskedTensor& x, double ord, const Dims& dims,
                              const ReduceOptions& options) const {
  return reduce_masked(name, x, dims, options, [&](const Tensor& data, const auto& given) {
    return ops::norm(data, ord, dims, given);
  });
}

Tensor Norm::output_mask(const Tensor& x, const Dims& dims, const ReduceOptions& options) const {
  return mask_of_slices(name, x, dims, options);
}

std::pair<Tensor, Tensor> PairReduction::operator()(const Tensor& x, const Dims& dims,
                                                    const PairOptions& options) const {
  return ops::reduce_pair(*this, Seen(name, x, options.mask), dims, arguments(options));
}

std::pair<MaskedTensor, MaskedTensor> PairReduction::operator()(const MaskedTensor& x,
                                                                const Dims& dims,
                                                                const PairOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  const auto [first, second] =
      ops::reduce_pair(*this, Seen(name, x.get_data(), &mask), dims, arguments(options, &mask));
  const Tensor counts = ops::any(name, mask, dims, options.keepdim);
  return {as_masked_tensor(first, counts), as_masked_tensor(second, ops::clone(counts))};
}

Tensor PairReduction::output_mask(const Tensor& x, const Dims& dims,
                                  const PairOptions& options) const {
  return mask_of_slices(name, x, dims, options);
}

}  // namespace loup::masked
