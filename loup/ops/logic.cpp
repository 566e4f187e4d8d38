#include "loup/ops/logic.h"

#include "loup/base/error.h"
#include "loup/ops/copy.h"
#include "loup/ops/operators.h"
#include "loup/ops/reduce.h"

namespace loup::ops {

Tensor any(const Tensor& x, const Dims& dims, bool keepdim) { return any("any", x, dims, keepdim); }

Tensor all(const Tensor& x, const Dims& dims, bool keepdim) {
  return logical_not(any("all", logical_not(x), dims, keepdim));
}

bool equal(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() && !any(x != y).item<bool>();
}

Tensor isclose(const Operand& x, const Operand& y, const Closeness& closeness) {
  const auto& [rtol, atol, equal_nan] = closeness;
  if (!(rtol >= 0) || !(atol >= 0)) {
    throw ValueError("isclose: expected tolerances of at least 0, got rtol {} and atol {}", rtol,
                     atol);
  }
  const auto is_single = [](const Operand& operand) {
    return !operand.is_number() && operand.tensor().dtype() == DType::f32;
  };
  const auto type = is_single(x) && is_single(y) ? ComputeType::f32 : ComputeType::f64;
  const double parameters[] = {rtol, atol, equal_nan ? 1.0 : 0.0};
  const Operand* const operands[] = {&x, &y};
  return run_elementwise("isclose", *kernels::find_binary(kernels::BinaryOp::isclose, type),
                         DType::boolean, operands, parameters);
}

bool allclose(const Operand& x, const Operand& y, const Closeness& closeness) {
  return all(isclose(x, y, closeness)).item<bool>();
}

}  // namespace loup::ops
