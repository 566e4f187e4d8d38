#pragma once

#include <optional>

#include "loup/masked/masked_tensor.h"

namespace loup::masked {

struct LogAddExpOptions {
  std::optional<Tensor> input_mask = {};  // true = counts; broadcast to the input
  std::optional<Tensor> other_mask = {};
  std::optional<DType> dtype = {};  // of the result
};

/// log(exp(input) + exp(other)), where an element that does not count is absent: the other one
/// remains, or -inf where both are. DTypeError unless both are floating.
struct LOUP_EXPORT LogAddExp {
  static constexpr const char* family = "masked-binary";
  static constexpr const char* signature =
      "(input, other, *, dtype=None, input_mask=None, other_mask=None, mask=None)";
  const char* name;
  const char* summary;

  Tensor operator()(const Tensor& input, const Tensor& other,
                    const LogAddExpOptions& options = {}) const;
  /// Uses the masks of the operands, together with explicit ones. The result's mask is
  /// output_mask().
  MaskedTensor operator()(const MaskedTensor& input, const MaskedTensor& other,
                          const LogAddExpOptions& options = {}) const;
  /// Where one of the operands counts.
  Tensor output_mask(const Tensor& input, const Tensor& other,
                     const LogAddExpOptions& options = {}) const;
};

}  // namespace loup::masked
