#include "loup/masked/lines.h"

#include "loup/masked/masks.h"
#include "loup/masked/poison.h"

namespace loup::masked {

namespace {

ops::LineArguments line_arguments(const LineOptions& options) {
  return {.mask = options.mask ? &*options.mask : nullptr, .dtype = options.dtype};
}

/// lines(data, mask) of what counts in `x`. The result has a mask of its own: writing into it does
/// not change x.
template <class Lines>
MaskedTensor masked_lines(const char* name, const MaskedTensor& x,
                          const std::optional<Tensor>& given, const Lines& lines) {
  const Tensor mask = combined_mask(name, x, given);
  const Tensor data = lines(Seen(name, x.get_data(), &mask), mask);
  return as_masked_tensor(data, given ? mask : own_mask(mask));
}

}  // namespace

Tensor Normalization::operator()(const Tensor& x, std::int64_t dim,
                                 const LineOptions& options) const {
  return ops::softmax_lines(*this, Seen(name, x, options.mask), dim, line_arguments(options));
}

MaskedTensor Normalization::operator()(const MaskedTensor& x, std::int64_t dim,
                                       const LineOptions& options) const {
  return masked_lines(name, x, options.mask, [&](const Tensor& data, const Tensor& mask) {
    return ops::softmax_lines(*this, data, dim, {.mask = &mask, .dtype = options.dtype});
  });
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
  return masked_lines(name, x, options.mask, [&](const Tensor& data, const Tensor& mask) {
    return ops::normalize_lines(data, ord, dims,
                                {.eps = options.eps, .mask = &mask, .dtype = options.dtype});
  });
}

Tensor NormDivision::output_mask(const Tensor& x, const Dims& dims,
                                 const NormalizeOptions& options) const {
  dim_bits(name, dims, x.ndim());
  return whole_mask(name, x, options.mask);
}

Tensor Scan::operator()(const Tensor& x, std::int64_t dim, const LineOptions& options) const {
  return ops::scan(*this, Seen(name, x, options.mask), dim, line_arguments(options));
}

MaskedTensor Scan::operator()(const MaskedTensor& x, std::int64_t dim,
                              const LineOptions& options) const {
  return masked_lines(name, x, options.mask, [&](const Tensor& data, const Tensor& mask) {
    return ops::scan(*this, data, dim, {.mask = &mask, .dtype = options.dtype});
  });
}

Tensor Scan::output_mask(const Tensor& x, std::int64_t dim, const LineOptions& options) const {
  normalize_dim(name, dim, x.ndim());
  return whole_mask(name, x, options.mask);
}

}  // namespace loup::masked
