#pragma once

#include <optional>
#include <variant>

#include "loup/masked/masked_tensor.h"
#include "loup/masked/ranks.h"
#include "loup/ops/reduce.h"

// Families of masked operators. A family fixes the signature; an operator is a constexpr value of
// it that can be called. The list of operators is in masked/ops.h.

namespace loup::masked {

struct ReduceOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // reduced dims stay, with size 1
  std::optional<DType> dtype = {};  // the input is converted first
};

/// Many elements into one: `sum(x)`, `sum(x, -1)`, `sum(x, {0, 2}, {.mask = m, .keepdim = true})`.
/// No dims means all of them.
struct LOUP_EXPORT Reduction : ops::ReduceSpec {
  static constexpr const char* family = "reduction";
  static constexpr const char* signature =
      "(input, dim=None, *, keepdim=False, dtype=None, mask=None)";

  Tensor operator()(const Tensor& x, const Dims& dims = {},
                    const ReduceOptions& options = {}) const;
  /// Uses the mask of `x`, together with an explicit one. The result's mask is output_mask().
  MaskedTensor operator()(const MaskedTensor& x, const Dims& dims = {},
                          const ReduceOptions& options = {}) const;
  /// Which outputs have an element that counts.
  Tensor output_mask(const Tensor& x, const Dims& dims = {},
                     const ReduceOptions& options = {}) const;
};

/// Any operator of the library.
using Op = std::variant<const Reduction*, const Median*, const Quantile*, const Histogram*,
                        const Covariance*, const Correlation*, const WeightedMean*>;

}  // namespace loup::masked
