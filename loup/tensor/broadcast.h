#pragma once

#include "loup/tensor/layout.h"

namespace loup {

/// `layout` repeated to `shape` by strides of 0: missing leading dims and dims of size 1 repeat.
/// ShapeError, naming `operation` and `what`, when a size is neither 1 nor the one wanted.
LOUP_EXPORT Layout broadcast(const char* operation, const char* what, const Layout& layout,
                             const Shape& shape);

/// The shape that both broadcast to.
LOUP_EXPORT Shape common_shape(const char* operation, const Shape& a, const Shape& b);

}  // namespace loup
