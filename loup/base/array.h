#pragma once

#include <cstddef>

#include "loup/base/dims.h"
#include "loup/base/dtype.h"

namespace loup {

/// The elements of an n-dimensional array as kernels see them: no owner, no gradients.
struct Array {
  std::byte* data;
  DType dtype;
  Strides strides;
};

}  // namespace loup
