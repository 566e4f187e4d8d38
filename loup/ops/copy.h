#pragma once

#include "loup/tensor/tensor.h"

// What moves elements. All but the in-place ones are recorded for gradients.

namespace loup::ops {

/// A contiguous copy.
LOUP_EXPORT Tensor clone(const Tensor& x);
/// `x` itself when it is contiguous, otherwise a contiguous copy.
LOUP_EXPORT Tensor contiguous(const Tensor& x);
/// `x` itself when it has the dtype, otherwise a converted copy. Floats become ints by truncation,
/// ints wrap, anything but 0 is true.
LOUP_EXPORT Tensor to(const Tensor& x, DType dtype);

/// `x` where `mask` (bool, broadcast to x's shape) is true, `value` elsewhere.
LOUP_EXPORT Tensor filled(const Tensor& x, const Tensor& mask, Scalar value);

/// Writes `from`, broadcast and converted, into `x`. ValueError when x is read-only or repeats
/// elements; StateError when gradients are recorded for either.
LOUP_EXPORT void copy_(const Tensor& x, const Tensor& from);
/// Writes `value` into every element; errors as for copy_.
LOUP_EXPORT void fill_(const Tensor& x, Scalar value);

}  // namespace loup::ops
