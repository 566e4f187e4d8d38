#pragma once

#include <cstdint>

#include "loup/base/dims.h"
#include "loup/export.h"

namespace loup {

/// Where the elements of a tensor lie in its storage, in elements: element (i, j, …) is at
/// `offset + i * strides[0] + j * strides[1] + …`.
struct LOUP_EXPORT Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;

  /// Row-major and without gaps.
  static Layout contiguous(const Shape& shape) { return {shape, contiguous_strides(shape), 0}; }
  bool is_contiguous() const;
  /// The position of one element; IndexError when it is outside of the shape.
  std::int64_t position(const char* operation, const Dims& index) const;
};

}  // namespace loup
