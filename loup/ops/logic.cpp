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
  // In float64, so that neither small integers wrap nor half types round the tolerance away.
  const Tensor a = to(x.as_tensor(DType::f64).detach(), DType::f64);
  const Tensor b = to(y.as_tensor(DType::f64).detach(), DType::f64);
  const Tensor is_near = ops::abs(a - b) <= rtol * ops::abs(b) + atol;
  Tensor close = logical_or(a == b, logical_and(is_near, isfinite(b)));
  if (equal_nan) close = logical_or(close, logical_and(isnan(a), isnan(b)));
  return close;
}

bool allclose(const Operand& x, const Operand& y, const Closeness& closeness) {
  return all(isclose(x, y, closeness)).item<bool>();
}

}  // namespace loup::ops
