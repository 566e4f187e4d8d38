#include "loup/masked/lines.h"

#include "loup/masked/masks.h"
#include "loup/masked/poison.h"

namespace loup::masked {

namespace {

ops::LineArguments arguments(const LineOptions& options) {
  return {.mask = options.mask ? &*options.mask : nullptr, .dtype = options.dtype};
}

}  // namespace

Tensor Normalization::operator()(const Tensor& x, std::int64_t dim,
                                 const LineOptions& options) const {
  return ops::softmax_lines(*this, Seen(name, x, options.mask), dim, arguments(options));
}

MaskedTensor Normalization::operator()(const MaskedTensor& x, std::int64_t dim,
                                       const LineOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  return as_masked_tensor(ops::softmax_lines(*this, Seen(name, x.get_data(), &mask), dim,
                                             {.mask = &mask, .dtype = options.dtype}),
                          mask);
}

Tensor Normalization::output_mask(const Tensor& x, std::int64_t dim,
                                  const LineOptions& options) const {
  normalize_dim(name, dim, x.ndim());
  return whole_mask(name, x, options.mask);
}

Tensor NormDivision::operator()(const Tensor& x, double ord, const Dims& dims,
                                const NormalizeOptions& options) const {
  return ops::normalize_lines(Seen(name, x, options.mask), ord, dims,
                              {.eps = options.eps,
                               .mask = options.mask ? &*options.mask : nullptr,
                               .dtype = options.dtype});
}

MaskedTensor NormDivision::operator()(const MaskedTensor& x, double ord, const Dims& dims,
                                      const NormalizeOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  return as_masked_tensor(
      ops::normalize_lines(Seen(name, x.get_data(), &mask), ord, dims,
                           {.eps = options.eps, .mask = &mask, .dtype = options.dtype}),
      mask);
}

Tensor NormDivision::output_mask(const Tensor& x, const Dims& dims,
                                 const NormalizeOptions& options) const {
  dim_bits(name, dims, x.ndim());
  return whole_mask(name, x, options.mask);
}

Tensor Scan::operator()(const Tensor& x, std::int64_t dim, const LineOptions& options) const {
  return ops::scan(*this, Seen(name, x, options.mask), dim, arguments(options));
}

MaskedTensor Scan::operator()(const MaskedTensor& x, std::int64_t dim,
                              const LineOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  return as_masked_tensor(ops::scan(*this, Seen(name, x.get_data(), &mask), dim,
                                    {.mask = &mask, .dtype = options.dtype}),
                          mask);
}

Tensor Scan::output_mask(const Tensor& x, std::int64_t dim, const LineOptions& options) const {
  normalize_dim(name, dim, x.ndim());
  return whole_mask(name, x, options.mask);
}

}  // namespace loup::masked
