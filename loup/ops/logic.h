#pragma once

#include "loup/ops/elementwise.h"
#include "loup/ops/function.h"

// Reductions of truth, and tests of whole tensors.

namespace loup::ops {

/// Where a slice has an element other than 0; NaN counts. No dims means all of them.
LOUP_EXPORT Tensor any(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
/// Where a slice has no element that is 0; true for an empty one.
LOUP_EXPORT Tensor all(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
/// Whether both have one shape and equal elements.
LOUP_EXPORT bool equal(const Tensor& x, const Tensor& y);

struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
/// Where |x - y| <= atol + rtol |y|; equal infinities are close.
LOUP_EXPORT Tensor isclose(const Operand& x, const Operand& y, const Closeness& closeness = {});
LOUP_EXPORT bool allclose(const Operand& x, const Operand& y, const Closeness& closeness = {});

inline constexpr Function logic_functions[] = {
    {"equal", "(input: object, other: object) -> bool",
     "Whether both have one shape and equal elements.", false, false, Masks::taken},
    {"isclose",
     "(input: object, other: object, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = "
     "False) -> Tensor",
     "True where the elements differ by at most atol + rtol abs(other).", false, false,
     Masks::taken},
    {"allclose",
     "(input: object, other: object, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = "
     "False) -> bool",
     "Whether all elements differ by at most atol + rtol abs(other).", false, false, Masks::taken},
};

}  // namespace loup::ops
