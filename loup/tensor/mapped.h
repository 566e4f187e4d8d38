#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "loup/memory/map_flags.h"
#include "loup/tensor/tensor.h"

namespace loup {

/// How a file becomes a tensor.
struct FromFileOptions {
  bool shared = false;     ///< changes reach the file; otherwise they stay in this process
  bool read_only = false;  ///< the tensor cannot be written
  std::size_t offset = 0;  ///< bytes before the first element; a multiple of the element's size
};

/// A tensor whose elements are the bytes of a file, mapped: nothing is read before it is used.
/// Without `shape` all elements from `offset` on, in one dim. With `shared` a file that is too
/// short for the shape becomes longer, and is made when there is none. ShapeError when the shape
/// has too many elements, ValueError when the rest of the file is not a whole number of elements or
/// `offset` is not aligned, MapError for the file.
LOUP_EXPORT Tensor from_file(const std::string& path, DType dtype = DType::f32,
                             const std::optional<Shape>& shape = {},
                             const FromFileOptions& options = {});

/// A tensor in mapped memory that `data` keeps alive, `offset` bytes from its start; ShapeError
/// when it is too short. ValueError when `offset` is not aligned to the elements.
LOUP_EXPORT Tensor tensor_in(const DataPtr& data, DType dtype, const Shape& shape,
                             std::size_t offset = 0);

}  // namespace loup
