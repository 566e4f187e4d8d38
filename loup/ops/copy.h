#pragma once

#include "loup/tensor/tensor.h"

// What moves elements.

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

/// Writes `from`, broadcast and converted, into `x`. Errors as for prepare_in_place().
LOUP_EXPORT void copy_(Tensor& x, const Tensor& from);
/// Writes `value` into every element; errors as for copy_.
LOUP_EXPORT void fill_(Tensor& x, Scalar value);

/// The same for handles that cannot take up a record, such as temporary views. Where gradients are
/// recorded for x, the handles that remain refuse to be used afterwards.
inline void copy_(const Tensor& x, const Tensor& from) {
  Tensor handle = x;
  copy_(handle, from);
}
inline void fill_(const Tensor& x, Scalar value) {
  Tensor handle = x;
  fill_(handle, value);
}

}  // namespace loup::ops
