#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/cases.h"

namespace loup::test {

/// A masked operator along lines, and how a naive loop computes it.
struct LineOp {
  /// What a line should become, and the magnitude that rounding errors are measured by.
  struct Expected {
    std::vector<long double> values, scales;
  };

  std::string name;
  bool takes_many_dims;
  std::function<Tensor(const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask,
                       std::optional<DType> dtype)>
      call;
  std::function<MaskedTensor(const MaskedTensor& x, const Dims& dims, std::optional<DType> dtype)>
      call_masked;
  std::function<Tensor(const Tensor& x, const Dims& dims, const std::optional<Tensor>& mask)>
      output_mask;
  std::function<Expected(const std::vector<long double>& x, const std::vector<bool>& counts)> real;
  /// Null where integers are refused.
  std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& x,
                                          const std::vector<bool>& counts)>
      integer;
  bool widens_only = false;  // refuses a dtype that does not hold the input
};

/// All of them; normalize once for each of some orders.
const std::vector<LineOp>& line_ops();

/// Whether the operator takes this dtype and cast.
bool accepts(const LineOp& op, const Case& c);
/// Of the result.
DType line_dtype(const Case& c);

/// The operands of a case. Running products are made of powers of two, which are exact.
Operands line_operands(const LineOp& op, const Case& c);
/// The cases of `all` that suit the operator: one dim for most.
std::vector<Case> suiting(const LineOp& op, const std::vector<Case>& all);

}  // namespace loup::test
