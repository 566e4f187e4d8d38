#pragma once

#include <cstdint>
#include <optional>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/normalize.h"
#include "loup/ops/scan.h"

// Families of masked operators that keep the shape of their input and work along its lines.

namespace loup::masked {

struct LineOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  std::optional<DType> dtype = {};  // the input is converted first
};

/// Lines rescaled: `softmax(x, -1)`, `softmax(x, -1, {.mask = m})`.
struct LOUP_EXPORT Normalization : ops::SoftmaxSpec {
  static constexpr const char* family = "normalization";
  static constexpr const char* signature = "(input, dim, *, dtype=None, mask=None)";

  Tensor operator()(const Tensor& x, std::int64_t dim, const LineOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one, which is the result's mask as well.
  MaskedTensor operator()(const MaskedTensor& x, std::int64_t dim,
                          const LineOptions& options = {}) const;
  /// The mask itself, repeated to the shape of `x`.
  Tensor output_mask(const Tensor& x, std::int64_t dim, const LineOptions& options = {}) const;
};

struct NormalizeOptions {
  double eps = 1e-12;               // the least that is divided by
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  std::optional<DType> dtype = {};  // the input is converted first; must hold its elements
};

/// Lines divided by their norm: `normalize(x, 2, -1)`, `normalize(x, 1, {0, 2}, {.mask = m})`.
struct LOUP_EXPORT NormDivision {
  static constexpr const char* family = "norm-division";
  static constexpr const char* signature = "(input, ord, dim, *, eps=1e-12, dtype=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, double ord, const Dims& dims,
                    const NormalizeOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one, which is the result's mask as well.
  MaskedTensor operator()(const MaskedTensor& x, double ord, const Dims& dims,
                          const NormalizeOptions& options = {}) const;
  /// The mask itself, repeated to the shape of `x`.
  Tensor output_mask(const Tensor& x, const Dims& dims, const NormalizeOptions& options = {}) const;
};

/// Running values: `cumsum(x, 0)`, `cumsum(x, 0, {.mask = m})`. What does not count carries the
/// value before it.
struct LOUP_EXPORT Scan : ops::ScanSpec {
  static constexpr const char* family = "scan";
  static constexpr const char* signature = "(input, dim, *, dtype=None, mask=None)";

  Tensor operator()(const Tensor& x, std::int64_t dim, const LineOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one, which is the result's mask as well.
  MaskedTensor operator()(const MaskedTensor& x, std::int64_t dim,
                          const LineOptions& options = {}) const;
  /// The mask itself, repeated to the shape of `x`.
  Tensor output_mask(const Tensor& x, std::int64_t dim, const LineOptions& options = {}) const;
};

}  // namespace loup::masked
