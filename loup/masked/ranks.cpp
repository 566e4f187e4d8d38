#include "loup/masked/ranks.h"

#include "loup/masked/masks.h"
#include "loup/masked/poison.h"
#include "loup/ops/copy.h"
#include "loup/ops/covariance.h"
#include "loup/ops/median.h"
#include "loup/ops/reduce.h"
#include "loup/ops/views.h"
#include "loup/ops/weighted_mean.h"
#include "loup/tensor/create.h"

namespace loup::masked {

namespace {

const Tensor* pointer(const std::optional<Tensor>& x) { return x ? &*x : nullptr; }

/// Without dims: all of them, which for a 0-d tensor are none.
Tensor any_along(const char* name, const Tensor& mask, std::optional<std::int64_t> dim,
                 bool keepdim) {
  return ops::any(name, mask, dim ? Dims(*dim) : Dims(), keepdim);
}

}  // namespace

Tensor Median::operator()(const Tensor& x, std::int64_t dim, const MedianOptions& options) const {
  return ops::median_along(
      Seen(name, x, options.mask), dim,
      {.mask = pointer(options.mask), .keepdim = options.keepdim, .dtype = options.dtype});
}

MaskedTensor Median::operator()(const MaskedTensor& x, std::int64_t dim,
                                const MedianOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  const Tensor data = ops::median_along(Seen(name, x.get_data(), &mask), dim,
                                        {.mask = &mask,
                                         .keepdim = options.keepdim,
                                         .dtype = options.dtype,
                                         .hidden = ops::Hidden::zero});
  return as_masked_tensor(data, any_along(name, mask, dim, options.keepdim));
}

Tensor Median::output_mask(const Tensor& x, std::int64_t dim, const MedianOptions& options) const {
  return any_along(name, whole_mask(name, x, options.mask), dim, options.keepdim);
}

namespace {

ops::QuantileArguments quantile_arguments(const QuantileOptions& options, const Tensor* mask) {
  return {.mask = mask,
          .keepdim = options.keepdim,
          .interpolation = options.interpolation,
          .dtype = options.dtype};
}

QuantileOptions without_dims(QuantileOptions options) {
  options.keepdim = false;
  return options;
}

/// The result for the only place, with the reduced dims where they are asked for. (Not before:
/// there may be no room for a dim more.)
Tensor only(const Tensor& all, const Shape& shape, std::optional<std::int64_t> dim, bool keepdim) {
  Tensor result = ops::select(all, 0, 0);
  if (!keepdim || shape.empty()) return result;
  if (!dim) return ops::reshape(result, Dims::filled(shape.size(), 1));
  return ops::unsqueeze(result, *dim < 0 ? *dim + shape.size() : *dim);
}

}  // namespace

Tensor Quantile::operator()(const Tensor& x, std::span<const double> q,
                            std::optional<std::int64_t> dim, const QuantileOptions& options) const {
  return ops::quantiles_along(Seen(name, x, options.mask), q, dim,
                              quantile_arguments(options, pointer(options.mask)));
}

Tensor Quantile::operator()(const Tensor& x, double q, std::optional<std::int64_t> dim,
                            const QuantileOptions& options) const {
  const Tensor all = (*this)(x, {&q, 1}, dim, without_dims(options));
  return only(all, x.shape(), dim, options.keepdim);
}

MaskedTensor Quantile::operator()(const MaskedTensor& x, std::span<const double> q,
                                  std::optional<std::int64_t> dim,
                                  const QuantileOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  const Tensor data = ops::quantiles_along(Seen(name, x.get_data(), &mask), q, dim,
                                           quantile_arguments(options, &mask));
  const Tensor counts = any_along(name, mask, dim, options.keepdim);
  return as_masked_tensor(data, ops::broadcast_to(counts, data.shape()));
}

MaskedTensor Quantile::operator()(const MaskedTensor& x, double q, std::optional<std::int64_t> dim,
                                  const QuantileOptions& options) const {
  const MaskedTensor all = (*this)(x, {&q, 1}, dim, without_dims(options));
  const Shape& shape = x.get_data().shape();
  return as_masked_tensor(only(all.get_data(), shape, dim, options.keepdim),
                          only(all.get_mask(), shape, dim, options.keepdim));
}

Tensor Quantile::output_mask(const Tensor& x, std::optional<std::int64_t> dim,
                             const QuantileOptions& options) const {
  return any_along(name, whole_mask(name, x, options.mask), dim, options.keepdim);
}

BinCounts Histogram::operator()(const Tensor& x, const Bins& bins,
                                const HistogramOptions& options) const {
  return ops::count_in_bins(Seen(name, x, options.mask), bins,
                            {.range = options.range,
                             .density = options.density,
                             .weight = pointer(options.weight),
                             .mask = pointer(options.mask)});
}

BinCounts Histogram::operator()(const MaskedTensor& x, const Bins& bins,
                                const HistogramOptions& options) const {
  HistogramOptions own = options;
  own.mask = combined_mask(name, x, options.mask);
  return (*this)(x.get_data(), bins, own);
}

Tensor Covariance::operator()(const Tensor& x, const CovarianceOptions& options) const {
  return ops::covariance(Seen(name, x, options.mask), {.correction = options.correction,
                                                       .fweights = pointer(options.fweights),
                                                       .aweights = pointer(options.aweights),
                                                       .mask = pointer(options.mask)});
}

MaskedTensor Covariance::operator()(const MaskedTensor& x, const CovarianceOptions& options) const {
  CovarianceOptions own = options;
  own.mask = combined_mask(name, x, options.mask);
  return as_masked_tensor((*this)(x.get_data(), own), output_mask(x.get_data(), own));
}

Tensor Covariance::output_mask(const Tensor& x, const CovarianceOptions& options) const {
  return ops::pair_mask(name, x, pointer(options.mask));
}

Tensor Correlation::operator()(const Tensor& x, const CorrelationOptions& options) const {
  return ops::correlation(Seen(name, x, options.mask), pointer(options.mask));
}

MaskedTensor Correlation::operator()(const MaskedTensor& x,
                                     const CorrelationOptions& options) const {
  const CorrelationOptions own{.mask = combined_mask(name, x, options.mask)};
  return as_masked_tensor((*this)(x.get_data(), own), output_mask(x.get_data(), own));
}

Tensor Correlation::output_mask(const Tensor& x, const CorrelationOptions& options) const {
  return ops::pair_mask(name, x, pointer(options.mask));
}

Tensor WeightedMean::operator()(const Tensor& x, const Tensor& weight, const Dims& dims,
                                const WeightedMeanOptions& options) const {
  return ops::weighted_mean_of(Seen(name, x, options.mask), weight, dims, options.keepdim,
                               options.dtype, pointer(options.mask));
}

MaskedTensor WeightedMean::operator()(const MaskedTensor& x, const Tensor& weight, const Dims& dims,
                                      const WeightedMeanOptions& options) const {
  const Tensor mask = combined_mask(name, x, options.mask);
  const Tensor data = ops::weighted_mean_of(Seen(name, x.get_data(), &mask), weight, dims,
                                            options.keepdim, options.dtype, &mask);
  return as_masked_tensor(data, ops::any(name, mask, dims, options.keepdim));
}

Tensor WeightedMean::output_mask(const Tensor& x, const Dims& dims,
                                 const WeightedMeanOptions& options) const {
  return ops::any(name, whole_mask(name, x, options.mask), dims, options.keepdim);
}

}  // namespace loup::masked
