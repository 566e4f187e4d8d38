#pragma once

#include <optional>

#include "loup/tensor/tensor.h"

namespace loup::autograd {

/// A gradient, and where it is zero by construction.
///
/// Where `mask` is false nothing flows: `value` may hold anything there, and whoever uses it must
/// not look. That keeps NaN and inf under a mask out of every gradient upstream.
struct Gradient {
  Tensor value;
  std::optional<Tensor>
      mask;  // bool, of value's shape (usually a broadcast view); absent: all live
};

/// A gradient that is zero everywhere, by construction.
LOUP_EXPORT Gradient zero_gradient(const Shape& shape, DType dtype);

/// The value with exact zeros where the mask is false.
LOUP_EXPORT Tensor materialize(const Gradient& gradient);
/// The same, in the memory of the value where that is_sole().
LOUP_EXPORT Tensor materialize(Gradient&& gradient);

/// The sum of two gradients of one tensor: live where either is.
LOUP_EXPORT Gradient accumulate(const Gradient& a, const Gradient& b);
/// The same, in the memory of one of them where that is_sole().
LOUP_EXPORT Gradient accumulate(Gradient&& a, Gradient&& b);

/// out = a + b, not recorded; all have one shape and dtype. `out` may be a.
LOUP_EXPORT void add_into(const Tensor& out, const Tensor& a, const Tensor& b);

/// Whether nobody else could notice a change of `x`: it is contiguous, not recorded, and the only
/// handle of its memory.
LOUP_EXPORT bool is_sole(const Tensor& x);

/// Where both masks are true; an absent mask is true everywhere. `a` and `b` have one shape.
LOUP_EXPORT std::optional<Tensor> both(const std::optional<Tensor>& a,
                                       const std::optional<Tensor>& b);

}  // namespace loup::autograd
