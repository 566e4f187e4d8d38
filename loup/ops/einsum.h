#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

namespace loup::ops {

/// Sums of products by Einstein's convention: `einsum("ij,jk->ik", {a, b})`. Each operand has a
/// letter for each of its dims; a letter that the output does not have is summed over. A letter
/// twice in one operand stands for the diagonal. `...` stands for any further dims, which broadcast
/// and which the output has only where it says so. Without `->` the output has the further dims,
/// then the letters that occur once, in alphabetical order. Operands are contracted one after the
/// other, from left to right. dtypes as for matmul.
LOUP_EXPORT Tensor einsum(std::string_view equation, std::span<const Tensor> operands);

/// An equation taken apart: letters and at most one `...` for each operand and for the output,
/// which is never left out.
struct EinsumParts {
  std::vector<std::string> operands;
  std::string output;
  DType dtype;  // that all operands are converted to
};

/// The parts of an equation that fits its operands; errors as for einsum.
LOUP_EXPORT EinsumParts einsum_parts(std::string_view equation, std::span<const Tensor> operands);

inline constexpr Function einsum_functions[] = {
    {"einsum", "(equation: str, *operands: object) -> Tensor",
     "Sums of products by Einstein's convention.", true, false, Masks::taken},
};

}  // namespace loup::ops
