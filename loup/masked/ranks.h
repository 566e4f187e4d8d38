#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/histogram.h"
#include "loup/ops/quantile.h"

// Families of masked operators that describe how elements are distributed: by their order, by
// counting, and by means of products.

namespace loup::masked {

struct MedianOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // the reduced dim stays, with size 1
  std::optional<DType> dtype = {};  // the input is converted first
};

/// The element in the middle: `median(x)`, `median(x, 0, {.mask = m})`.
struct LOUP_EXPORT Median {
  static constexpr const char* family = "median";
  static constexpr const char* signature =
      "(input, dim=-1, *, keepdim=False, dtype=None, mask=None)";
  const char* name;
  const char* summary;

  /// ValueError where a line of integers has no element that counts.
  Tensor operator()(const Tensor& x, std::int64_t dim = -1,
                    const MedianOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. The result's mask is output_mask();
  /// integers are 0 where that is false.
  MaskedTensor operator()(const MaskedTensor& x, std::int64_t dim = -1,
                          const MedianOptions& options = {}) const;
  /// Which lines have an element that counts.
  Tensor output_mask(const Tensor& x, std::int64_t dim = -1,
                     const MedianOptions& options = {}) const;
};

using ops::Interpolation;

struct QuantileOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // the reduced dim stays, with size 1
  Interpolation interpolation = Interpolation::linear;
  std::optional<DType> dtype = {};  // the input is converted first
};

/// Elements at places between the first and the last: `quantile(x, 0.9)`,
/// `quantile(x, std::array{0.1, 0.5, 0.9}, -1, {.mask = m})`. No dim means all elements. Several
/// places give a leading dim.
struct LOUP_EXPORT Quantile {
  static constexpr const char* family = "quantile";
  static constexpr const char* signature =
      "(input, q, dim=None, *, keepdim=False, interpolation='linear', dtype=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, double q, std::optional<std::int64_t> dim = {},
                    const QuantileOptions& options = {}) const;
  Tensor operator()(const Tensor& x, std::span<const double> q,
                    std::optional<std::int64_t> dim = {},
                    const QuantileOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. The result's mask is output_mask(), for
  /// each place.
  MaskedTensor operator()(const MaskedTensor& x, double q, std::optional<std::int64_t> dim = {},
                          const QuantileOptions& options = {}) const;
  MaskedTensor operator()(const MaskedTensor& x, std::span<const double> q,
                          std::optional<std::int64_t> dim = {},
                          const QuantileOptions& options = {}) const;
  /// Which lines have an element that counts.
  Tensor output_mask(const Tensor& x, std::optional<std::int64_t> dim = {},
                     const QuantileOptions& options = {}) const;
};

using ops::BinCounts;
using ops::Bins;

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  // absent: from the least to the greatest
  bool density = false;               // divided by the sum of all and by the widths of the bins
  std::optional<Tensor> weight = {};  // of the input's shape
  std::optional<Tensor> mask = {};    // true = counts; broadcast to the input
};

/// How many elements lie in each bin: `histogram(x)`, `histogram(x, 20, {.mask = m})`,
/// `histogram(x, tensor({0.0, 1.0, 10.0}))`.
struct LOUP_EXPORT Histogram {
  static constexpr const char* family = "histogram";
  static constexpr const char* signature =
      "(input, bins=10, *, range=None, density=False, weight=None, mask=None)";
  const char* name;
  const char* summary;

  BinCounts operator()(const Tensor& x, const Bins& bins = 10,
                       const HistogramOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. What counts is known for every bin, so
  /// the result needs no mask.
  BinCounts operator()(const MaskedTensor& x, const Bins& bins = 10,
                       const HistogramOptions& options = {}) const;
};

struct CovarianceOptions {
  double correction = 1;                // the divisor is the number of observations less this
  std::optional<Tensor> fweights = {};  // how often each observation was made
  std::optional<Tensor> aweights = {};  // how much each one matters
  std::optional<Tensor> mask = {};      // true = counts; broadcast to the input
};

/// `cov(x)`, `cov(x, {.correction = 0, .mask = m})`: rows are variables, columns observations. Of
/// two variables the observations count that are valid in both.
struct LOUP_EXPORT Covariance {
  static constexpr const char* family = "covariance";
  static constexpr const char* signature =
      "(input, *, correction=1, fweights=None, aweights=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, const CovarianceOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. The result's mask is output_mask().
  MaskedTensor operator()(const MaskedTensor& x, const CovarianceOptions& options = {}) const;
  /// Which pairs of variables have an observation in common.
  Tensor output_mask(const Tensor& x, const CovarianceOptions& options = {}) const;
};

struct CorrelationOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
};

/// `corrcoef(x)`, `corrcoef(x, {.mask = m})`, as cov.
struct LOUP_EXPORT Correlation {
  static constexpr const char* family = "correlation";
  static constexpr const char* signature = "(input, *, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, const CorrelationOptions& options = {}) const;
  MaskedTensor operator()(const MaskedTensor& x, const CorrelationOptions& options = {}) const;
  Tensor output_mask(const Tensor& x, const CorrelationOptions& options = {}) const;
};

struct WeightedMeanOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // reduced dims stay, with size 1
  std::optional<DType> dtype = {};  // the input is converted first
};

/// `weighted_mean(x, w)`, `weighted_mean(x, w, -1, {.mask = m})`. No dims means all of them.
struct LOUP_EXPORT WeightedMean {
  static constexpr const char* family = "weighted-mean";
  static constexpr const char* signature =
      "(input, weight, dim=None, *, keepdim=False, dtype=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, const Tensor& weight, const Dims& dims = {},
                    const WeightedMeanOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. The result's mask is output_mask().
  MaskedTensor operator()(const MaskedTensor& x, const Tensor& weight, const Dims& dims = {},
                          const WeightedMeanOptions& options = {}) const;
  /// Which outputs have an element that counts.
  Tensor output_mask(const Tensor& x, const Dims& dims = {},
                     const WeightedMeanOptions& options = {}) const;
};

}  // namespace loup::masked
