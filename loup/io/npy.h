#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "loup/io/elements.h"
#include "loup/memory/data_ptr.h"
#include "loup/tensor/tensor.h"

// NumPy's .npy: a magic, a version, a Python literal that describes the array, its elements.

namespace loup::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What the header of a whole .npy file says. FormatError unless it is one of version 1, 2 or 3, of
/// a dtype that loup has, and exactly its elements follow.
LOUP_EXPORT FileTensor parse_npy(std::span<const std::byte> file);
/// The array of a whole .npy file, as tensor_in() makes it.
LOUP_EXPORT Tensor read_npy(const DataPtr& file);

/// How `x` is written: NumPy's own header, and elements that follow it in memory order.
struct NpyImage {
  std::string header;
  Tensor elements;  ///< contiguous

  std::size_t bytes() const { return header.size() + static_cast<std::size_t>(elements.bytes()); }
};
/// The bytes that numpy.save would write. A transposed tensor is written as it lies, as Fortran
/// order. DTypeError for bfloat16, which NumPy does not have.
LOUP_EXPORT NpyImage npy_image(const Tensor& x);

}  // namespace loup::io
