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

/// The shape of what reduces a case over its dims.
Shape reduced_shape(const Case& c);

/// Fills the whole storage of `x` with numbers whose products are exact and stay finite.
void fill_with_powers_of_two(const Tensor& x, std::uint64_t stream);

/// Every n-th case, where the sweep as a whole would take too long.
std::vector<Case> every_nth(const std::vector<Case>& cases, std::size_t n);

}  // namespace loup::test
