#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "loup/masked/elementwise.h"

// Products of matrices and vectors, of which at least one is masked. A product of two elements is
// added where both count; the result counts where there was such a product, and is 0 elsewhere.
// Gradients add the same pairs: inf and NaN never meet the zero of a masked element. Names, shapes,
// dtypes and errors are those of ops/matmul.h and ops/einsum.h.

namespace loup::masked {

LOUP_EXPORT MaskedTensor matmul(const MaskedOperand& a, const MaskedOperand& b);
LOUP_EXPORT MaskedTensor mm(const MaskedOperand& a, const MaskedOperand& b);
LOUP_EXPORT MaskedTensor bmm(const MaskedOperand& a, const MaskedOperand& b);
LOUP_EXPORT MaskedTensor mv(const MaskedOperand& a, const MaskedOperand& x);
LOUP_EXPORT MaskedTensor dot(const MaskedOperand& x, const MaskedOperand& y);
LOUP_EXPORT MaskedTensor outer(const MaskedOperand& x, const MaskedOperand& y);
/// The bias is added to what counts; where it is masked itself, the result is.
LOUP_EXPORT MaskedTensor linear(const MaskedOperand& x, const MaskedOperand& weight,
                                const std::optional<MaskedOperand>& bias = {});
/// Contracted from left to right, as in ops; each result so far is masked where nothing counted.
LOUP_EXPORT MaskedTensor einsum(std::string_view equation, std::span<const MaskedOperand> operands);

}  // namespace loup::masked
