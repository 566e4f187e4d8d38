#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loup/masked/ops.h"
#include "loup/tensor/tensor.h"

namespace loup::test {

/// How the input lies in memory.
enum class InputForm { contiguous, transposed, sliced, stepped, expanded, offset };
/// What the mask is like.
enum class MaskKind {
  none,
  full,
  repeats_first,
  repeats_middle,
  repeats_last,
  lower_rank,
  all_of_it,
  none_of_it,
  integers,
  wide_integers,
  expanded,
  transposed,
  stepped
};

/// One call of an operator. Input and mask depend on `number` and the seed only.
struct Case {
  std::int64_t number;
  DType dtype;
  Shape shape;
  Dims dims;
  InputForm input = InputForm::contiguous;
  MaskKind mask = MaskKind::none;
  bool keepdim = false;
  std::optional<DType> cast = {};

  /// One line that says what the case is and how to run it alone.
  std::string text(const std::string& op) const;
};

/// Small inputs: many shapes, dims, layouts, masks and dtypes.
std::vector<Case> small_cases();
/// Rows beyond 65536 and outputs beyond one block, large enough for several threads.
std::vector<Case> large_cases();

/// The operands of a case.
struct Operands {
  Tensor x;
  std::optional<Tensor> mask;

  /// The mask as bool in x's shape.
  Tensor whole_mask() const;
};
Operands make_operands(const Case& c);

/// Every dim set that a tensor of this rank is reduced over: unsorted, negative, all.
std::vector<Dims> dim_sets(int ndim);

/// The operators of the family that the tests over all reductions run for.
std::vector<masked::Op> reductions();
const masked::Reduction& reduction(const masked::Op& op);

Tensor call(const masked::Op& op, const Case& c, const Operands& operands);
std::string name_of(const masked::Op& op);
bool is_differentiable(const masked::Op& op);

}  // namespace loup::test
