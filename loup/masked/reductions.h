#pragma once

#include <optional>
#include <utility>

#include "loup/masked/masked_tensor.h"
#include "loup/ops/norm.h"
#include "loup/ops/reduce_pair.h"

// Families of masked operators that make one element of many.

namespace loup::masked {

struct ReduceOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // reduced dims stay, with size 1
  std::optional<DType> dtype = {};  // of the result; most operators convert the input first
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

struct DeviationOptions {
  double correction = 1;            // the divisor is the number of elements less this
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // reduced dims stay, with size 1
  std::optional<DType> dtype = {};  // the input is converted first
};

/// How far elements are spread: `var(x, -1)`, `std(x, 0, {.correction = 0, .mask = m})`.
struct LOUP_EXPORT Deviation : ops::ReduceSpec {
  static constexpr const char* family = "deviation";
  static constexpr const char* signature =
      "(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None)";

  Tensor operator()(const Tensor& x, const Dims& dims = {},
                    const DeviationOptions& options = {}) const;
  MaskedTensor operator()(const MaskedTensor& x, const Dims& dims = {},
                          const DeviationOptions& options = {}) const;
  Tensor output_mask(const Tensor& x, const Dims& dims = {},
                     const DeviationOptions& options = {}) const;
};

/// `norm(x)`, `norm(x, 1, -1)`, `norm(x, 2, {0, 2}, {.mask = m})`.
struct LOUP_EXPORT Norm {
  static constexpr const char* family = "norm";
  static constexpr const char* signature =
      "(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& x, double ord = 2, const Dims& dims = {},
                    const ReduceOptions& options = {}) const;
  MaskedTensor operator()(const MaskedTensor& x, double ord = 2, const Dims& dims = {},
                          const ReduceOptions& options = {}) const;
  Tensor output_mask(const Tensor& x, const Dims& dims = {},
                     const ReduceOptions& options = {}) const;
};

struct PairOptions {
  std::optional<Tensor> mask = {};  // true = counts; broadcast to the input
  bool keepdim = false;             // reduced dims stay, with size 1
};

/// Two results in one pass: `max(x, -1)` gives values and indices, `minmax(x)` both extremes.
struct LOUP_EXPORT PairReduction : ops::ReduceSpec {
  static constexpr const char* family = "pair";
  static constexpr const char* signature = "(input, dim=None, *, keepdim=False, mask=None)";

  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Dims& dims = {},
                                       const PairOptions& options = {}) const;
  std::pair<MaskedTensor, MaskedTensor> operator()(const MaskedTensor& x, const Dims& dims = {},
                                                   const PairOptions& options = {}) const;
  Tensor output_mask(const Tensor& x, const Dims& dims = {}, const PairOptions& options = {}) const;
};

}  // namespace loup::masked
